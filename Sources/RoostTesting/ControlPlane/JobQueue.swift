internal import CJobs

/// Runs the tasks and actors of one thread one job after the other, in the order in which they became ready, when it is
/// told to: what ordinary Swift concurrency does then follows from what it is told alone.
///
/// Belongs to the thread that began it. `Task.yield` and `Task.sleep` go past it, to the pool of threads: who is to run
/// here waits by `VirtualPauses`.
package final class JobQueue {
  /// Jobs at one moment; more means that they keep each other busy.
  static let limit = 1_000_000

  private var jobs: [UnsafeMutableRawPointer] = []
  private var next = 0

  package init() {}

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

  package var isEmpty: Bool { next == jobs.count }

  /// Runs all that is ready, and what becomes ready by that.
  /// - Returns: false if there is no end to it.
  package func run() -> Bool {
    var count = 0
    while next < jobs.count {
      let job = jobs[next]
      next += 1
      jobs_run(job)
      count += 1
      if count > Self.limit { return false }
    }
    jobs.removeAll(keepingCapacity: true)
    next = 0
    return true
  }
}
