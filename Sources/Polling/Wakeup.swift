internal import CSystem
internal import Glibc

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

  /// After the wait that it ended.
  package func clear() {
    var value: UInt64 = 0
    read(descriptor, &value, 8)
  }
}
