import Dispatch
import Synchronization

/// Runs asynchronous work to its end on the thread that calls, job by job, so that a fuzzer sees all that it does and an
/// input does the same each time.
final class InlineExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let ready = DispatchSemaphore(value: 0)
  private let isDone = Atomic(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    ready.signal()
  }

  /// Returns when `work` has; tasks that it leaves behind go on elsewhere, or never.
  static func run(_ work: @escaping @Sendable () async -> Void) {
    let executor = InlineExecutor()
    Task(executorPreference: executor) {
      await work()
      executor.isDone.store(true, ordering: .releasing)
    }
    while !executor.isDone.load(ordering: .acquiring) {
      executor.ready.wait()
      let job = executor.jobs.withLock { $0.removeFirst() }
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
  }
}
