internal import Synchronization

/// Messages for one worker from other threads: one-way, in order, bounded.
///
/// Only the first post of a batch wakes the worker, so a burst costs one system call.
final class Mailbox<Message: Sendable>: Sendable {
  private struct Box {
    var messages: [Message] = []
    var isClosed = false
  }

  private let box = Mutex(Box())
  private let armed = Atomic<Bool>(false)
  private let limit: Int
  private let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - limit: the most messages that wait; further ones are refused.
  ///   - wake: tells the owner that something is here; called on the poster's thread.
  init(limit: Int, wake: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.wake = wake
  }

  /// - Returns: false when the box is full or closed. `force` is for what must not be lost and is bounded elsewhere.
  func post(_ message: Message, force: Bool = false) -> Bool {
    let taken = box.withLock { box in
      guard !box.isClosed, force || box.messages.count < limit else { return false }
      box.messages.append(message)
      return true
    }
    if taken { poke() }
    return taken
  }

  /// Wakes the owner, unless it was woken already and hasn't looked yet.
  func poke() {
    if !armed.exchange(true, ordering: .sequentiallyConsistent) { wake() }
  }

  /// Takes everything that waits, in order; on the owner's thread, after it was woken.
  func take() -> [Message] {
    armed.store(false, ordering: .sequentiallyConsistent)
    return box.withLock { box in
      let all = box.messages
      box.messages.removeAll(keepingCapacity: all.count <= 1_024)
      return all
    }
  }

  /// The owner is gone: further messages are refused.
  /// - Returns: those that it did not take.
  func close() -> [Message] {
    box.withLock { box in
      box.isClosed = true
      defer { box.messages = [] }
      return box.messages
    }
  }
}
