public import Model
import Wire

/// Tells a sender when each of its packets arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// Every packet that carries the transport sequence number is noted and reported exactly once; Chromium keeps to
/// about 300 kbit/s if some are left out. Lost ones are reported as not received, and as received later should
/// they still come. Arrivals wait in the order of their numbers:
///
///     received ──▶ pending ──interval, or many waiting──▶ write, until nil ──▶ reported
///
/// Memory is fixed: `capacity` arrivals of 16 bytes and a window of 4,096 bits.
public struct ArrivalFeedback: ~Copyable {
  /// The longest that an arrival waits. The sender's delay estimate lags by it, and libwebrtc expects 50–250 ms;
  /// at 50 ms the feedback for 2 Mbit/s takes about 15 kbit/s.
  public static let interval: Int64 = 50_000_000
  /// So many arrivals are reported at once: it is what 1,200 bytes hold if all deltas are large.
  public static let prompt = 512
  /// Arrivals that wait at most. Beyond it, which takes an owner that doesn't write, the newest are left out.
  public static let capacity = 1_024
  /// Bytes of one message at most, so that it fits a datagram with what SRTCP adds.
  public static let maximumSize = 1_200

  struct Arrival {
    var sequence: Int64
    /// 250 µs since the clock's start, modulo 2^32 as on the wire, where the reference time has the upper 24 bits.
    var ticks: UInt32
  }

  /// Of the last 4,096 extended sequence numbers.
  typealias Seen = BitWindow<64>

  /// Ascending by sequence number, without equals.
  let pending: UnsafeMutablePointer<Arrival>
  /// Arrivals that wait.
  public internal(set) var pendingCount = 0
  /// Numbers that were received, reported or not; of no meaning before the first.
  var seen = Seen(first: 0)
  var started = false
  /// All numbers up to this one were reported, or are not to be.
  var reportedTop: Int64 = 0
  var feedbackCount: UInt8 = 0
  /// When `write` has something to say; `.never` if no arrival waits.
  public internal(set) var deadline = Instant.never
  /// Packets whose number was there before.
  public internal(set) var duplicates: UInt64 = 0
  /// Packets that found no room and are never reported.
  public internal(set) var overflows: UInt64 = 0

  private let interval: Int64

  /// - Parameter interval: nanoseconds that an arrival waits at most.
  public init(interval: Int64 = ArrivalFeedback.interval) {
    self.interval = interval
    pending = .allocate(capacity: Self.capacity)
  }

  deinit { pending.deallocate() }

  /// A packet with this transport sequence number arrived.
  public mutating func received(sequence: UInt16, at arrival: Instant) {
    guard pendingCount < Self.capacity else {
      overflows &+= 1
      return
    }
    let extended = started ? SequenceExtender(highest: seen.top).peek(sequence) : Int64(sequence)
    if !started || seen.isBeyond(extended) {
      // The first, or a sender that started over: what lies between is no loss.
      started = true
      seen = Seen(first: extended)
      reportedTop = extended &- 1
    } else {
      guard !seen.contains(extended) else {
        duplicates &+= 1
        return
      }
      seen.insert(extended)
    }
    guard insert(Arrival(sequence: extended, ticks: Self.ticks(arrival))) else {
      duplicates &+= 1
      return
    }
    if pendingCount == 1 { deadline = arrival.advanced(byNanoseconds: interval) }
    if pendingCount >= Self.prompt { deadline = min(deadline, arrival) }
  }

  /// Writes one feedback message about arrivals that wait, once the deadline is reached. Call until it says nil.
  ///
  /// A message ends where it is full, where the time between two arrivals is beyond 8 s, and before a number that
  /// was reported already, which happens with packets that come late.
  /// - Parameters:
  ///   - buffer: at least 40 bytes; `maximumSize` are used at most.
  ///   - mediaSSRC: any stream of the sender's.
  /// - Returns: the message's size; nil if there is nothing to say now.
  public mutating func write(
    into buffer: UnsafeMutableRawBufferPointer, senderSSRC: UInt32, mediaSSRC: UInt32, now: Instant
  ) -> Int? {
    guard pendingCount > 0, now >= deadline else { return nil }
    let first = pending[0]
    var base = first.sequence
    // What was lost since the last message is reported, too.
    if base > reportedTop, base &- reportedTop <= Seen.size,
      !seen.containsAny(from: reportedTop &+ 1, upTo: base)
    {
      base = reportedTop &+ 1
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.lossBetween) { base = first.sequence }
      #endif
    }
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, Self.maximumSize)])
    guard
      var writer = TransportFeedbackWriter(
        into: room, sources: FeedbackSources(sender: senderSSRC, media: mediaSSRC),
        baseSequence: UInt16(truncatingIfNeeded: base), referenceTime: first.ticks >> 8,
        feedbackCount: feedbackCount)
    else { return nil }

    var taken = 0
    var next = base
    var ticks = first.ticks & ~0xFF
    while taken < pendingCount {
      let arrival = pending[taken]
      let gap = arrival.sequence &- next
      guard gap <= Seen.size, !seen.containsAny(from: next, upTo: arrival.sequence),
        writer.appendLost(Int(gap)) == Int(gap),
        writer.appendReceived(delta: Int32(bitPattern: arrival.ticks &- ticks))
      else { break }
      ticks = arrival.ticks
      next = arrival.sequence &+ 1
      taken += 1
    }
    guard taken > 0, let size = writer.finish() else { return nil }

    // Numbers of before a sender's new beginning lie above the window; they don't count for what comes now.
    if next &- 1 > reportedTop, next &- 1 <= seen.top { reportedTop = next &- 1 }
    feedbackCount &+= 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.messageNumber) { feedbackCount = 0 }
    #endif
    pendingCount -= taken
    pending.update(from: pending + taken, count: pendingCount)
    if pendingCount == 0 { deadline = .never }
    return size
  }

  static func ticks(_ instant: Instant) -> UInt32 {
    UInt32(truncatingIfNeeded: instant.nanoseconds / TransportFeedback.tick)
  }

  /// - Returns: false if the number waits already.
  private mutating func insert(_ arrival: Arrival) -> Bool {
    var place = pendingCount
    while place > 0 && pending[place - 1].sequence >= arrival.sequence {
      guard pending[place - 1].sequence != arrival.sequence else { return false }
      place -= 1
    }
    for index in stride(from: pendingCount, to: place, by: -1) {
      (pending + index).initialize(to: pending[index - 1])
    }
    (pending + place).initialize(to: arrival)
    pendingCount += 1
    return true
  }
}
