internal import Polling
internal import Synchronization

/// A thread for what a disk may take long over. It does one job after the other, in the order in which they are given to it.
package final class DiskThread: Sendable {
  package typealias Job = @Sendable () -> Void

  private let jobs: Mailbox<Job>
  private let wakeup = Wakeup()
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<WorkThread?>(nil)

  /// - Parameter name: at most 15 bytes, as the system shows it.
  /// - Throws: where there is no thread for it.
  package init(_ name: String = "roost-disk") throws(FileProblem) {
    // Bounded by those who give: of a recording one manifest waits, of a file one sync, of questions `DiskQuestions.most`.
    jobs = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
    let started = try WorkThread(name) { [self] in loop() }
    thread.withLock { $0 = started }
  }

  /// Has it done. Behind `stop` the caller does it itself.
  package func perform(_ job: @escaping Job) { if !jobs.post(job) { job() } }

  /// Waits until everything that was given to it is done, at most so long.
  /// - Returns: whether it is; else the thread goes on, as far as the disk lets it.
  @discardableResult
  package func stop(within patience: Duration = .seconds(60)) -> Bool {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    return thread.withLock({ $0.take() })?.join(within: patience) ?? true
  }

  private func loop() {
    while !stopping.load(ordering: .sequentiallyConsistent) {
      wakeup.wait(atMost: .seconds(60))
      for job in jobs.take() { job() }
    }
    for job in jobs.close() { job() }
  }
}
