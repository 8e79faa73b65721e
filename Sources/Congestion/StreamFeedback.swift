public import Model
import Wire

/// Tells a sender when the packets of each of its streams arrived (RFC 8888), where it knows no transport-wide numbers.
///
/// Every packet is noted, and reported once, with those before it that are missing; one that comes late is reported when it
/// comes. Arrivals wait in the order in which they came:
///
///     received ──▶ pending ──interval, or many waiting──▶ write, until nil ──▶ reported
///
/// Memory is fixed, 56 KiB, and taken with the first arrival: most senders know transport-wide numbers.
public struct StreamFeedback: ~Copyable {
  /// The longest that an arrival waits.
  public static let interval: Int64 = 50_000_000
  /// So many arrivals are reported at once: what 1,200 bytes hold.
  public static let prompt = 512
  /// Arrivals that wait at most. Beyond it, which takes an owner that doesn't write, the newest are left out.
  public static let capacity = 1_024
  /// Streams that are reported on; packets of further ones are left out.
  public static let streams = 64
  /// Bytes of one message at most, so that it fits a datagram with what SRTCP adds.
  public static let maximumSize = 1_160
  /// Numbers that are missing are reported as far back as this.
  private static let longestGap: Int64 = 512

  struct Arrival: BitwiseCopyable {
    var sequence: Int64
    var moment: Instant
    var stream: Int32
  }

  struct Stream {
    var ssrc: UInt32
    var seen: BitWindow<8>
    /// All numbers up to this one were reported, or are not to be.
    var reportedTop: Int64
    /// Of its last arrival, by the count of all.
    var used: UInt64 = 0

    init(ssrc: UInt32, first: Int64) {
      self.ssrc = ssrc
      seen = BitWindow(first: first)
      reportedTop = first &- 1
    }
  }

  /// The owner reports by stream.
  public var isWanted = false
  var pending: UnsafeMutablePointer<Arrival>?
  var known: [Stream] = []
  var count: UInt64 = 0
  /// The count at the first arrival that waits.
  var waitsSince: UInt64 = 0
  /// Arrivals that wait.
  public internal(set) var pendingCount = 0
  /// When `write` has something to say; `.never` if no arrival waits.
  public internal(set) var deadline = Instant.never
  /// Packets that found no room and are never reported.
  public internal(set) var overflows: UInt64 = 0
  /// Packets whose number was there before.
  public internal(set) var duplicates: UInt64 = 0

  public init() {}

  deinit { pending?.deallocate() }

  /// A packet arrived.
  public mutating func received(ssrc: UInt32, sequence: UInt16, at arrival: Instant) {
    guard pendingCount < Self.capacity, let (place, isNew) = place(of: ssrc, first: sequence) else {
      overflows &+= 1
      return
    }
    count &+= 1
    known[place].used = count
    let extended = isNew ? known[place].seen.top : extend(sequence, place)
    if !isNew {
      guard note(extended, place) else {
        duplicates &+= 1
        return
      }
    }
    if pending == nil { pending = .allocate(capacity: Self.capacity) }
    insert(Arrival(sequence: extended, moment: arrival, stream: Int32(place)))
    if pendingCount == 1 {
      waitsSince = count
      deadline = arrival.advanced(byNanoseconds: Self.interval)
    }
    if pendingCount >= Self.prompt { deadline = min(deadline, arrival) }
  }

  private func extend(_ sequence: UInt16, _ place: Int) -> Int64 {
    SequenceExtender(highest: known[place].seen.top).peek(sequence)
  }

  /// - Returns: false if the number was there before.
  private mutating func note(_ extended: Int64, _ place: Int) -> Bool {
    if known[place].seen.isBeyond(extended) {
      // A sender that started over: what lies between is no loss.
      known[place].seen = BitWindow(first: extended)
      known[place].reportedTop = extended &- 1
      return true
    }
    guard !known[place].seen.contains(extended) else { return false }
    known[place].seen.insert(extended)
    return true
  }

  /// - Returns: nil where there is no room for another stream: all have arrivals that wait.
  private mutating func place(of ssrc: UInt32, first: UInt16) -> (Int, isNew: Bool)? {
    var oldest = 0
    for index in known.indices {
      if known[index].ssrc == ssrc { return (index, false) }
      if known[index].used < known[oldest].used { oldest = index }
    }
    let stream = Stream(ssrc: ssrc, first: Int64(first))
    guard known.count >= Self.streams else {
      known.append(stream)
      return (known.count - 1, true)
    }
    guard pendingCount == 0 || known[oldest].used < waitsSince else { return nil }
    known[oldest] = stream
    return (oldest, true)
  }

  /// By stream, and within it by number.
  private mutating func insert(_ arrival: Arrival) {
    let pending = pending!
    var place = pendingCount
    while place > 0,
      pending[place - 1].stream > arrival.stream
        || pending[place - 1].stream == arrival.stream && pending[place - 1].sequence > arrival.sequence
    {
      (pending + place).initialize(to: pending[place - 1])
      place -= 1
    }
    (pending + place).initialize(to: arrival)
    pendingCount += 1
  }

  // MARK: - Writing

  /// Writes one message about arrivals that wait, once the deadline is reached. Call until it says nil.
  /// - Parameters:
  ///   - buffer: at least 40 bytes; `maximumSize` are used at most.
  ///   - timestamp: of `now`, in 65,536ths of a second on the clock of our sender reports.
  /// - Returns: the message's size; nil if there is nothing to say now.
  public mutating func write(
    into buffer: UnsafeMutableRawBufferPointer, senderSSRC: UInt32, timestamp: UInt32, now: Instant
  ) -> Int? {
    guard let pending, pendingCount > 0, now >= deadline else { return nil }
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, Self.maximumSize)])
    guard var writer = CongestionFeedbackWriter(into: room, sender: senderSSRC) else { return nil }
    var taken = 0
    var open: (stream: Int32, next: Int64) = (-1, 0)
    while taken < pendingCount {
      let arrival = pending[taken]
      let place = Int(arrival.stream)
      var next = open.next
      if open.stream != arrival.stream || !isGap(from: next, upTo: arrival.sequence, place) {
        // What is missing since the last message is reported, too.
        next = known[place].reportedTop &+ 1
        if !isGap(from: next, upTo: arrival.sequence, place) { next = arrival.sequence }
        guard writer.begin(ssrc: known[place].ssrc, sequence: UInt16(truncatingIfNeeded: next)) else { break }
        // Where the message is all but full what is missing has to wait for the next one, as it would there.
        if writer.room <= Int(arrival.sequence &- next), taken > 0 { break }
      }
      let missing = Int(arrival.sequence &- next)
      guard writer.room > missing else { break }
      for _ in 0..<missing { _ = writer.append(CongestionFeedback.Report(isReceived: false)) }
      _ = writer.append(
        CongestionFeedback.Report(isReceived: true, offset: Self.offset(arrival.moment, now: now)))
      open = (arrival.stream, arrival.sequence &+ 1)
      // Numbers of before a sender's new beginning don't count for what comes now.
      if arrival.sequence <= known[place].seen.top {
        known[place].reportedTop = max(known[place].reportedTop, arrival.sequence)
      }
      taken += 1
    }
    guard taken > 0, let size = writer.finish(timestamp: timestamp) else { return nil }
    pendingCount -= taken
    pending.update(from: pending + taken, count: pendingCount)
    if pendingCount == 0 { deadline = .never }
    return size
  }

  /// Whether all numbers between are missing, few enough to be said so, and not reported yet.
  private func isGap(from next: Int64, upTo sequence: Int64, _ place: Int) -> Bool {
    guard next < sequence else { return next == sequence }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.arrivedIsMissing) { return sequence &- next <= Self.longestGap }
    #endif
    return next > known[place].reportedTop && sequence &- next <= Self.longestGap
      && !known[place].seen.containsAny(from: next, upTo: sequence)
  }

  /// In 1,024ths of a second; longer ago than can be said: the most.
  private static func offset(_ moment: Instant, now: Instant) -> UInt16 {
    let passed = min(max(now.nanoseconds &- moment.nanoseconds, 0), 8_000_000_000)
    return UInt16(clamping: passed &* CongestionFeedback.offsetRate / 1_000_000_000)
  }
}
