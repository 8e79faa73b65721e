internal import Media
internal import Model

/// A packet that is to leave in a slot, by where it is kept. It becomes a packet of the slot's stream at its departure.
struct Departure: BitwiseCopyable {
  var packet: PacketReference
  var slot: Int32
  var selection: Selection
  /// Since when it waits.
  var since: Instant
  /// It is of a key frame, so that everything behind it in its slot refers to it, or of audio.
  var isUrgent: Bool
  /// What can be decoded without it.
  var frame: WaitingFrame
}

/// A packet that a slot's subscriber asks for again.
struct RequestedDeparture: BitwiseCopyable {
  var packet: PacketReference
  var slot: Int
  var request: RetransmissionRequest
}

/// What is to leave a peer: references into the histories of tracks, so that what waits costs no copies, and what
/// is dropped costs nothing.
///
/// Each slot's packets leave in their order. Between slots key frames go first, then what its subscriber gives the higher priority,
/// then what has waited longest. A key frame that takes long lets those go before it that can't wait for much longer: it would have
/// every other slot's stream cut.
///
///     slot 2   k k k           first: without its key frame nothing of it can be shown
///     slot 0   p p p p         priority 200
///     slot 5   p p             priority 128
///
/// Memory is taken with the first packet and grows to the bound.
struct DepartureQueue: ~Copyable {
  /// More than a turn brings to one peer; the owner lets some leave before it is full.
  static let limit = 1_024
  /// Nanoseconds. A picture that comes later than this is of no use any more.
  static let longestWait: Int64 = 300_000_000
  /// The same of a key frame that its slot waited for, and of what comes behind it until the slot has caught up: dropped, it would be
  /// asked for again, and the next is as large.
  static let longestOfKeyFrame: Int64 = 1_500_000_000
  /// What has no more than this left goes first, and a key frame that has waited for so long goes behind that.
  private static let pressing: Int64 = 150_000_000
  /// A slot isn't looked through more often.
  private static let lookEvery = Duration.milliseconds(20)

  private struct Entry: BitwiseCopyable {
    var departure: Departure
    var next: Int32
  }

  /// One slot's packets: places of entries, -1 for none.
  private struct Lane: BitwiseCopyable {
    var slot: Int32
    var first: Int32
    var last: Int32
    var priority: UInt8
    /// The key frame that it waited for leaves, or has left, and what came behind it is still late.
    var catchesUp = false
    /// Something that no other refers to has come since it was looked through.
    var hasFree = false
    /// When it was; nil: it wasn't since something waits.
    var lookedAt: Instant?
  }

  private var entries: UnsafeMutablePointer<Entry>?
  private var capacity = 0
  /// Entries below were used once; those that are free again are chained.
  private var used: Int32 = 0
  private var free: Int32 = -1
  private(set) var count = 0
  /// Of the slots that something waits for: few, so that to look through them costs less than to keep them in order.
  private var lanes: [Lane] = []
  /// When it was last looked at.
  private var now = Instant(nanoseconds: 0)

  init() {}

  deinit { entries?.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// - Parameter priority: of its slot; the higher leaves first.
  /// - Returns: false when it is full.
  mutating func append(_ departure: Departure, priority: UInt8) -> Bool {
    guard let place = makeRoom() else { return false }
    let lane = lanes.firstIndex { $0.slot == departure.slot } ?? lanes.count
    if lane == lanes.count {
      lanes.append(Lane(slot: departure.slot, first: -1, last: -1, priority: priority))
    }
    lanes[lane].priority = priority
    (entries! + Int(place)).initialize(to: Entry(departure: departure, next: -1))
    if lanes[lane].last >= 0 {
      entries![Int(lanes[lane].last)].next = place
    } else {
      lanes[lane].first = place
    }
    lanes[lane].last = place
    if departure.frame.isFree { lanes[lane].hasFree = true }
    count += 1
    return true
  }

  /// Of a slot of which something waits.
  private func head(_ lane: Int) -> Departure { entries![Int(lanes[lane].first)].departure }

  /// Nanoseconds that the first of a slot may wait.
  private func patience(_ lane: Int, _ head: Departure) -> Int64 {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.largeKeyFrameCut) { return Self.longestWait }
    #endif
    return head.isUrgent || lanes[lane].catchesUp ? Self.longestOfKeyFrame : Self.longestWait
  }

  /// The lowest goes first.
  private func rank(_ lane: Int, _ head: Departure) -> Int {
    let waited = now.nanoseconds &- head.since.nanoseconds
    if head.isUrgent, waited < Self.pressing { return 0 }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.largeKeyFrameAlone) { return head.isUrgent ? 2 : 3 }
    #endif
    if patience(lane, head) &- waited < Self.pressing { return 1 }
    return head.isUrgent ? 2 : 3
  }

  /// The lane of which a packet leaves next.
  private var next: Int? {
    var best: (lane: Int, head: Departure, rank: Int)?
    for lane in lanes.indices {
      let head = head(lane)
      let rank = rank(lane, head)
      guard let other = best else {
        best = (lane, head, rank)
        continue
      }
      #if PLANTED_DEFECTS
        let isFlat = PlantedDefect.isOn(.priorityIgnored)
        let (a, b) = isFlat ? (0, 0) : (lanes[lane].priority, lanes[other.lane].priority)
      #else
        let (a, b) = (lanes[lane].priority, lanes[other.lane].priority)
      #endif
      let isBefore =
        rank != other.rank ? rank < other.rank : a != b ? a > b : head.since < other.head.since
      if isBefore { best = (lane, head, rank) }
    }
    return best?.lane
  }

  /// The one that leaves next; the queue must not be empty.
  var first: Departure { head(next!) }

  /// The one that leaves next in a slot; nil: nothing of it waits.
  func first(ofSlot slot: Int) -> PacketReference? {
    lanes.firstIndex { $0.slot == Int32(truncatingIfNeeded: slot) }.map { head($0).packet }
  }

  mutating func removeFirst() {
    if let lane = next { removeHead(lane) }
  }

  /// Since when the oldest waits; nil: nothing does.
  var oldest: Instant? {
    var oldest: Instant?
    for lane in lanes.indices {
      let since = head(lane).since
      if oldest.map({ since < $0 }) ?? true { oldest = since }
    }
    return oldest
  }

  /// Takes out the first of a slot that has waited for too long. What leaves next goes by this moment.
  mutating func takeOverdue(now: Instant) -> Departure? {
    self.now = now
    for lane in lanes.indices {
      let head = head(lane)
      let waited = now.nanoseconds &- head.since.nanoseconds
      if head.isUrgent {
        lanes[lane].catchesUp = true
      } else if waited <= Self.longestWait &- Self.pressing {
        // Not at the bound itself, which the next turn may be behind.
        lanes[lane].catchesUp = false
      }
      guard waited > patience(lane, head) else { continue }
      removeHead(lane)
      return head
    }
    return nil
  }

  /// A slot to be looked through for what no other frame refers to, since something has waited for long. Each is named once, until more of
  /// that comes, and after some time: to look through it costs as much as is in it.
  mutating func takeFree(now: Instant, longer than: Duration) -> Int? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.freeStaysWaiting) { return nil }
    #endif
    guard let oldest, now - oldest > than,
      let lane = lanes.firstIndex(where: { lane in
        lane.hasFree && lane.lookedAt.map { now - $0 >= Self.lookEvery } ?? true
      })
    else { return nil }
    lanes[lane].hasFree = false
    lanes[lane].lookedAt = now
    return Int(lanes[lane].slot)
  }

  /// The place of the first of a slot; -1: nothing of it waits.
  func begin(ofSlot slot: Int) -> Int32 {
    lanes.first { $0.slot == Int32(truncatingIfNeeded: slot) }?.first ?? -1
  }

  /// The place behind one in its slot; -1: it is the last.
  func place(behind place: Int32) -> Int32 { entries![Int(place)].next }

  subscript(place: Int32) -> Departure {
    get { entries![Int(place)].departure }
    nonmutating set { entries![Int(place)].departure = newValue }
  }

  /// Takes one out of a slot.
  /// - Parameter before: the place before it there; -1: it is the first.
  /// - Returns: the place behind it.
  mutating func remove(_ place: Int32, behind before: Int32, ofSlot slot: Int) -> Int32 {
    let next = entries![Int(place)].next
    guard let lane = lanes.firstIndex(where: { $0.slot == Int32(truncatingIfNeeded: slot) }) else {
      return next
    }
    if before < 0 {
      removeHead(lane)
      return next
    }
    entries![Int(before)].next = next
    if next < 0 { lanes[lane].last = before }
    release(place)
    return next
  }

  /// Whether a slot's source is joined to its stream by something that waits.
  func hasJoint(ofSlot slot: Int) -> Bool {
    var place = begin(ofSlot: slot)
    while place >= 0 {
      if self[place].selection.joins { return true }
      place = self.place(behind: place)
    }
    return false
  }

  /// Takes out the first of a slot, unless its source is joined to the stream there.
  mutating func takeContinuation(ofSlot slot: Int) -> Departure? {
    guard let lane = lanes.firstIndex(where: { $0.slot == Int32(truncatingIfNeeded: slot) }) else {
      return nil
    }
    let head = head(lane)
    guard !head.selection.joins else { return nil }
    removeHead(lane)
    return head
  }

  private mutating func removeHead(_ lane: Int) {
    let place = lanes[lane].first
    lanes[lane].first = entries![Int(place)].next
    release(place)
    if lanes[lane].first < 0 { lanes.remove(at: lane) }
  }

  /// Nothing of the slot's source leaves any more.
  mutating func remove(slot: Int) {
    guard let lane = lanes.firstIndex(where: { $0.slot == Int32(slot) }) else { return }
    while lanes.indices.contains(lane), lanes[lane].slot == Int32(slot) { removeHead(lane) }
  }

  // MARK: - Memory

  private mutating func release(_ place: Int32) {
    entries![Int(place)].next = free
    free = place
    count -= 1
  }

  /// - Returns: a place for an entry; nil: there is none.
  private mutating func makeRoom() -> Int32? {
    if free >= 0 {
      let place = free
      free = entries![Int(place)].next
      return place
    }
    if Int(used) == capacity {
      guard capacity < Self.limit else { return nil }
      grow()
    }
    used += 1
    return used - 1
  }

  private mutating func grow() {
    let grown = min(max(capacity * 2, 16), Self.limit)
    let new = UnsafeMutablePointer<Entry>.allocate(capacity: grown)
    if let entries {
      new.update(from: entries, count: Int(used))
      entries.deallocate()
    }
    (entries, capacity) = (new, grown)
  }
}
