package import Synchronization

/// Messages for one thread from others: one-way, in order, bounded.
///
/// Only the first post of a batch wakes the owner, so a burst costs one system call; and none while the owner is known to be
/// awake. An owner that says so does it around its wait:
///
///     let mayWait = box.beginWait()       false: something came since it last took
///     …wait, for no time unless mayWait…
///     if box.endWait() { …box.take()… }
///
/// One that says nothing is woken by the first post after each `take`.
package final class Mailbox<Message: Sendable>: Sendable {
  // Inlinable throughout: across modules a generic that isn't specialised is many times slower.
  @usableFromInline struct Box {
    @usableFromInline var messages: [Message] = []
    @usableFromInline var isClosed = false
    @inlinable init() {}
  }

  /// What the owner does, as those who post know it.
  @usableFromInline enum Owner {
    /// It looks only when it is woken.
    @inlinable static var waits: UInt8 { 0 }
    /// It looks before it waits again.
    @inlinable static var isAwake: UInt8 { 1 }
    /// Something came since it last looked; it has been woken if it waited.
    @inlinable static var isAwaited: UInt8 { 2 }
  }

  @usableFromInline let box = Mutex(Box())
  @usableFromInline let owner = Atomic<UInt8>(Owner.waits)
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

  /// Wakes the owner where it waits, unless it was woken already and hasn't looked yet.
  @inlinable package func poke() {
    if owner.exchange(Owner.isAwaited, ordering: .sequentiallyConsistent) == Owner.waits { wake() }
  }

  /// The owner is about to wait.
  /// - Returns: false when something came since it last looked: it mustn't wait for a wake that won't come.
  @inlinable package func beginWait() -> Bool {
    let found = owner.compareExchange(
      expected: Owner.isAwake, desired: Owner.waits, ordering: .sequentiallyConsistent)
    return found.original != Owner.isAwaited
  }

  /// The owner has waited, whatever ended it.
  /// - Returns: whether something came, to be taken now.
  @inlinable package func endWait() -> Bool {
    owner.exchange(Owner.isAwake, ordering: .sequentiallyConsistent) == Owner.isAwaited
  }

  /// Takes everything that waits, in order; on the owner's thread, after it was woken.
  @inlinable package func take() -> [Message] {
    // What is posted from here on wakes again. An owner that is awake said so itself.
    _ = owner.compareExchange(
      expected: Owner.isAwaited, desired: Owner.waits, ordering: .sequentiallyConsistent)
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
