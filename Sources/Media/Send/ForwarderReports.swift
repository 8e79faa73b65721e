public import Model
public import Wire

/// What sender reports say of a stream, and what its receiver reports back.
public struct ForwarderReports: Sendable {
  public private(set) var packets: UInt32 = 0
  /// Payload bytes, without headers and padding (RFC 3550 §6.4.1).
  public private(set) var octets: UInt32 = 0
  /// The receiver's last word: loss since the report before, in 256ths; lost in all; jitter in clock units.
  public private(set) var fractionLost: UInt8 = 0
  public private(set) var cumulativeLost: Int32 = 0
  public private(set) var jitter: UInt32 = 0
  /// Smoothed; nil before the first report that names one of ours.
  public private(set) var roundTrip: Duration?
  public private(set) var lastReport = Instant.never
  /// Between the last report and the one before: packets sent, and the numbers that the receiver saw go by, which
  /// `fractionLost` is a fraction of; what the source lost is among these, and not among those.
  public private(set) var packetsReported: UInt32 = 0
  public private(set) var spanReported: UInt32 = 0
  /// Of what was sent since the report before: the share that was lost behind us, 0–1; nil where nothing was.
  public var lostBehind: Double? {
    guard packetsReported > 0 else { return nil }
    let packets = Double(packetsReported)
    let span = Double(max(spanReported, packetsReported))
    let lost = Double(fractionLost) / 256 * span - (span - packets)
    return min(max(lost / packets, 0), 1)
  }
  private var packetsAtReport: UInt32 = 0
  private var highestAtReport: Int64 = -1

  public init() {}

  /// The packet that was counted last has so many bytes more.
  mutating func grew(by count: Int) { octets &+= UInt32(truncatingIfNeeded: count) }

  mutating func sent(octets count: Int) {
    packets &+= 1
    octets &+= UInt32(truncatingIfNeeded: count)
  }

  /// A report block about the stream came (RFC 3550 §6.4.1).
  /// - Parameter highest: the highest number sent.
  public mutating func receive(_ block: ReportBlock, highest: Int64, now: Instant, epoch: Epoch) {
    fractionLost = block.fractionLost
    cumulativeLost = block.cumulativeLost
    jitter = block.jitter
    lastReport = now
    packetsReported = packets &- packetsAtReport
    spanReported = highestAtReport < 0 ? packetsReported : UInt32(clamping: highest &- highestAtReport)
    packetsAtReport = packets
    highestAtReport = highest
    guard block.lastSenderReport != 0 else { return }
    let elapsed = epoch.ntp(at: now).middle &- block.lastSenderReport
    // Negative by rounding, or nonsense: no sample.
    guard block.delaySinceLastSenderReport <= elapsed else { return }
    let units = elapsed &- block.delaySinceLastSenderReport
    let sample = Duration.nanoseconds(Int64(units) &* 1_000_000_000 / 65_536)
    guard sample < .seconds(10) else { return }
    roundTrip = roundTrip.map { ($0 * 7 + sample) / 8 } ?? sample
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(packets)
    writer.write(octets)
    writer.write(fractionLost)
    writer.write(cumulativeLost)
    writer.write(jitter)
    writer.write(roundTrip?.wholeNanoseconds ?? -1)
    writer.write(lastReport)
    writer.write(packetsReported)
    writer.write(spanReported)
    writer.write(packetsAtReport)
    writer.write(highestAtReport)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    packets = try reader.integer()
    octets = try reader.integer()
    fractionLost = try reader.integer()
    cumulativeLost = try reader.integer()
    jitter = try reader.integer()
    let nanoseconds: Int64 = try reader.integer()
    roundTrip = nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
    lastReport = try reader.instant()
    packetsReported = try reader.integer()
    spanReported = try reader.integer()
    packetsAtReport = try reader.integer()
    highestAtReport = try reader.integer()
  }
}

extension Forwarder {
  /// How long a publisher's sender reports are waited for before its clock is guessed from less. A line that is wrong
  /// by the clock's error would stay in the receivers' for twenty seconds.
  static let guessAfter = Duration.seconds(10)
  /// Whose packets don't come for so long, which no codec's pauses do, is cut off, and so are its reports: they are
  /// waited for once more when it is heard again.
  static let silence = Duration.seconds(2)

  /// Receivers that draw a line through their last reports (libwebrtc: 20) have none of another clock after as many.
  static let reportsOfNewClock: UInt8 = 20

  /// The codec's clock is another one since a short time, and reports are to follow each other soon.
  public var owesReports: Bool { clocks.reportsOwed > 0 }

  /// The stream's sender report; nil before it sent something or while its clock isn't known well enough.
  public mutating func senderReport(now: Instant, epoch: Epoch) -> SenderReport? {
    guard position.hasSent, let clock = clocks.source, state == .flowing, anchors.count > 0,
      anchors[0].generation == generation,
      // Not known again since the codec changed to one with another clock.
      clock.rate == clocks.rate,
      // The source started over, and nothing of it was sent since: what was sent counts by another clock.
      StreamClocks.fits(
        clock.shifted(by: anchors[0].timestamp), position.timestamp, position.arrival, epoch,
        within: StreamClocks.report)
    else { return nil }
    let ntp = epoch.ntp(at: now)
    if now - position.arrival >= Self.silence { heardSince = now }
    if !clock.isReported {
      let waited = min(
        ntp.nanoseconds(since: NTPTime(rawValue: clock.ntp)), now.nanoseconds &- heardSince.nanoseconds)
      guard waited >= Self.guessAfter.wholeNanoseconds else { return nil }
    }
    if clocks.reportsOwed > 0 { clocks.reportsOwed &-= 1 }
    return SenderReport(
      ssrc: ssrc, ntp: ntp, rtpTimestamp: clock.timestamp(at: ntp) &+ anchors[0].timestamp,
      packetCount: reports.packets, octetCount: reports.octets)
  }

  /// The packet that departed last leaves with so many bytes more.
  mutating func grew(by count: Int) { reports.grew(by: count) }

  /// A report block about this stream came.
  public mutating func receiveReport(_ block: ReportBlock, now: Instant, epoch: Epoch) {
    reports.receive(block, highest: position.highest, now: now, epoch: epoch)
  }
}
