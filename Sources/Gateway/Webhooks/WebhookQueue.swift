package import Model

/// What is still to be said to one URL, in the order of each room; given the time, it says what to send and when to look again.
///
/// Of a room one notice is on its way at a time, and the next leaves once it has arrived, so the order holds however often one is
/// sent again. Rooms don't wait for each other: one whose notice is refused is tried again later, and later, while others go on.
/// Only when nothing gets through at all the URL as a whole is left alone for a while, and then tried by one.
package struct WebhookQueue: Sendable {
  package struct Limits: Sendable {
    /// Of all notices that wait.
    package var bytes = 64 * 1_024 * 1_024
    /// A notice that is older is given up.
    package var age = Duration.seconds(86_400)
    /// Notices on their way at once, each of another room.
    package var atOnce = 8
    /// From one failure of a room's notice to the next try; twice as long each time, up to the other.
    package var shortestPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(300)

    package init() {}
  }

  /// An event, as one URL is to hear of it.
  package struct Notice: Equatable, Sendable {
    package var id: EventID
    /// When it happened.
    package var created: WallTime
    package var body: [UInt8]

    package init(id: EventID, created: WallTime, body: [UInt8]) {
      self.id = id
      self.created = created
      self.body = body
    }
  }

  package enum Action: Equatable, Sendable {
    /// Say by `answered` what became of it.
    case send(Notice)
    /// Nothing before that moment, unless a notice or an answer comes; `.never`: nothing waits but for those.
    case wait(until: Instant)
  }

  package enum Outcome: Equatable, Sendable {
    case arrived
    /// - Parameter pause: what the receiver asks for; nil: nothing.
    case failed(pause: Duration?)
  }

  package struct Counters: Equatable, Sendable {
    package var arrived: UInt64 = 0
    /// Tries that failed; each notice may have many.
    package var failed: UInt64 = 0
    /// Given up: older than `Limits.age`, or without a place.
    package var late: UInt64 = 0
    package var crowdedOut: UInt64 = 0
  }

  /// What waits of one room, the notice that is on its way among it.
  fileprivate struct Room: Sendable {
    var notices: [Notice] = []
    /// How many at the front are used up; they go in one move, not one by one.
    var first = 0
    var bytes = 0
    var isUnderWay = false
    var failures = 0
  }

  package private(set) var counters = Counters()
  private var settled: [EventID] = []
  /// Of all that waits, and how many notices these are; those on their way among them.
  package private(set) var bytes = 0
  package private(set) var count = 0
  private let limits: Limits
  private var rooms: [String: Room] = [:]
  /// Rooms whose next notice may leave, those first that have had no turn for longest.
  private var ready: [String] = []
  /// Rooms whose next notice is to be tried again, by the moment.
  private var paused: [(until: Instant, room: String)] = []
  private var underWay = 0
  /// Failures one after the other, of whatever rooms.
  private var failures = 0
  private var pausedUntil = Instant(nanoseconds: .min)
  private var nextSweep = Instant(nanoseconds: .min)

  package init(limits: Limits = Limits()) { self.limits = limits }

  // MARK: - What comes

  /// A further event of its room. Beyond its share, of a sixteenth of all, a room gives up its own oldest that isn't on its way;
  /// where there is no place at all, the new one is given up.
  package mutating func add(_ notice: Notice) {
    let name = notice.id.roomId
    guard bytes + notice.size <= limits.bytes else {
      counters.crowdedOut &+= 1
      settled.append(notice.id)
      return
    }
    if rooms[name] == nil { ready.append(name) }
    rooms[name, default: Room()].append(notice)
    bytes += notice.size
    count += 1
    while let room = rooms[name], room.bytes > limits.bytes / 16, room.hasSpare {
      giveUp(in: name, \.crowdedOut)
    }
  }

  /// What became of the notice of that room that was sent last.
  package mutating func answered(_ room: String, _ outcome: Outcome, now: Instant) {
    guard rooms[room]?.isUnderWay == true else { return }
    underWay -= 1
    rooms[room]?.isUnderWay = false
    switch outcome {
    case .arrived:
      counters.arrived &+= 1
      (failures, pausedUntil) = (0, now)
      rooms[room]?.failures = 0
      drop(in: room)
      settle(room, until: nil)
    case .failed(let pause):
      counters.failed &+= 1
      failures += 1
      // The first may be the notice's own fault.
      if failures > 1 { pausedUntil = now + self.pause(after: failures - 1) }
      if let pause { pausedUntil = max(pausedUntil, now + min(pause, limits.longestPause)) }
      rooms[room]?.failures += 1
      settle(room, until: now + self.pause(after: rooms[room]?.failures ?? 1))
    }
  }

  /// Where a room belongs whose notice is on its way no longer.
  private mutating func settle(_ room: String, until moment: Instant?) {
    guard rooms[room]?.head != nil else {
      rooms[room] = nil
      return
    }
    guard let moment else {
      ready.append(room)
      return
    }
    let place = paused.firstIndex { $0.until > moment } ?? paused.count
    paused.insert((moment, room), at: place)
  }

  private func pause(after failures: Int) -> Duration {
    var pause = limits.shortestPause
    for _ in 1..<max(failures, 1) where pause < limits.longestPause { pause = pause * 2 }
    return min(pause, limits.longestPause)
  }

  // MARK: - What is to be done

  /// - Parameters:
  ///   - now: by a clock that is never stepped.
  ///   - wall: by that of `Notice.created`.
  package mutating func next(now: Instant, wall: WallTime) -> Action {
    sweep(now: now, wall: wall)
    while let first = paused.first, first.until <= now {
      paused.removeFirst()
      ready.append(first.room)
    }
    guard now >= pausedUntil else { return .wait(until: pausedUntil) }
    // As long as nothing gets through, one tries.
    guard underWay < (failures > 1 ? 1 : limits.atOnce) else { return .wait(until: nextSweep) }
    while !ready.isEmpty {
      let name = ready.removeFirst()
      guard let notice = rooms[name]?.head else { continue }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.noticesAtOnce) {
          drop(in: name)
          ready.append(name)
          return .send(notice)
        }
      #endif
      rooms[name]?.isUnderWay = true
      underWay += 1
      return .send(notice)
    }
    return .wait(until: count > 0 ? min(paused.first?.until ?? .never, nextSweep) : .never)
  }

  /// Between two looks at how old what waits is.
  private static let sweeping = Duration.seconds(60)

  private mutating func sweep(now: Instant, wall: WallTime) {
    guard now >= nextSweep else { return }
    nextSweep = now + Self.sweeping
    let oldest = wall.advanced(by: .zero - limits.age)
    for name in rooms.keys {
      while let room = rooms[name], !room.isUnderWay, let head = room.head, head.created < oldest {
        giveUp(in: name, \.late)
      }
      if rooms[name]?.head == nil { forget(name) }
    }
  }

  private mutating func giveUp(in room: String, _ counter: WritableKeyPath<Counters, UInt64>) {
    counters[keyPath: counter] &+= 1
    drop(in: room)
  }

  private mutating func drop(in room: String) {
    guard let dropped = rooms[room]?.drop() else { return }
    bytes -= dropped.size
    count -= 1
    settled.append(dropped.id)
  }

  /// What has arrived or was given up since it was asked for last: it will not be sent again.
  package mutating func takeSettled() -> [EventID] {
    defer { settled = [] }
    return settled
  }

  /// It has nothing more to say.
  private mutating func forget(_ room: String) {
    rooms[room] = nil
    ready.removeAll { $0 == room }
    paused.removeAll { $0.room == room }
  }
}

extension WebhookQueue.Notice {
  /// What it takes to wait, about.
  fileprivate var size: Int { body.count + 128 }
}

extension WebhookQueue.Room {
  var head: WebhookQueue.Notice? { first < notices.count ? notices[first] : nil }

  /// Whether it has one that is neither on its way nor its newest.
  var hasSpare: Bool { notices.count - first > (isUnderWay ? 2 : 1) }

  mutating func append(_ notice: WebhookQueue.Notice) {
    notices.append(notice)
    bytes += notice.size
  }

  /// Drops the oldest that isn't on its way.
  /// - Returns: which that was, and what it took; nil: there is none.
  mutating func drop() -> (id: EventID, size: Int)? {
    let place = first + (isUnderWay ? 1 : 0)
    guard place < notices.count else { return nil }
    let (id, size) = (notices[place].id, notices[place].size)
    if isUnderWay {
      notices.remove(at: place)
    } else {
      notices[place].body = []
      first += 1
      if first > 64, first > notices.count / 2 {
        notices.removeFirst(first)
        first = 0
      }
    }
    bytes -= size
    return (id, size)
  }
}
