internal import Model
internal import Synchronization

/// Questions to the workers about what subscribers get, each a one-way message with one answer.
///
/// A worker that has stopped answering gathers no more than a few: those beyond get none at once.
public final class ExplainDesk: Sendable {
  /// Messages that wait at one worker.
  static let limit = 64

  private struct Desk {
    var waiting: [UInt64: CheckedContinuation<WorkerExplanation?, Never>] = [:]
    /// By worker: messages that it hasn't answered, also where the answer isn't waited for any more.
    var asked: [Int]
    var next: UInt64 = 0
  }

  private let bridge: Bridge
  private let desk: Mutex<Desk>

  public init(_ bridge: Bridge) {
    self.bridge = bridge
    desk = Mutex(Desk(asked: Array(repeating: 0, count: bridge.workerCount)))
  }

  /// What every worker says, by worker; nil of one that has ended, has too much to answer, or does not answer in time.
  /// - Parameter patience: for the whole answer.
  public func explain(_ question: MediaQuestion, within patience: Duration) async -> [WorkerExplanation?] {
    let end = ContinuousClock.now + patience
    return await withTaskGroup(of: (Int, WorkerExplanation?).self) { group in
      for worker in 0..<bridge.workerCount {
        group.addTask { (worker, await self.ask(worker, question, until: end)) }
      }
      var answers = [WorkerExplanation?](repeating: nil, count: bridge.workerCount)
      for await (worker, answer) in group { answers[worker] = answer }
      return answers
    }
  }

  /// Messages that each worker has yet to answer.
  var unanswered: [Int] { desk.withLock { $0.asked } }

  private func ask(
    _ worker: Int, _ question: MediaQuestion, until end: ContinuousClock.Instant
  ) async -> WorkerExplanation? {
    var whole = WorkerExplanation()
    for part in question.parts {
      guard let answer = await askOnce(worker, part, until: end) else { return nil }
      whole.add(answer)
    }
    return whole
  }

  private func askOnce(
    _ worker: Int, _ question: MediaQuestion, until end: ContinuousClock.Instant
  ) async -> WorkerExplanation? {
    await withCheckedContinuation { continuation in
      let number = desk.withLock { desk -> UInt64? in
        guard desk.asked[worker] < Self.limit else { return nil }
        desk.asked[worker] += 1
        desk.next += 1
        desk.waiting[desk.next] = continuation
        return desk.next
      }
      guard let number else { return continuation.resume(returning: nil) }
      Task {
        try await Task.sleep(until: end, clock: .continuous)
        desk.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: nil)
      }
      let isPosted = bridge.explain(worker: worker, question) { self.answered(number, by: worker, $0) }
      if !isPosted { answered(number, by: worker, nil) }
    }
  }

  private func answered(_ number: UInt64, by worker: Int, _ answer: WorkerExplanation?) {
    let waiting = desk.withLock { desk in
      desk.asked[worker] -= 1
      return desk.waiting.removeValue(forKey: number)
    }
    waiting?.resume(returning: answer)
  }
}
