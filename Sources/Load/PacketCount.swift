internal import Model
internal import SyntheticPeers

/// Counts packets that carry stamps, by their publishers' own numbers; of pictures in several encodings, of which the server chooses, those
/// that come whole, by their moments.
final class PacketCount: MediaCount {
  private let tracks: Int
  private var participants: [Participant] = []
  private var counters: [SubscriberCounter] = []
  /// By subscriber.
  private var moments: [MomentCount] = []
  /// Of all spans.
  private var latency = LatencyHistogram()
  private var receivedBefore = 0
  private(set) var timeline = Timeline()

  private let unit: String

  /// - Parameters:
  ///   - tracks: of each publisher.
  ///   - unit: what is counted, for progress.
  init(tracks: Int, unit: String = "packets") { (self.tracks, self.unit) = (tracks, unit) }

  var descriptor: Int32? { nil }
  var deadline: Instant { .never }
  var progress: String {
    "\(counters.reduce(receivedBefore) { $0 + $1.received }) \(unit) received"
  }

  func add(_ participant: Participant) {
    participants.append(participant)
    counters.append(SubscriberCounter(sources: participant.role.sources, tracks: tracks))
    moments.append(MomentCount())
    let number = participant.number
    participant.onPacket = { [unowned self] in take($0, number) }
  }

  private func take(_ arrival: SyntheticPeer.MediaArrival, _ subscriber: Int) {
    guard participants.indices.contains(arrival.publisher) else { return }
    var arrival = arrival
    if let layers = participants[arrival.publisher].peer?.layers(ofTrack: arrival.track) {
      guard let whole = moments[subscriber].note(arrival, layers) else { return }
      arrival = whole
    }
    let sentAt = sentAt(arrival.publisher, arrival.track, arrival.packet)
    if let delay = counters[subscriber].note(arrival, sentAt: sentAt), let sentAt {
      timeline.note(arrivalOf: sentAt, delay: delay)
    }
  }

  private func sentAt(_ publisher: Int, _ track: Int, _ number: Int) -> Instant? {
    guard let peer = participants[publisher].peer else { return nil }
    guard let layers = peer.layers(ofTrack: track) else { return peer.sendTime(track: track, packet: number) }
    return layers.moments.indices.contains(number) ? layers.moments[number] : nil
  }

  func poll(now: Instant) {}

  func hasHeardAll(_ participant: Int) -> Bool { counters[participant].hasHeardAll }

  func begin(now: Instant) {
    timeline.begin(now: now)
    receivedBefore = counters.reduce(receivedBefore) { $0 + $1.received }
    counters = participants.map { SubscriberCounter(sources: $0.role.sources, tracks: tracks) }
    for (index, counter) in counters.enumerated() {
      counter.isMeasured = participants[index].phase == .connected
      counter.begin { self.made($0, $1) }
    }
  }

  func end(now: Instant) {
    for counter in counters { counter.end { self.made($0, $1) } }
    for counter in counters where counter.isMeasured {
      for (source, packets) in counter.spans {
        for packet in packets {
          guard let sentAt = sentAt(source.publisher, source.track, packet) else { continue }
          timeline.note(expected: 1, madeAt: sentAt)
        }
      }
    }
  }

  var isComplete: Bool { counters.allSatisfy { $0.isComplete } }

  func finish(_ report: inout LoadReport) -> MeasuredSpan {
    var span = MeasuredSpan()
    let before = report
    for counter in counters where counter.isMeasured {
      counter.add(to: &report)
      span.delay.merge(counter.latency)
    }
    span.sent = sentInSpan
    report.sent += span.sent
    latency.merge(span.delay)
    report.times.latency = LoadReport.Latency(latency)
    span.expected = report.expected - before.expected
    span.arrived = report.arrivedFirstTime + report.recovered - before.arrivedFirstTime - before.recovered
    return span
  }

  func stop() {}

  private func made(_ publisher: Int, _ track: Int) -> Int {
    guard let peer = participants[publisher].peer else { return 0 }
    return peer.layers(ofTrack: track)?.moments.count ?? peer.packetsMade(track: track)
  }

  /// What publishers made in the measured span.
  private var sentInSpan: Int {
    var spans: [SubscriberCounter.Source: Range<Int>] = [:]
    for counter in counters { spans.merge(counter.spans) { first, _ in first } }
    return spans.values.reduce(0) { $0 + $1.count }
  }
}
