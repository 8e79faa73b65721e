internal import Synchronization

/// What is asked of a disk from outside, on a thread of its own: a recording's files don't wait for it, nor it for them. A disk that
/// stands still is said to, instead of letting questions pile up, and no room asks so much that others wait for it.
final class DiskQuestions: Sendable {
  /// That wait at the same time, and how many of them one room may have.
  static let most = 256
  static let mostOfRoom = 16
  /// How long an answer is waited for.
  static let patience = Duration.seconds(5)

  private let thread: DiskThread
  private let waiting = Mutex(ShareCount<[UInt8]>())
  private let patience: Duration

  /// - Throws: where there is no thread for it.
  init(patience: Duration = DiskQuestions.patience) throws(FileProblem) {
    thread = try DiskThread("roost-questions")
    self.patience = patience
  }

  /// - Parameters:
  ///   - room: its name.
  ///   - body: what may take long; on the disk's thread. One that is due when it isn't waited for any longer isn't begun.
  /// - Returns: nil where the disk gives no answer in time, or too many wait for one already.
  func answer<Answer: Sendable>(of room: String, _ body: @escaping @Sendable () -> Answer) async -> Answer? {
    let room = Array(room.utf8)
    guard waiting.withLock({ $0.take(room, most: Self.most, share: Self.mostOfRoom) }) else { return nil }
    let reply = Reply<Answer>()
    thread.perform { [self] in
      if !reply.isGiven { reply.give(body()) }
      waiting.withLock { $0.giveBack(room) }
    }
    let timer = Task { [patience] in
      try await Task.sleep(for: patience)
      reply.give(nil)
    }
    defer { timer.cancel() }
    return await reply.value
  }

  func stop(within patience: Duration) -> Bool { thread.stop(within: patience) }
}

/// An answer that one waits for. The first that is given counts.
private final class Reply<Answer: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Answer?, Never>)
    case given(Answer?)
  }

  private let state = Mutex(State.open)

  var isGiven: Bool { state.withLock { if case .given = $0 { true } else { false } } }

  var value: Answer? {
    get async {
      await withCheckedContinuation { continuation in
        let given: Answer?? = state.withLock { state in
          if case .given(let answer) = state { return .some(answer) }
          state = .awaited(continuation)
          return nil
        }
        if let given { continuation.resume(returning: given) }
      }
    }
  }

  func give(_ answer: Answer?) {
    let continuation: CheckedContinuation<Answer?, Never>? = state.withLock { state in
      switch state {
      case .open:
        state = .given(answer)
        return nil
      case .awaited(let continuation):
        state = .given(answer)
        return continuation
      case .given: return nil
      }
    }
    continuation?.resume(returning: answer)
  }
}
