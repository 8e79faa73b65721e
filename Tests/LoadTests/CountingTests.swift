import Model
import SyntheticPeers
import Testing

@testable import Load

@Suite("What roost-load counts", .timeLimit(.minutes(2)))
struct CountingTests {
  private func tally(_ packets: [(Int, Bool)], from: Int = 10, to end: Int? = 20) -> TrackTally {
    var tally = TrackTally()
    tally.begin(at: from)
    for (packet, viaRTX) in packets {
      _ = tally.note(packet: packet, viaRTX: viaRTX, isRepeat: false, end: end)
    }
    return tally
  }

  @Test func `a packet counts once, by the way that it came first`() {
    let tally = tally([(10, false), (11, true), (11, false), (12, false), (12, true), (12, false)])
    #expect((tally.firstTime, tally.recovered, tally.duplicates) == (2, 1, 3))
  }

  @Test func `what lies outside of the span counts as seen alone`() {
    let tally = tally([(9, false), (20, false), (1_000, false), (19, false)])
    #expect((tally.seen, tally.count) == (4, 1))
  }

  @Test func `before the span begins nothing counts`() {
    var tally = TrackTally()
    let isNew = tally.note(packet: 3, viaRTX: false, isRepeat: false, end: nil)
    #expect(!isNew)
    #expect((tally.seen, tally.count, tally.duplicates) == (1, 0, 0))
  }

  @Test func `reordered are those behind a later one, but no retransmissions`() {
    let tally = tally([(10, false), (12, false), (11, false), (15, false), (13, true), (14, false)])
    #expect(tally.reordered == 2)
  }

  @Test func `the first of the span behind a later one is reordered as well`() {
    #expect(tally([(11, false), (10, false)]).reordered == 1)
    // The last one before the span is no part of it.
    #expect(tally([(10, false), (9, false)]).reordered == 0)
  }

  @Test func `a number that no publisher reaches takes no memory`() {
    #expect(tally([(1 << 40, false), (Int.max, false)], to: nil).count == 0)
  }

  // MARK: Subscribers

  private func arrival(_ publisher: Int, _ track: Int, _ packet: Int) -> SyntheticPeer.MediaArrival {
    SyntheticPeer.MediaArrival(
      publisher: publisher, track: track, packet: packet, viaRTX: false, isRepeat: false,
      at: Instant(nanoseconds: 5_000_000))
  }

  @Test func `what is expected comes from the publishers alone`() {
    let counter = SubscriberCounter(sources: [4, 7], tracks: 2)
    counter.isMeasured = true
    counter.begin { _, _ in 100 }
    counter.end { publisher, track in publisher == 4 ? 110 : 100 + track }
    var report = LoadReport()
    counter.add(to: &report)
    #expect(report.expected == 21 && report.never == 21 && report.tracksNeverSeen == 4)
    #expect(!counter.isComplete)
  }

  @Test func `latency is from the publisher's sending, of packets of the span`() throws {
    let counter = SubscriberCounter(sources: [0], tracks: 1)
    counter.isMeasured = true
    counter.note(arrival(0, 0, 1), sentAt: Instant(nanoseconds: 0))
    counter.begin { _, _ in 2 }
    counter.note(arrival(0, 0, 2), sentAt: Instant(nanoseconds: 2_000_000))
    counter.end { _, _ in 3 }
    #expect(counter.latency.count == 1 && counter.received == 2 && counter.isComplete && counter.hasHeardAll)
    let p50 = try #require(counter.latency.percentile(0.5))
    #expect((2_950...3_100).contains(p50))
  }

  @Test func `packets of an unexpected publisher count as received alone`() {
    let counter = SubscriberCounter(sources: [0], tracks: 1)
    counter.begin { _, _ in 0 }
    counter.note(arrival(3, 0, 1), sentAt: nil)
    counter.note(arrival(0, 9, 1), sentAt: nil)
    #expect(counter.received == 2 && !counter.hasHeardAll)
  }

  // MARK: Latencies

  @Test(arguments: [0, 1, 31, 32, 33, 63, 64, 1_000, 49_999, 1_000_000, 3_600_000_000])
  func `a bucket is never below its value, nor much above`(microseconds: Int64) throws {
    var histogram = LatencyHistogram()
    histogram.add(nanoseconds: microseconds * 1_000)
    // So that the maximum doesn't bound it.
    histogram.add(nanoseconds: .max / 2)
    let found = try #require(histogram.percentile(0.5))
    #expect(found >= Double(microseconds) && found <= Double(microseconds) * 33 / 32 + 1)
  }

  @Test func `a percentile between two ranks is that of the higher`() throws {
    var histogram = LatencyHistogram()
    for milliseconds in [1, 2, 4] as [Int64] { histogram.add(nanoseconds: milliseconds * 1_000_000) }
    let half = try #require(histogram.percentile(0.5))
    #expect(half >= 2_000 && half < 2_200)
  }

  @Test func `percentiles go by rank, and the highest is the maximum`() throws {
    var histogram = LatencyHistogram()
    for value in 1...1_000 { histogram.add(nanoseconds: Int64(value) * 1_000_000) }
    let half = try #require(histogram.percentile(0.5))
    let most = try #require(histogram.percentile(0.99))
    #expect((500_000...520_000).contains(half) && (990_000...1_000_000).contains(most))
    #expect(histogram.percentile(1) == 1_000_000)
    #expect(LatencyHistogram().percentile(0.5) == nil)
  }

  @Test func `a clock that went back is no trap`() {
    var histogram = LatencyHistogram()
    histogram.add(nanoseconds: -5)
    histogram.add(nanoseconds: .min)
    #expect(histogram.count == 2 && histogram.percentile(0.99) == 0)
  }

  @Test func `histograms are joined`() {
    var one = LatencyHistogram()
    var other = LatencyHistogram()
    one.add(nanoseconds: 1_000_000)
    other.add(nanoseconds: 9_000_000)
    one.merge(other)
    #expect(one.count == 2 && one.maximum == 9_000_000)
  }
}
