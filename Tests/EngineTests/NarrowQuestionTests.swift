import Model
import Polling
import Synchronization
import Testing

@testable import Engine

/// Four workers whose part the test plays.
private final class PlayedWorkers: Sendable {
  private struct State {
    var places: [PeerKey: Int] = [:]
    var silent: Set<Int> = []
    var asked: [Int] = []
  }

  let desk: ExplainDesk
  private let bridge = Bridge(workers: 4, wake: { _ in }, eventsReady: {})
  private let state = Mutex(State())

  init() { desk = ExplainDesk(bridge) }

  func put(_ peer: PeerKey, on worker: Int) { state.withLock { $0.places[peer] = worker } }
  func silence(_ worker: Int) { state.withLock { _ = $0.silent.insert(worker) } }

  /// - Returns: who was asked, in that order, and the workers that said something of the peer.
  func ask(
    _ question: MediaQuestion, within patience: Duration = .seconds(30)
  ) async -> (asked: [Int], found: [Int], unanswered: Int) {
    state.withLock { $0.asked = [] }
    let task = Task { await desk.explain(question, within: patience) }
    let player = Task {
      while !Task.isCancelled {
        for worker in 0..<4 {
          for message in bridge.exchange.mailboxes[worker].take() { play(message, on: worker) }
        }
        try? await Task.sleep(for: .milliseconds(1))
      }
    }
    let answers = await task.value
    player.cancel()
    await player.value
    let found = answers.indices.filter { worker in
      answers[worker]?.peers.contains { question.peers.contains($0.peer) } == true
    }
    return (state.withLock { $0.asked }, found, answers.count { $0 == nil })
  }

  private func play(_ message: WorkerMessage, on worker: Int) {
    guard case .explain(let question, let answer) = message else { return }
    let answered = state.withLock { state -> WorkerExplanation? in
      state.asked.append(worker)
      guard !state.silent.contains(worker) else { return nil }
      var found = WorkerExplanation()
      for peer in question.peers where state.places[peer] == worker {
        found.peers.append(PeerExplanation(peer: peer, roundTrip: .zero))
      }
      found.feeds = question.tracks.filter { state.places[$0.peer] == worker }.map {
        FeedExplanation(track: $0)
      }
      return found
    }
    if let answered { answer(answered) }
  }
}

@Suite("Questions of participants about themselves", .timeLimit(.minutes(1)))
struct NarrowQuestionTests {
  private let workers = PlayedWorkers()
  private let viewer = PeerKey(home: 0, serial: 1)
  private let publisher = PeerKey(home: 1, serial: 2)

  private var question: MediaQuestion {
    var question = MediaQuestion(peers: [viewer], tracks: [TrackKey(peer: publisher, index: 3)])
    question.isNarrow = true
    return question
  }

  @Test func `only the workers that have the participant and what it shows are asked, once they are known`()
    async
  {
    workers.put(viewer, on: 2)
    workers.put(publisher, on: 3)
    let first = await workers.ask(question)
    #expect(first.asked.sorted() == [0, 1, 2, 3] && first.found == [2] && first.unanswered == 0)
    for _ in 0..<3 {
      let next = await workers.ask(question)
      #expect(next.asked.sorted() == [2, 3] && next.found == [2] && next.unanswered == 0)
    }
    let page = await workers.ask(MediaQuestion(peers: [viewer], tracks: question.tracks))
    #expect(page.asked.sorted() == [0, 1, 2, 3], "what is asked of a whole room concerns all")
  }

  @Test func `one that has been adopted since is found at once, and so is its publisher next time`() async {
    workers.put(viewer, on: 0)
    workers.put(publisher, on: 1)
    _ = await workers.ask(question)
    workers.put(viewer, on: 2)
    let moved = await workers.ask(question)
    #expect(moved.asked.prefix(2).sorted() == [0, 1] && moved.asked.dropFirst(2).sorted() == [2, 3])
    #expect(moved.found == [2])
    #expect(await workers.ask(question).asked.sorted() == [1, 2])
    workers.put(publisher, on: 3)
    _ = await workers.ask(question)
    #expect(await workers.ask(question).asked.count == 4)
    #expect(await workers.ask(question).asked.sorted() == [2, 3])
  }

  @Test func `where a worker says nothing the others aren't asked in its place`() async {
    workers.put(viewer, on: 2)
    workers.put(publisher, on: 3)
    _ = await workers.ask(question)
    workers.silence(2)
    let next = await workers.ask(question, within: .milliseconds(50))
    #expect(next.asked.sorted() == [2, 3] && next.found.isEmpty && next.unanswered == 1)
  }

  @Test func `places of many peers are forgotten before they take much`() {
    var places = PeerPlaces()
    var most = 0
    for serial in 0..<UInt64(3 * PeerPlaces.limit) {
      var answer = WorkerExplanation()
      let peer = PeerKey(home: 0, serial: serial)
      answer.peers = [PeerExplanation(peer: peer, roundTrip: .zero)]
      let question = MediaQuestion(peers: [peer], tracks: [])
      places.learn(question, [answer])
      #expect(places.workers(for: question) == 1)
      most = max(most, places.count)
    }
    #expect(most == PeerPlaces.limit)
  }
}
