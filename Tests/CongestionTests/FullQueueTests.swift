import Model
import Testing

@testable import Congestion

/// What losses and arrivals say where a queue has no room left.
@Suite("A full queue", .timeLimit(.minutes(1)))
struct FullQueueTests {
  /// Bits per second that losses allow after some seconds; nil: they bound nothing.
  /// - Parameters:
  ///   - small: packets of 150 bytes a second, none of which is lost.
  ///   - large: packets of 1,200 bytes a second.
  ///   - share: of the large ones that is lost.
  private func bound(small: Int, large: Int, share: Double, isQueued: Bool, seconds: Int = 4) -> Double? {
    var losses = LossBound()
    let sent = Double(small * 150 + large * 1_200) * 8
    for quarter in 0..<seconds * 4 {
      let lost = Int(Double(large) / 4 * share)
      let bytes = small / 4 * 150 + large / 4 * 1_200
      let now = Instant(nanoseconds: 1_000_000_000 + Int64(quarter) * 250_000_000)
      losses.take(
        packets: small / 4 + large / 4, lost: lost, bytes: bytes, lostBytes: lost * 1_200,
        lastSent: now.nanoseconds)
      let arrived = sent * (1 - Double(lost * 1_200) / Double(bytes))
      losses.update(delayed: sent, acknowledged: arrived, isQueued: isQueued, mayGrow: true, now: now)
    }
    return losses.bound
  }

  @Test func `a third of the packets lost is most of the bytes, where sound still fits`() {
    let sent = Double(48 * 150 + 60 * 1_200) * 8
    let found = bound(small: 48, large: 60, share: 0.6, isQueued: true)
    #expect(found.map { $0 < sent * 0.55 } ?? false)
  }

  @Test func `beside a short queue losses are the radio's`() {
    let sent = Double(48 * 150 + 60 * 1_200) * 8
    #expect(bound(small: 48, large: 60, share: 0.07, isQueued: false).map { $0 > sent * 0.8 } ?? true)
  }

  @Test func `nothing is allowed beyond what is sent while little is`() {
    var losses = LossBound()
    var last = 300e3
    for quarter in 0..<80 {
      let now = Instant(nanoseconds: 1_000_000_000 + Int64(quarter) * 250_000_000)
      let isFull = quarter < 16
      losses.take(
        packets: 40, lost: isFull ? 20 : 0, bytes: isFull ? 30_000 : 4_000, lostBytes: isFull ? 18_000 : 0,
        lastSent: now.nanoseconds)
      losses.update(
        delayed: 1e6, acknowledged: isFull ? 384e3 : 128e3, isQueued: isFull, mayGrow: isFull, now: now)
      if quarter == 16 { last = losses.bound ?? .infinity }
    }
    #expect(last < 600e3 && losses.bound == last)
  }

  @Test func `a rate that rises is known within half a second`() {
    var arrivals = AcknowledgedRate()
    var now: Int64 = 1_000_000_000
    for _ in 0..<200 {
      arrivals.take(bytes: 500, arrived: now, isIdle: false)
      now += 20_000_000
    }
    #expect(abs(arrivals.carried! - 200e3) < 40e3)
    for _ in 0..<50 {
      arrivals.take(bytes: 1_000, arrived: now, isIdle: false)
      now += 10_000_000
    }
    #expect(arrivals.carried! > 700e3 && arrivals.carried! < 900e3)
  }

  @Test
  func `a queue that a burst made in a stream of little takes a share, not the rate to that of the stream`() {
    var rate = AIMDRate(start: 600e3)
    let now = Instant(nanoseconds: 1_000_000_000)
    rate.update(
      .over, acknowledged: 100e3, roundTrip: .milliseconds(50), bounds: BandwidthEstimator.bounds,
      allowed: .infinity, mayGrow: false, isFilled: false, now: now)
    #expect(rate.rate == 600e3 * 0.85)
    rate.update(
      .over, acknowledged: 100e3, roundTrip: .milliseconds(50), bounds: BandwidthEstimator.bounds,
      allowed: .infinity, mayGrow: true, isFilled: true, now: now + .seconds(1))
    #expect(rate.rate == 100e3 * 0.85)
  }
}
