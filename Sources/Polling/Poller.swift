internal import CSystem
internal import Glibc
package import Model

/// What a thread waits on: an epoll set whose descriptors go by numbers of the owner's choice. It belongs to one thread.
package struct Poller: ~Copyable, @unchecked Sendable {
  private let descriptor: Int32
  private let events: UnsafeMutableBufferPointer<epoll_event>

  package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Interest(rawValue: EPOLLIN.rawValue)
    package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
    /// The far end has shut its side; reported without reading what came before.
    package static let farEndGone = Interest(rawValue: EPOLLRDHUP.rawValue)
    /// Reports each change once, not a state for as long as it lasts.
    package static let onceEach = Interest(rawValue: EPOLLET.rawValue)
    /// Reported without being asked for: an error, or both sides shut.
    package static let broken = Interest(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
  }

  package struct Event: Sendable {
    package var id: UInt64
    package var what: Interest
  }

  /// - Parameter capacity: events of one wait; further ones are reported by the next.
  /// - Returns: nil with `errno` set.
  package init?(capacity: Int = 256) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    events = .allocate(capacity: capacity)
    events.initialize(repeating: epoll_event())
  }

  deinit {
    close(descriptor)
    events.deallocate()
  }

  /// - Returns: whether it is watched now; otherwise `errno` is set.
  @discardableResult
  package borrowing func add(_ other: Int32, id: UInt64, _ interest: Interest) -> Bool {
    control(EPOLL_CTL_ADD, other, id, interest)
  }

  package borrowing func change(_ other: Int32, id: UInt64, _ interest: Interest) {
    _ = control(EPOLL_CTL_MOD, other, id, interest)
  }

  package borrowing func remove(_ other: Int32) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stillWatched) { return }
    #endif
    _ = control(EPOLL_CTL_DEL, other, 0, [])
  }

  private func control(_ operation: Int32, _ other: Int32, _ id: UInt64, _ interest: Interest) -> Bool {
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id))
    return epoll_ctl(descriptor, operation, other, &event) == 0
  }

  /// Waits for events until a moment: to the millisecond and never early, since waking early would only find nothing due.
  /// - Parameter atMost: of waiting, whatever `deadline` says.
  /// - Returns: how many events there are; the first ones of the subscript, until the next wait.
  package borrowing func wait(until deadline: Instant, now: Instant, atMost: Duration? = nil) -> Int {
    // Compared first: the distant past is further off than a difference can say.
    var left = deadline == .never ? Int64.max : deadline <= now ? 0 : deadline.nanoseconds &- now.nanoseconds
    if let atMost { left = min(left, atMost.wholeNanoseconds) }
    let timeout = left == .max ? -1 : Int32(clamping: left / 1_000_000 &+ (left % 1_000_000 > 0 ? 1 : 0))
    return Int(max(epoll_wait(descriptor, events.baseAddress, Int32(events.count), timeout), 0))
  }

  package subscript(index: Int) -> Event {
    Event(id: events[index].data.u64, what: Interest(rawValue: events[index].events))
  }
}
