internal import Model
internal import SyntheticPeers

/// What a bystander misses: every packet of the publisher's has to come, once, in order and in time.
struct GapAudit {
  private struct Track {
    var next: Int
    var last: Instant
    /// Passed by; some may come yet, where losses are meant to happen.
    var missing: Set<Int> = []
  }

  /// How long nothing may come, by track: two and a half of its frames.
  static let patience: [Int: Duration] = [0: .milliseconds(60), 1: .milliseconds(130)]
  static let problemLimit = 20

  private var tracks: [Int: Track] = [:]
  private var isRunning = false
  private(set) var problems: [String] = []
  /// Packets may come late and by retransmission.
  var allowsRepair = false

  mutating func begin() {
    isRunning = true
    problems = []
  }

  mutating func note(_ arrival: SyntheticPeer.MediaArrival) {
    guard isRunning else {
      tracks[arrival.track] = Track(next: arrival.packet + 1, last: arrival.at)
      return
    }
    guard var track = tracks[arrival.track] else { return complain("track \(arrival.track) is new") }
    if arrival.isRepeat && !allowsRepair {
      complain("packet \(arrival.packet) of track \(arrival.track) comes again")
    }
    if arrival.at - track.last > Self.patience[arrival.track, default: .zero] {
      complain("track \(arrival.track) is silent for \(arrival.at - track.last)")
    }
    if arrival.packet >= track.next {
      for missed in track.next..<arrival.packet {
        track.missing.insert(missed)
        if !allowsRepair { complain("packet \(missed) of track \(arrival.track) is passed by") }
      }
      track.next = arrival.packet + 1
    } else if track.missing.remove(arrival.packet) == nil && !arrival.isRepeat {
      complain("packet \(arrival.packet) of track \(arrival.track) was not awaited")
    }
    track.last = max(track.last, arrival.at)
    tracks[arrival.track] = track
  }

  /// - Parameter made: how many packets of each track had been made some time ago.
  mutating func finish(made: [Int], now: Instant) {
    for (index, count) in made.enumerated() {
      guard let track = tracks[index] else {
        complain("nothing of track \(index) came")
        continue
      }
      if track.next < count { complain("packets of track \(index) from \(track.next) on, of \(count)") }
      if !track.missing.isEmpty { complain("\(track.missing.count) packets of track \(index) never came") }
    }
  }

  private mutating func complain(_ text: String) {
    if problems.count < Self.problemLimit { problems.append(text) }
  }
}

extension AttackRange {
  /// Losses are meant to happen: what is repaired is no gap.
  package func allowRepair() { audit.allowsRepair = true }

  /// What was wrong with the media of the publisher and the bystander; empty as long as nothing was.
  package func gaps() -> [String] {
    let made = (0..<publisher.peer.trackCount).map { publisher.peer.packetsMade(track: $0) }
    run(for: audit.allowsRepair ? .milliseconds(300) : .milliseconds(10))
    audit.finish(made: made, now: now)
    var problems = audit.problems + journal.violations
    for member in [publisher, bystander] where !member.peer.isConnected || member.closed != nil {
      problems.append("peer \(member.peer.number) is gone")
    }
    return problems
  }
}
