internal import Glibc
internal import Synchronization

/// Signals as bytes in a pipe, so that none is lost between the moment that they are asked for and the moment that
/// they are read: Dispatch's own source for signals registers on another thread, and what comes before is ignored.
package enum SignalPipe {
  /// Where the handler writes; -1 before there is a pipe.
  private static let writing = Atomic<Int32>(-1)

  /// Returns the end to read from, which doesn't block; each byte is the number of a signal that came.
  package static func open(for numbers: [Int32]) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      preconditionFailure("no pipe for signals: \(String(cString: strerror(errno)))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    writing.store(ends[1], ordering: .releasing)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      // Only what signal-safety(7) allows; the code that it interrupts keeps its errno.
      let kept = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = write(SignalPipe.writing.load(ordering: .acquiring), &byte, 1)
      errno = kept
    }
    action.sa_flags = SA_RESTART
    for number in numbers {
      var before = sigaction()
      // What nohup has ignored stays so: the process outlives its terminal.
      if number == SIGHUP, sigaction(number, nil, &before) == 0, isIgnored(before) { continue }
      sigaction(number, &action, nil)
    }
    return ends[0]
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
  }
}
