internal import CCurl
internal import Glibc
internal import Model
internal import Polling

/// The sockets on which libcurl waits, and the moment at which it wants to go on: an epoll set, so that what is silent costs
/// nothing, however much of it there is.
///
/// Unchecked: it belongs to the thread that uses the multi interface.
final class MultiSockets: @unchecked Sendable {
  private let poller: Poller?
  private let wakeup: Wakeup
  private var watched: Set<Int32> = []
  private var due = Instant.never

  /// - Parameter wakeup: ends a wait.
  init(wakeup: Wakeup) {
    self.wakeup = wakeup
    guard wakeup.descriptor >= 0, let opened = Poller() else {
      poller = nil
      return
    }
    opened.add(wakeup.descriptor, id: UInt64(wakeup.descriptor), .readable)
    poller = consume opened
  }

  /// Whether the system had a descriptor left for it.
  var isOpen: Bool {
    switch poller {
    case .some: true
    case .none: false
    }
  }

  /// Has libcurl tell this one what it waits for.
  func attach(to multi: UnsafeMutableRawPointer) {
    let owner = Unmanaged.passUnretained(self).toOpaque()
    _ = rc_multi_set_socket_receiver(
      multi, { _, socket, wanted, owner, _ in MultiSockets.of(owner).watch(socket, wanted) }, owner)
    _ = rc_multi_set_timer_receiver(
      multi, { _, milliseconds, owner in MultiSockets.of(owner).setTimer(milliseconds) }, owner)
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> MultiSockets {
    guard let owner else { preconditionFailure("libcurl lost its user data") }
    return Unmanaged<MultiSockets>.fromOpaque(owner).takeUnretainedValue()
  }

  private func watch(_ socket: Int32, _ wanted: Int32) -> Int32 {
    switch poller {
    case .none: return 0
    case .some(let poller):
      guard wanted != CURL_POLL_REMOVE else {
        if watched.remove(socket) != nil { poller.remove(socket) }
        return 0
      }
      var interest: Poller.Interest = []
      if wanted & CURL_POLL_IN != 0 { interest.insert(.readable) }
      if wanted & CURL_POLL_OUT != 0 { interest.insert(.writable) }
      if watched.insert(socket).inserted, poller.add(socket, id: UInt64(socket), interest) { return 0 }
      poller.change(socket, id: UInt64(socket), interest)
      return 0
    }
  }

  private func setTimer(_ milliseconds: Int) -> Int32 {
    due = milliseconds < 0 ? .never : Self.now().advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)
    return 0
  }

  /// Waits until something can go on, or is woken, and has libcurl go on with it.
  func advance(_ multi: UnsafeMutableRawPointer, milliseconds: Int) {
    switch poller {
    case .none: return
    case .some(let poller):
      let began = Self.now()
      let end = began.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)
      for index in 0..<poller.wait(until: min(end, due), now: began) {
        let event = poller[index]
        guard event.id != UInt64(wakeup.descriptor) else {
          wakeup.clear()
          continue
        }
        var ready: Int32 = 0
        if event.what.contains(.readable) { ready |= CURL_CSELECT_IN }
        if event.what.contains(.writable) { ready |= CURL_CSELECT_OUT }
        // Of none libcurl looks itself.
        if !event.what.isDisjoint(with: .broken) { ready = 0 }
        var running: Int32 = 0
        curl_multi_socket_action(multi, Int32(event.id), ready, &running)
      }
      guard due <= Self.now() else { return }
      // libcurl may set the next meanwhile.
      due = .never
      _ = rc_multi_pass_time(multi)
    }
  }

  private static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
