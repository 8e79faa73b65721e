internal import Model
internal import Polling

/// A thread that does what is posted to it, in order, and what is due beside. Ends when it is closed or its owner is gone.
final class WorkThread<Order: Sendable>: Sendable {
  /// What the thread owns: made on it, and never seen by another.
  struct Work {
    var take: (Order) -> Void
    /// Does what is due.
    /// - Returns: when something is due next.
    var poll: () -> Instant = { .never }
  }

  private let box: Mailbox<Order?>
  private let wakeup: Wakeup

  /// - Parameters:
  ///   - limit: orders that wait, at most.
  ///   - now: the clock that `poll` goes by.
  init(
    limit: Int, now: @escaping @Sendable () -> Instant, _ make: @escaping @Sendable () -> Work
  ) throws(LoadError) {
    let wakeup = Wakeup()
    guard wakeup.descriptor >= 0 else { throw LoadError.system("eventfd") }
    self.wakeup = wakeup
    let box = Mailbox<Order?>(limit: limit, wake: { wakeup.signal() })
    self.box = box
    try LoadThread.start {
      let work = make()
      while true {
        let due = work.poll()
        let left = due == .never ? Self.longestWait : max(due.nanoseconds &- now().nanoseconds, 0)
        wakeup.wait(atMost: .nanoseconds(min(left, Self.longestWait)))
        for order in box.take() {
          guard let order else { return }
          work.take(order)
        }
      }
    }
  }

  private static var longestWait: Int64 { 1_000_000_000 }

  /// - Returns: false where too much waits already.
  @discardableResult
  func post(_ order: Order) -> Bool { box.post(order) }

  /// Ends the thread once it has done what was posted before.
  func stop() { box.post(nil, force: true) }

  deinit { stop() }
}
