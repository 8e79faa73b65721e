internal import Polling

/// What tasks ask of the server's thread.
enum Command: Sendable {
  case respond(UInt64, HTTPResponse)
  case decide(UInt64, UpgradeDecision)
  case webSocket(UInt64, WebSocketCommand)
  /// There is more for the answers that wait for it.
  case look(HTTPBodySignal)
  case report(@Sendable (HTTPReport) -> Void)
  /// Listen no more, finish what is under way.
  case drain
  /// Whatever is still under way ends now.
  case abort
}

enum WebSocketCommand: Sendable {
  /// - Parameter text: one whole message.
  case send(text: [UInt8])
  /// What waits is left unsaid.
  case drop
  case close(code: UInt16, reason: String, dropping: Bool)
  /// Its messages may be as long as any.
  case admit
}

/// Commands on their way to the server's thread, which waits on the eventfd that wakes it.
struct CommandBox: Sendable {
  private let box: Mailbox<Command>
  private let wakeup = Wakeup()

  init() { box = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() }) }

  /// Readable as long as commands wait.
  var descriptor: Int32 { wakeup.descriptor }

  /// The thread has ended: commands are dropped.
  func close() { box.close() }

  /// - Returns: false when the thread has ended.
  @discardableResult
  func post(_ command: Command) -> Bool { box.post(command) }

  func takeAll() -> [Command] {
    wakeup.clear()
    return box.take()
  }
}
