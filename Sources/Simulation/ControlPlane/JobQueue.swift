internal import CJobs
package import Model

/// Runs the tasks and actors of one thread one job after the other, when it is told to: what ordinary Swift concurrency
/// does then follows from what it is told alone.
///
/// Of the jobs that are ready it runs any, as a pool of threads would, and a seed says which: who relies on an order that
/// Swift doesn't promise is found out, by a seed that shows it again.
///
/// Belongs to the thread that began it. `Task.yield` and `Task.sleep` go past it, to the pool of threads: who is to run
/// here waits by `VirtualPauses`.
package final class JobQueue {
  /// Jobs at one moment; more means that they keep each other busy.
  static let limit = 1_000_000

  /// Ready, in no order.
  private var jobs: [UnsafeMutableRawPointer] = []
  private var random: RandomSource

  package init(random: RandomSource) { self.random = random }

  /// How often there was a choice.
  private(set) var reordered = 0

  /// Takes the thread's jobs from here on.
  package func begin() {
    jobs_begin(
      { context, job in
        guard let context, let job else { return }
        Unmanaged<JobQueue>.fromOpaque(context).takeUnretainedValue().jobs.append(job)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The thread's jobs go where others' go.
  package func end() { jobs_end() }

  package var isEmpty: Bool { jobs.isEmpty }

  /// Runs all that is ready, and what becomes ready by that.
  /// - Returns: false if there is no end to it.
  package func run() -> Bool {
    var count = 0
    while !jobs.isEmpty {
      if jobs.count > 1 {
        jobs.swapAt(Int(random.next() % UInt64(jobs.count)), jobs.count - 1)
        reordered += 1
      }
      jobs_run(jobs.removeLast())
      count += 1
      if count > Self.limit { return false }
    }
    return true
  }
}
