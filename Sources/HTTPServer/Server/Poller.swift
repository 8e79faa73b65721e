internal import CSystem
internal import Glibc
internal import Model

/// An epoll set whose descriptors go by numbers of the owner's choice.
struct Poller: ~Copyable {
  private let descriptor: Int32
  private let events: UnsafeMutableBufferPointer<epoll_event>

  struct Interest: OptionSet {
    let rawValue: UInt32
    static let readable = Interest(rawValue: EPOLLIN.rawValue)
    static let writable = Interest(rawValue: EPOLLOUT.rawValue)
    /// The far end has shut its side; told without reading what came before.
    static let farEndGone = Interest(rawValue: EPOLLRDHUP.rawValue)
    /// Tells each change once, not a state for as long as it lasts.
    static let onceEach = Interest(rawValue: EPOLLET.rawValue)
    /// Told without being asked for: an error, or both sides shut.
    static let broken = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
  }

  struct Event {
    var id: UInt64
    var what: Interest
  }

  /// - Returns: nil with `errno` set.
  init?() {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    events = .allocate(capacity: 256)
    events.initialize(repeating: epoll_event())
  }

  deinit {
    close(descriptor)
    events.deallocate()
  }

  /// - Returns: whether it is watched now.
  @discardableResult
  borrowing func add(_ other: Int32, id: UInt64, _ interest: Interest) -> Bool {
    control(EPOLL_CTL_ADD, other, id, interest)
  }

  borrowing func change(_ other: Int32, id: UInt64, _ interest: Interest) {
    _ = control(EPOLL_CTL_MOD, other, id, interest)
  }

  borrowing func remove(_ other: Int32) { _ = control(EPOLL_CTL_DEL, other, 0, []) }

  private func control(_ operation: Int32, _ other: Int32, _ id: UInt64, _ interest: Interest) -> Bool {
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id))
    return epoll_ctl(descriptor, operation, other, &event) == 0
  }

  /// - Parameter until: to the millisecond, never early.
  borrowing func wait(until: Instant, now: Instant) -> [Event] {
    let nanoseconds = until == .never ? Int64.max : max((until - now).wholeNanoseconds, 0)
    let milliseconds = until == .never ? -1 : Int32(min((nanoseconds + 999_999) / 1_000_000, 60_000))
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
    return events.prefix(Int(max(count, 0))).map {
      Event(id: $0.data.u64, what: Interest(rawValue: $0.events))
    }
  }
}
