internal import CSystem
internal import Glibc
internal import Model

/// What a worker's loop waits on: its sockets, and an eventfd by which others wake it.
final class Poller: Sendable {
  private let poller: Int32
  private let wakeup: Wakeup

  /// - Parameter sockets: descriptors; they stay the caller's.
  init(sockets: [Int32], wakeup: Wakeup) throws(SocketError) {
    let poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poller >= 0 else { throw SocketError("epoll_create1") }
    for descriptor in sockets + [wakeup.descriptor] {
      var event = epoll_event()
      event.events = EPOLLIN.rawValue
      event.data.fd = descriptor
      guard epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
        let error = SocketError("epoll_ctl")
        close(poller)
        throw error
      }
    }
    self.poller = poller
    self.wakeup = wakeup
  }

  deinit { close(poller) }

  /// Waits until a datagram is there, somebody woke us, or `deadline` has come.
  /// - Returns: whether a socket has something, and whether we were woken; of more than two at once the others are
  ///   reported next.
  func wait(until deadline: Instant, clock: Clock) -> (socket: Bool, woken: Bool) {
    var timeout: Int32 = -1
    if deadline != .never {
      let left = deadline.nanoseconds &- clock.now.nanoseconds
      // Up to the next millisecond: waking early would only find nothing due.
      timeout = left <= 0 ? 0 : Int32(clamping: (left &+ 999_999) / 1_000_000)
    }
    var events = (epoll_event(), epoll_event())
    let count = withUnsafeMutablePointer(to: &events) {
      $0.withMemoryRebound(to: epoll_event.self, capacity: 2) { epoll_wait(poller, $0, 2, timeout) }
    }
    var result = (socket: false, woken: false)
    if count > 0 { note(events.0, &result) }
    if count > 1 { note(events.1, &result) }
    return result
  }

  private func note(_ event: epoll_event, _ result: inout (socket: Bool, woken: Bool)) {
    if event.data.fd == wakeup.descriptor {
      wakeup.clear()
      result.woken = true
    } else {
      result.socket = true
    }
  }
}

/// An eventfd by which other threads end a worker's wait; closed with its last user.
final class Wakeup: Sendable {
  let descriptor: Int32

  init() throws(SocketError) {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    guard descriptor >= 0 else { throw SocketError("eventfd") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func signal() {
    var one: UInt64 = 1
    write(descriptor, &one, 8)
  }

  /// After the wait that it ended.
  func clear() {
    var value: UInt64 = 0
    read(descriptor, &value, 8)
  }
}
