internal import Model

/// Lost packets of all streams of a peer, weighed by their number.
struct LossTally: BitwiseCopyable {
  /// What the peer's reports said since the last tally: packets, and lost ones in 256ths.
  private var reportedPackets: UInt32 = 0
  private var reportedLost: UInt32 = 0
  /// Of all tracks, at the last tally.
  private var expected: Int64 = 0
  private var received: Int64 = 0
  /// Smoothed, in 65536ths.
  private var outgoing: UInt16 = 0
  private var incoming: UInt16 = 0

  init() {}

  var worse: UInt16 { max(outgoing, incoming) }

  /// A report block: of `span` numbers we sent `packets`, the rest was lost before us and is no loss of this path.
  /// - Returns: of so many packets so much was lost on this path, in 256ths of a packet.
  @discardableResult
  mutating func reported(
    fraction: UInt8, of span: UInt32, sent packets: UInt32
  ) -> (packets: UInt32, lost: UInt32) {
    // No peer gets more than the bound in a second, whatever a report says.
    guard reportedPackets < 1_000_000 else { return (0, 0) }
    let packets = min(packets, 100_000)
    let span = min(max(span, packets), 100_000)
    let lost = UInt32(fraction) &* span
    let before = (span &- packets) &* 256
    reportedPackets &+= packets
    let here = lost > before ? min(lost &- before, packets &* 256) : 0
    reportedLost &+= here
    return (packets, here)
  }

  mutating func tally(expected newExpected: Int64, received newReceived: Int64) {
    // Without packets there is no loss to speak of; a track that ended takes its numbers with it.
    let wanted = newExpected &- expected
    let found = newReceived &- received
    expected = newExpected
    received = newReceived
    let lost = wanted > 0 && found >= 0 && found < wanted ? (wanted &- found) &* 65_535 / wanted : 0
    incoming = Self.smooth(incoming, lost)
    outgoing = Self.smooth(
      outgoing, reportedPackets == 0 ? 0 : Int64(reportedLost) &* 256 / Int64(reportedPackets))
    reportedPackets = 0
    reportedLost = 0
  }

  private static func smooth(_ old: UInt16, _ sample: Int64) -> UInt16 {
    UInt16(clamping: Int64(old) &+ (min(max(sample, 0), 65_535) &- Int64(old)) / 4)
  }

  func encode(into writer: inout StateWriter) {
    writer.write(reportedPackets)
    writer.write(reportedLost)
    writer.write(expected)
    writer.write(received)
    writer.write(outgoing)
    writer.write(incoming)
  }

  init(from reader: inout StateReader) throws(StateError) {
    reportedPackets = try reader.integer()
    reportedLost = try reader.integer()
    expected = try reader.integer()
    received = try reader.integer()
    outgoing = try reader.integer()
    incoming = try reader.integer()
  }
}
