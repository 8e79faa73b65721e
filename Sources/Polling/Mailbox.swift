package import Synchronization

/// Messages for one thread from others: one-way, in order, bounded.
///
/// Only the first post of a batch wakes the worker, so a burst costs one system call.
package final class Mailbox<Message: Sendable>: Sendable {
  // Inlinable throughout: across modules a generic that isn't specialised is many times slower.
  @usableFromInline struct Box {
    @usableFromInline var messages: [Message] = []
    @usableFromInline var isClosed = false
    @inlinable init() {}
  }

  @usableFromInline let box = Mutex(Box())
  @usableFromInline let armed = Atomic<Bool>(false)
  @usableFromInline let limit: Int
  @usableFromInline let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - limit: the most messages that wait; further ones are refused.
  ///   - wake: tells the owner that something is here; called on the poster's thread.
  @inlinable package init(limit: Int, wake: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.wake = wake
  }

  /// - Returns: false when the box is full or closed. `force` is for what must not be lost and is bounded elsewhere.
  @discardableResult
  @inlinable package func post(_ message: Message, force: Bool = false) -> Bool {
    let taken = box.withLock { box in
      guard !box.isClosed, force || box.messages.count < limit else { return false }
      box.messages.append(message)
      return true
    }
    if taken { poke() }
    return taken
  }

  /// Wakes the owner, unless it was woken already and hasn't looked yet.
  @inlinable package func poke() {
    if !armed.exchange(true, ordering: .sequentiallyConsistent) { wake() }
  }

  /// Takes everything that waits, in order; on the owner's thread, after it was woken.
  @inlinable package func take() -> [Message] {
    armed.store(false, ordering: .sequentiallyConsistent)
    return box.withLock { box in
      let all = box.messages
      box.messages.removeAll(keepingCapacity: all.count <= 1_024)
      return all
    }
  }

  /// The owner is gone: further messages are refused.
  /// - Returns: those that it did not take.
  @discardableResult
  @inlinable package func close() -> [Message] {
    box.withLock { box in
      box.isClosed = true
      defer { box.messages = [] }
      return box.messages
    }
  }
}
