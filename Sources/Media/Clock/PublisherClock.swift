public import Model

/// Where a publisher's own wall clock stands against the server's time line, learned from its sender reports.
/// All tracks of one CNAME share it, so their relation to each other is exact whatever the network does.
///
/// A report's delay is at least the path's; the smallest seen is the best estimate of the offset. It may creep
/// up again by `slew`, which follows a drifting clock and a path that became longer.
public struct PublisherClock: Sendable {
  /// Nanoseconds that the offset may grow per second: above any quartz's drift (±100 ppm).
  static let slew: Int64 = 200_000
  /// A difference beyond this is a clock that was set, not jitter, if it is still there after `stepConfirmation`:
  /// reports that a stalled path held back come together and disagree with those behind them.
  static let step: Int64 = 1_000_000_000
  static let stepConfirmation = Duration.milliseconds(500)

  /// Server minus publisher, in nanoseconds.
  private var offset: Int64 = 0
  private var updated = Instant(nanoseconds: 0)
  public private(set) var isKnown = false
  /// A sample beyond `step`, and when it came: the clock was set if another agrees later.
  private var doubt: Int64 = 0
  private var doubtedAt = Instant.never

  public init() {}

  /// Takes a report into account.
  /// - Parameters:
  ///   - ntp: the publisher's time in the report.
  ///   - arrival: when it came, on the server's monotonic clock and its time line.
  /// - Returns: false for one that disagrees with those before and that no other has confirmed: it changes nothing.
  @discardableResult
  public mutating func report(_ ntp: NTPTime, arrival: Instant, epoch: Epoch) -> Bool {
    let sample = epoch.ntp(at: arrival).nanoseconds(since: ntp)
    guard isKnown else {
      offset = sample
      updated = arrival
      isKnown = true
      return true
    }
    guard (sample &- offset).magnitude < UInt64(Self.step) else {
      if doubtedAt == .never || (sample &- doubt).magnitude >= UInt64(Self.step) / 2 {
        doubt = sample
        doubtedAt = arrival
        return false
      }
      guard arrival - doubtedAt >= Self.stepConfirmation else { return false }
      offset = sample
      updated = arrival
      doubtedAt = .never
      return true
    }
    doubtedAt = .never
    let elapsed = max(0, arrival.nanoseconds &- updated.nanoseconds)
    let allowed = offset &+ elapsed / 1_000 &* Self.slew / 1_000_000
    offset = min(sample, allowed)
    updated = arrival
    return true
  }

  /// A moment of the publisher's clock on the server's time line.
  public func serverTime(_ ntp: NTPTime) -> NTPTime { ntp.advanced(byNanoseconds: offset) }

  public func encode(into writer: inout StateWriter) {
    writer.write(offset)
    writer.write(updated)
    writer.write(isKnown)
    writer.write(doubt)
    writer.write(doubtedAt)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    offset = try reader.integer()
    updated = try reader.instant()
    isKnown = try reader.bool()
    doubt = try reader.integer()
    doubtedAt = try reader.instant()
  }
}
