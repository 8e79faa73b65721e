internal import Model
internal import SyntheticPeers

/// Counts packets that carry stamps, by their publishers' own numbers.
final class PacketCount: MediaCount {
  private let tracks: Int
  private var participants: [Participant] = []
  private var counters: [SubscriberCounter] = []
  /// Of all spans.
  private var latency = LatencyHistogram()
  private var receivedBefore = 0
  private(set) var timeline = Timeline()

  /// - Parameter tracks: of each publisher.
  init(tracks: Int) { self.tracks = tracks }

  var descriptor: Int32? { nil }
  var deadline: Instant { .never }
  var progress: String {
    "\(counters.reduce(receivedBefore) { $0 + $1.received }) packets received"
  }

  func add(_ participant: Participant) {
    participants.append(participant)
    counters.append(SubscriberCounter(sources: participant.role.sources, tracks: tracks))
    let number = participant.number
    participant.onPacket = { [unowned self] in take($0, number) }
  }

  private func take(_ arrival: SyntheticPeer.MediaArrival, _ subscriber: Int) {
    guard participants.indices.contains(arrival.publisher) else { return }
    let sentAt = participants[arrival.publisher].peer?.sendTime(track: arrival.track, packet: arrival.packet)
    if let delay = counters[subscriber].note(arrival, sentAt: sentAt), let sentAt {
      timeline.note(arrivalOf: sentAt, delay: delay)
    }
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
          let sentAt = participants[source.publisher].peer?.sendTime(track: source.track, packet: packet)
          if let sentAt { timeline.note(expected: 1, madeAt: sentAt) }
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
    participants[publisher].peer?.packetsMade(track: track) ?? 0
  }

  /// Packets that publishers made in the measured span.
  private var sentInSpan: Int {
    var spans: [SubscriberCounter.Source: Range<Int>] = [:]
    for counter in counters { spans.merge(counter.spans) { first, _ in first } }
    return spans.values.reduce(0) { $0 + $1.count }
  }
}
