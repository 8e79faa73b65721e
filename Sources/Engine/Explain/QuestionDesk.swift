internal import Synchronization

/// Questions to workers, each a one-way message with one answer.
///
/// A worker that has stopped answering gathers no more than a few: those beyond get none at once.
final class QuestionDesk<Answer: Sendable>: Sendable {
  private struct Desk {
    var waiting: [UInt64: CheckedContinuation<Answer?, Never>] = [:]
    /// By worker: messages that it hasn't answered, also where the answer isn't waited for any more.
    var asked: [Int]
    var next: UInt64 = 0
  }

  /// Messages that wait at one worker.
  private let limit: Int
  private let desk: Mutex<Desk>

  init(workers: Int, limit: Int) {
    self.limit = limit
    desk = Mutex(Desk(asked: Array(repeating: 0, count: workers)))
  }

  /// Messages that each worker has yet to answer.
  var unanswered: [Int] { desk.withLock { $0.asked } }

  /// - Parameter post: sends the message, with what takes its answer, which is called once; false: it can't be sent, and nothing is
  ///   called.
  /// - Returns: nil of a worker that has ended, has too much to answer, or does not answer in time.
  func ask(
    _ worker: Int, until end: ContinuousClock.Instant,
    _ post: (@escaping @Sendable (Answer?) -> Void) -> Bool
  ) async -> Answer? {
    await withCheckedContinuation { continuation in
      let number = desk.withLock { desk -> UInt64? in
        guard desk.asked[worker] < limit else { return nil }
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
      if !post({ self.answered(number, by: worker, $0) }) { answered(number, by: worker, nil) }
    }
  }

  private func answered(_ number: UInt64, by worker: Int, _ answer: Answer?) {
    let waiting = desk.withLock { desk in
      desk.asked[worker] -= 1
      return desk.waiting.removeValue(forKey: number)
    }
    waiting?.resume(returning: answer)
  }
}
