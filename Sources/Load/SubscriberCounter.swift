internal import Model
internal import SyntheticPeers

/// What one participant receives of all whom it is subscribed to, and what it should.
final class SubscriberCounter {
  /// A track of a publisher.
  struct Source: Hashable {
    var publisher: Int
    var track: Int
  }

  /// It was in when measuring began; what it misses counts.
  var isMeasured = false
  private var tallies: [TrackTally]
  /// The publisher's numbers at the measured span's begin and end.
  private var starts: [Int]
  private var ends: [Int?]
  private let sources: [Source]
  private let places: [Source: Int]
  private(set) var latency = LatencyHistogram()
  /// Packets of any time.
  private(set) var received = 0

  init(sources publishers: [Int], tracks: Int) {
    sources = publishers.flatMap { publisher in
      (0..<tracks).map { Source(publisher: publisher, track: $0) }
    }
    places = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1, $0) })
    tallies = Array(repeating: TrackTally(), count: sources.count)
    starts = Array(repeating: 0, count: sources.count)
    ends = Array(repeating: nil, count: sources.count)
  }

  /// Something of each track has come.
  var hasHeardAll: Bool { tallies.allSatisfy { $0.seen > 0 } }

  func begin(_ made: (_ publisher: Int, _ track: Int) -> Int) {
    for (place, source) in sources.enumerated() {
      starts[place] = made(source.publisher, source.track)
      tallies[place].begin(at: starts[place])
    }
  }

  func end(_ made: (_ publisher: Int, _ track: Int) -> Int) {
    for (place, source) in sources.enumerated() { ends[place] = made(source.publisher, source.track) }
  }

  /// - Returns: the delay in nanoseconds of a packet of the measured span that comes for the first time.
  @discardableResult
  func note(_ arrival: SyntheticPeer.MediaArrival, sentAt: Instant?) -> Int64? {
    received += 1
    guard let place = places[Source(publisher: arrival.publisher, track: arrival.track)] else { return nil }
    let isNew = tallies[place].note(
      packet: arrival.packet, viaRTX: arrival.viaRTX, isRepeat: arrival.isRepeat, end: ends[place])
    guard isNew, let sentAt else { return nil }
    let delay = arrival.at.nanoseconds - sentAt.nanoseconds
    latency.add(nanoseconds: delay)
    return delay
  }

  /// The packets of each track's span, by their numbers.
  var spans: [Source: Range<Int>] {
    Dictionary(
      uniqueKeysWithValues: sources.indices.map {
        (sources[$0], starts[$0]..<max(ends[$0] ?? starts[$0], starts[$0]))
      })
  }
  private var expected: Int { sources.indices.reduce(0) { $0 + (ends[$1] ?? starts[$1]) - starts[$1] } }
  private var arrived: Int { tallies.reduce(0) { $0 + $1.count } }
  /// Nothing is on its way any more, as far as one can know.
  var isComplete: Bool { !isMeasured || arrived >= expected }

  func add(to report: inout LoadReport) {
    report.expected += expected
    for tally in tallies {
      report.arrivedFirstTime += tally.firstTime
      report.recovered += tally.recovered
      report.duplicates += tally.duplicates
      report.reordered += tally.reordered
      if tally.seen == 0 { report.tracksNeverSeen += 1 }
    }
  }
}
