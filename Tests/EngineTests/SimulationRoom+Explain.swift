import Model
import Simulation
import Synchronization

@testable import Engine

/// What the workers say when they are asked.
extension SimulationRoom {
  private final class Answers: Sendable {
    private let answers = Mutex<[WorkerExplanation?]>([])
    func append(_ answer: WorkerExplanation?) { answers.withLock { $0.append(answer) } }
    var all: [WorkerExplanation?] { answers.withLock { $0 } }
  }

  /// Asks every worker, and lets them run for a millisecond.
  func explain(_ question: MediaQuestion) -> WorkerExplanation {
    let answers = Answers()
    for worker in 0..<server.bridge.workerCount {
      _ = server.bridge.explain(worker: worker, question) { answers.append($0) }
    }
    run(for: .milliseconds(1))
    var whole = WorkerExplanation()
    for answer in answers.all.compactMap(\.self) { whole.add(answer) }
    return whole
  }

  /// What may be sent to a peer, by its number: bits per second.
  func target(of number: Int) -> Double? {
    explain(MediaQuestion(peers: [keys[number]], tracks: [])).peers.first?.target
  }
}
