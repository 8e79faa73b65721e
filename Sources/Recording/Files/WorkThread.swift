internal import CSystem
internal import Glibc
internal import Model
internal import Synchronization

/// A thread that is waited for at its end, but not for ever: a disk that stands still holds whatever writes to it.
final class WorkThread: Sendable {
  private let handle = Mutex<pthread_t?>(nil)
  private let name: String
  private let body: @Sendable () -> Void

  /// - Parameters:
  ///   - name: at most 15 bytes, as the system shows it.
  ///   - body: what it does, once.
  /// - Throws: where there is no thread for it.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(FileProblem) {
    self.name = name
    self.body = body
    var started = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&started, nil, threadMain, context)
    guard code == 0 else {
      Unmanaged<WorkThread>.fromOpaque(context).release()
      throw FileProblem(code)
    }
    let thread = started
    handle.withLock { $0 = thread }
  }

  /// Waits for its end, at most so long; then it is left to itself.
  /// - Returns: whether it has ended.
  func join(within patience: Duration) -> Bool {
    guard let thread = handle.withLock({ $0.take() }) else { return true }
    var moment = timespec()
    clock_gettime(CLOCK_MONOTONIC, &moment)
    let nanoseconds = moment.tv_nsec + Int(patience.wholeNanoseconds)
    moment.tv_sec += nanoseconds / 1_000_000_000
    moment.tv_nsec = nanoseconds % 1_000_000_000
    if rs_clockjoin(thread, nil, CLOCK_MONOTONIC, &moment) == 0 { return true }
    pthread_detach(thread)
    return false
  }

  fileprivate func run() {
    rs_setname(pthread_self(), name)
    body()
  }
}

/// Apart from any actor: C calls it on the new thread.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<WorkThread>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
