internal import CSystem
internal import Glibc
internal import Synchronization

/// What tasks ask of the server's thread.
enum Command: Sendable {
  case respond(UInt64, HTTPResponse)
  case decide(UInt64, UpgradeDecision)
  /// - Parameter text: one whole message.
  case send(UInt64, text: [UInt8])
  case close(UInt64, code: UInt16, reason: String, dropping: Bool)
  /// Its messages may be as long as any.
  case admit(UInt64)
  case report(@Sendable (HTTPReport) -> Void)
  /// Listen no more, finish what is under way.
  case drain
  /// Whatever is still under way ends now.
  case abort
}

/// Commands on their way to the server's thread, which is woken once for as many as are there.
final class Mailbox: Sendable {
  private struct State {
    var commands: [Command] = []
    /// An eventfd; -1 once the thread has ended, when commands are dropped.
    var descriptor: Int32
  }

  private let state: Mutex<State>

  init() { state = Mutex(State(descriptor: eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)))) }

  deinit { close() }

  /// Readable as long as commands wait.
  var descriptor: Int32 { state.withLock { $0.descriptor } }

  func close() {
    state.withLock {
      if $0.descriptor >= 0 { Glibc.close($0.descriptor) }
      $0.descriptor = -1
      $0.commands = []
    }
  }

  /// - Returns: false when the thread has ended.
  @discardableResult
  func post(_ command: Command) -> Bool {
    state.withLock { state in
      guard state.descriptor >= 0 else { return false }
      state.commands.append(command)
      if state.commands.count == 1 { eventfd_write(state.descriptor, 1) }
      return true
    }
  }

  func takeAll() -> [Command] {
    state.withLock { state in
      var count: eventfd_t = 0
      if !state.commands.isEmpty { eventfd_read(state.descriptor, &count) }
      defer { state.commands = [] }
      return state.commands
    }
  }
}
