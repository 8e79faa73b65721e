internal import CSystem
internal import Glibc
internal import Polling
internal import Synchronization

/// A thread for what a disk may take long over. It does one job after the other, in the order in which they are given to it.
package final class DiskThread: Sendable {
  package typealias Job = @Sendable () -> Void

  private let jobs: Mailbox<Job>
  private let wakeup = Wakeup()
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<pthread_t?>(nil)

  /// - Throws: where there is no thread for it.
  package init() throws(FileProblem) {
    // Of a recording one manifest waits, of a file one sync, of a request one job; a disk that stands still lets requests pile up.
    jobs = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
    var handle = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&handle, nil, diskMain, context)
    guard code == 0 else {
      Unmanaged<DiskThread>.fromOpaque(context).release()
      throw FileProblem(code)
    }
    let started = handle
    thread.withLock { $0 = started }
  }

  /// Has it done. Behind `stop` the caller does it itself.
  package func perform(_ job: @escaping Job) { if !jobs.post(job) { job() } }

  /// What comes of it; the caller's thread is free meanwhile.
  package func answer<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      perform { continuation.resume(returning: body()) }
    }
  }

  /// Returns when everything that was given to it is done.
  package func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    if let handle = thread.withLock({ $0.take() }) { pthread_join(handle, nil) }
  }

  fileprivate func loop() {
    rs_setname(pthread_self(), "roost-disk")
    while !stopping.load(ordering: .sequentiallyConsistent) {
      wakeup.wait(atMost: .seconds(60))
      for job in jobs.take() { job() }
    }
    for job in jobs.close() { job() }
  }
}

/// Apart from any actor: C calls it on the new thread.
private func diskMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<DiskThread>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}
