public import Model
internal import Wire

/// What a receiver counts about one stream, as report blocks carry it (RFC 3550 §6.4.1, A.1, A.3, A.8).
public struct ReceptionStatistics: Sendable {
  /// A.1's bounds: a jump beyond them is a source that started over, once a second packet confirms it.
  @usableFromInline static var maxDropout: Int64 { 3_000 }
  @usableFromInline static var maxMisorder: Int64 { 1_000 }

  public enum Arrival: Equatable, Sendable {
    /// In order or late, for the first time.
    case fresh(Int64)
    /// As `fresh`, the first of a source that started over.
    case restarted(Int64)
    case dropped(MediaDrop)

    public var isDropped: Bool { if case .dropped = self { true } else { false } }

    /// Whether nothing of a higher number came before.
    /// - Parameter highest: with this packet.
    @inlinable @inline(__always)
    func isAhead(_ highest: Int64) -> Bool {
      switch self {
      case .fresh(let sequence), .restarted(let sequence): sequence == highest
      case .dropped: false
      }
    }
  }

  @usableFromInline var highest: Int64 { window.top }
  @usableFromInline var started = false
  private var base: Int64 = 0
  @usableFromInline var received: UInt64 = 0
  /// The second packet of a jump that would confirm it.
  @usableFromInline var expectedAfterJump: UInt16?
  private var restartsNext = false
  private var expectedAtReport: Int64 = 0
  private var receivedAtReport: UInt64 = 0
  /// In units of the RTP clock, times 16.
  private var jitterTimes16: UInt32 = 0
  /// Arrival minus timestamp, in units of the RTP clock.
  private(set) var lastTransit: UInt32 = 0
  private var hasTransit = false
  /// Extended sequence numbers that can be distinguished from duplicates.
  @usableFromInline var window = BitWindow<16>(first: 0)

  public init() {}

  @inlinable @inline(__always)
  public var isStarted: Bool { started }
  public var highestSequence: Int64 { highest }
  public var packetsReceived: UInt64 { received }
  /// Packets that the source has sent since it started, by their numbers.
  public var packetsExpected: Int64 { started ? highest &- base &+ 1 : 0 }
  /// Interarrival jitter in units of the RTP clock.
  public var jitter: UInt32 { jitterTimes16 >> 4 }

  /// Takes one packet of the stream itself (not a retransmission) into account.
  public mutating func receive(_ sequence: UInt16) -> Arrival {
    guard started else {
      started = true
      // Starts one cycle up, so that packets from before the first one stay positive.
      window = BitWindow(first: 0x1_0000 &+ Int64(sequence))
      base = highest
      received = 1
      return .fresh(highest)
    }
    if restartsNext {
      restart(at: sequence)
      return .restarted(highest)
    }
    let extended = extend(sequence)
    let ahead = extended &- highest
    if ahead >= Self.maxDropout || ahead <= 0 &- Self.maxMisorder {
      guard expectedAfterJump == sequence else {
        expectedAfterJump = sequence &+ 1
        return .dropped(.sequenceJump)
      }
      restart(at: sequence)
      return .restarted(highest)
    }
    expectedAfterJump = nil
    return take(extended)
  }

  /// The next packet is the first of another source, whatever its number.
  public mutating func expectRestart() { restartsNext = true }

  /// Takes a retransmission into account: it fills its place, and counts as received.
  public mutating func recover(_ sequence: UInt16) -> Arrival {
    guard started, !restartsNext else { return .dropped(.retransmissionWithoutStream) }
    let extended = extend(sequence)
    // What is ahead of everything would be a stream of its own making.
    guard extended <= highest else { return .dropped(.retransmissionWithoutStream) }
    return take(extended)
  }

  /// A.8, for packets of the stream itself.
  /// - Parameters:
  ///   - arrival: when the kernel had it.
  ///   - clockRate: hertz.
  public mutating func noteTransit(timestamp: UInt32, arrival: Instant, clockRate: UInt32) {
    let transit = Self.units(arrival, rate: clockRate) &- timestamp
    if hasTransit {
      let difference = Int32(bitPattern: transit &- lastTransit).magnitude
      // A jump of the media clock is no jitter.
      if difference < clockRate * 10 {
        jitterTimes16 = jitterTimes16 &+ difference &- ((jitterTimes16 &+ 8) >> 4)
      }
    }
    hasTransit = true
    lastTransit = transit
  }

  /// The timestamp that a packet of this arrival would have, were its journey that of the last one; nil before it.
  func timestamp(of arrival: Instant, clockRate: UInt32) -> UInt32? {
    hasTransit ? Self.units(arrival, rate: clockRate) &- lastTransit : nil
  }

  /// The clock that timestamps count is another one from here on; what is known of jitter stays.
  mutating func changeClock(from old: UInt32, to new: UInt32) {
    hasTransit = false
    jitterTimes16 = UInt32(clamping: UInt64(jitterTimes16) &* UInt64(new) / UInt64(max(old, 1)))
  }

  private static func units(_ moment: Instant, rate: UInt32) -> UInt32 {
    let seconds = moment.nanoseconds / 1_000_000_000
    let rest = moment.nanoseconds % 1_000_000_000
    return UInt32(truncatingIfNeeded: seconds &* Int64(rate) &+ rest &* Int64(rate) / 1_000_000_000)
  }

  /// The loss since the last report, and in all (A.3); call once a report.
  public mutating func report() -> (fractionLost: UInt8, cumulativeLost: Int32, highest: UInt32) {
    let expected = highest &- base &+ 1
    let lost = expected &- Int64(clamping: received)
    let expectedInterval = expected &- expectedAtReport
    let receivedInterval = Int64(clamping: received &- receivedAtReport)
    expectedAtReport = expected
    receivedAtReport = received
    let lostInterval = expectedInterval &- receivedInterval
    let fraction =
      expectedInterval <= 0 || lostInterval <= 0 ? 0 : min(lostInterval &* 256 / expectedInterval, 255)
    return (
      UInt8(clamping: fraction), Int32(max(-0x80_0000, min(lost, 0x7F_FFFF))),
      // Cycles count from the first packet's own cycle.
      UInt32(truncatingIfNeeded: highest &- (base & ~0xFFFF))
    )
  }

  private func extend(_ sequence: UInt16) -> Int64 {
    highest &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
  }

  private mutating func take(_ extended: Int64) -> Arrival {
    guard !window.isBehind(extended) else { return .dropped(.tooOld) }
    guard !window.contains(extended) else { return .dropped(.duplicate) }
    window.insert(extended)
    received &+= 1
    return .fresh(extended)
  }

  private mutating func restart(at sequence: UInt16) {
    expectedAfterJump = nil
    restartsNext = false
    // Two cycles up: no number of the old run can be mistaken for one of the new.
    window = BitWindow(first: (highest | 0xFFFF) &+ 1 &+ 0x1_0000 &+ Int64(sequence))
    base = highest
    received = 1
    #if PLANTED_DEFECTS
      let kept = (expectedAtReport, receivedAtReport)
      defer { if PlantedDefect.isOn(.reportAfterRestart) { (expectedAtReport, receivedAtReport) = kept } }
    #endif
    expectedAtReport = 0
    receivedAtReport = 0
    hasTransit = false
  }
}

extension ReceptionStatistics {
  public func encode(into writer: inout StateWriter) {
    writer.write(highest)
    writer.write(started)
    writer.write(base)
    writer.write(received)
    writer.write(expectedAfterJump != nil)
    writer.write(expectedAfterJump ?? 0)
    writer.write(restartsNext)
    writer.write(expectedAtReport)
    writer.write(receivedAtReport)
    writer.write(jitterTimes16)
    writer.write(lastTransit)
    writer.write(hasTransit)
    let bits = window.bits
    for index in bits.indices { writer.write(bits[index]) }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    let highest: Int64 = try reader.integer()
    started = try reader.bool()
    base = try reader.integer()
    received = try reader.integer()
    let jumped = try reader.bool()
    let expected: UInt16 = try reader.integer()
    expectedAfterJump = jumped ? expected : nil
    restartsNext = try reader.bool()
    expectedAtReport = try reader.integer()
    receivedAtReport = try reader.integer()
    jitterTimes16 = try reader.integer()
    lastTransit = try reader.integer()
    hasTransit = try reader.bool()
    var bits = window.bits
    for index in bits.indices { bits[index] = try reader.integer() }
    window = BitWindow(top: highest, bits: bits)
  }
}
