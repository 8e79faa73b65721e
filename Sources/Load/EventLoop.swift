internal import CSystem
internal import Glibc
internal import Model

/// What the load's thread waits on: sockets, by numbers of the owner's choice.
struct EventLoop: ~Copyable {
  private let descriptor: Int32
  private let events: UnsafeMutableBufferPointer<epoll_event>

  struct Event {
    var id: UInt64
    var isWritable: Bool
  }

  init() throws(LoadError) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { throw LoadError("epoll_create1: \(String(cString: strerror(errno)))") }
    events = .allocate(capacity: 256)
    events.initialize(repeating: epoll_event())
  }

  deinit {
    close(descriptor)
    events.deallocate()
  }

  borrowing func add(_ other: Int32, id: UInt64) { control(EPOLL_CTL_ADD, other, id, EPOLLIN.rawValue) }
  borrowing func watchWriting(_ other: Int32, id: UInt64, _ watches: Bool) {
    control(EPOLL_CTL_MOD, other, id, EPOLLIN.rawValue | (watches ? EPOLLOUT.rawValue : 0))
  }
  borrowing func remove(_ other: Int32) { control(EPOLL_CTL_DEL, other, 0, 0) }

  private func control(_ operation: Int32, _ other: Int32, _ id: UInt64, _ interest: UInt32) {
    var event = epoll_event(events: interest, data: epoll_data_t(u64: id))
    epoll_ctl(descriptor, operation, other, &event)
  }

  /// Waits for events until `deadline`, to the millisecond.
  borrowing func wait(until deadline: Instant, now: Instant) -> [Event] {
    let left = max(deadline.nanoseconds &- now.nanoseconds, 0)
    let milliseconds = deadline == .never ? 1_000 : Int32(min((left &+ 999_999) / 1_000_000, 1_000))
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
    return events.prefix(Int(max(count, 0))).map {
      Event(id: $0.data.u64, isWritable: $0.events & EPOLLOUT.rawValue != 0)
    }
  }
}

/// Why there is no load.
public struct LoadError: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
