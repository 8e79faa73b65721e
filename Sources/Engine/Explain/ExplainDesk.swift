public import Model
public import Peer
internal import Synchronization

/// What is asked of the workers about single peers, with an answer: why they get what they get, and what their flight
/// recorders have.
public final class ExplainDesk: Sendable {
  /// Messages that wait at one worker.
  static let limit = 64
  static let flightLimit = 8

  private let bridge: Bridge
  private let explanations: QuestionDesk<WorkerExplanation>
  private let flights: QuestionDesk<FlightRecording>
  private let places = Mutex(PeerPlaces())

  public init(_ bridge: Bridge) {
    self.bridge = bridge
    explanations = QuestionDesk(workers: bridge.workerCount, limit: Self.limit)
    flights = QuestionDesk(workers: bridge.workerCount, limit: Self.flightLimit)
  }

  /// What the workers say, by worker; nil of one that has ended, has too much to answer, or does not answer in time.
  /// - Parameter patience: for the whole answer.
  public func explain(_ question: MediaQuestion, within patience: Duration) async -> [WorkerExplanation?] {
    let end = ContinuousClock.now + patience
    #if PLANTED_DEFECTS
      let isNarrow = question.isNarrow && !PlantedDefect.isOn(.explainsEverywhere)
    #else
      let isNarrow = question.isNarrow
    #endif
    guard isNarrow else { return await ask(all, question, until: end) }
    let (known, strangers) = places.withLock { ($0.workers(for: question), $0.strangers(in: question)) }
    var wide = question
    wide.peers += strangers
    let first = strangers.isEmpty ? known ?? all : all
    var answers = await ask(first, wide, until: end)
    let found = Set(answers.compactMap(\.self).flatMap(\.peers).map(\.peer))
    let isAnswered = answers.allSatisfy { $0 != nil }
    if first != all, isAnswered, !question.peers.allSatisfy(found.contains) {
      // One has been adopted since.
      for (worker, answer) in await ask(all & ~first, wide, until: end).enumerated()
      where first & 1 << UInt64(worker) == 0 {
        answers[worker] = answer
      }
    }
    places.withLock { $0.learn(question, answers) }
    return answers
  }

  /// Of all workers, as bits.
  private var all: UInt64 { .max >> UInt64(64 - bridge.workerCount) }

  /// - Parameter workers: as bits; of the others the answer is empty.
  private func ask(
    _ workers: UInt64, _ question: MediaQuestion, until end: ContinuousClock.Instant
  ) async -> [WorkerExplanation?] {
    await withTaskGroup(of: (Int, WorkerExplanation?).self) { group in
      for worker in SetBits(workers) {
        group.addTask { (worker, await self.ask(worker, question, until: end)) }
      }
      var answers = [WorkerExplanation?](repeating: WorkerExplanation(), count: bridge.workerCount)
      for await (worker, answer) in group { answers[worker] = answer }
      return answers
    }
  }

  /// What a peer's flight recorder has; nil: the peer isn't there, or its worker does not answer in time.
  public func recording(of peer: PeerKey, within patience: Duration) async -> FlightRecording? {
    let home = min(peer.home, bridge.workerCount - 1)
    return await flights.ask(home, until: ContinuousClock.now + patience) {
      bridge.recording(of: peer, home: home, $0)
    }
  }

  /// Questions that each worker has yet to answer.
  var unanswered: [Int] { explanations.unanswered }

  private func ask(
    _ worker: Int, _ question: MediaQuestion, until end: ContinuousClock.Instant
  ) async -> WorkerExplanation? {
    var whole = WorkerExplanation()
    for part in question.parts {
      let answer = await explanations.ask(worker, until: end) { bridge.explain(worker: worker, part, $0) }
      guard let answer else { return nil }
      whole.add(answer)
    }
    return whole
  }
}
