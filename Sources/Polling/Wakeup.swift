internal import CSystem
internal import Glibc
internal import Model

/// An eventfd by which other threads end a thread's wait; closed with its last user.
package final class Wakeup: Sendable {
  /// Negative where the system has none left: adding it to a poller fails then.
  package let descriptor: Int32

  package init() { descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package func signal() {
    var one: UInt64 = 1
    write(descriptor, &one, 8)
  }

  /// Waits for a signal, for at most so long: much finer than an epoll set's milliseconds.
  package func wait(atMost span: Duration) {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let nanoseconds = max(span.wholeNanoseconds, 0)
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    if rs_ppoll(&event, 1, &time, nil) > 0 { clear() }
  }

  /// After the wait that it ended.
  package func clear() {
    var value: UInt64 = 0
    read(descriptor, &value, 8)
  }
}
