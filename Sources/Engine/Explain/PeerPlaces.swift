internal import Model

/// On which worker peers are, as its answers have shown. A peer is adopted once, before its handshake, so what is known here is
/// seldom wrong, and an answer without the peer says so.
struct PeerPlaces {
  /// Beyond it all is forgotten, which costs a question to every worker for each that is asked about again.
  static let limit = 16_384

  private var workers: [PeerKey: Int] = [:]

  var count: Int { workers.count }

  /// The workers of these peers and of the publishers of these tracks, as bits; nil where one of the peers isn't known.
  func workers(for question: MediaQuestion) -> UInt64? {
    var found: UInt64 = 0
    for peer in question.peers {
      guard let worker = workers[peer] else { return nil }
      found |= 1 << UInt64(worker)
    }
    for track in question.tracks {
      if let worker = workers[track.peer] { found |= 1 << UInt64(worker) }
    }
    return found
  }

  /// Publishers whose worker isn't known, each once.
  func strangers(in question: MediaQuestion) -> [PeerKey] {
    var seen = Set(question.peers)
    return question.tracks.map(\.peer).filter { workers[$0] == nil && seen.insert($0).inserted }
  }

  /// - Parameter answers: by worker, of all that the question is known to concern; nil of one that said nothing.
  mutating func learn(_ question: MediaQuestion, _ answers: [WorkerExplanation?]) {
    for peer in question.peers { forget(peer, unless: answers) { $0.peers.contains { $0.peer == peer } } }
    for track in question.tracks {
      forget(track.peer, unless: answers) { $0.feeds.contains { $0.track.track == track } }
    }
    for (worker, answer) in answers.enumerated() {
      for peer in answer?.peers ?? [] { learn(peer.peer, worker) }
    }
  }

  private mutating func learn(_ peer: PeerKey, _ worker: Int) {
    if workers.count >= Self.limit, workers[peer] == nil { workers = [:] }
    workers[peer] = worker
  }

  private mutating func forget(
    _ peer: PeerKey, unless answers: [WorkerExplanation?], _ isThere: (WorkerExplanation) -> Bool
  ) {
    guard let worker = workers[peer], let answer = answers[worker], !isThere(answer) else { return }
    workers[peer] = nil
  }
}
