internal import Gateway
internal import Model
internal import Synchronization

/// The server's end of one WebSocket: what it says waits with all others' for its carrier.
final class SimulatedSocket: TextSocket {
  let messages: AsyncStream<String>
  let remote: SocketAddress
  let number: Int
  private let continuation: AsyncStream<String>.Continuation
  private let outbox: SocketOutbox

  private struct State {
    var isClosed = false
    var heardClose = false
  }
  private let state = Mutex(State())

  init(number: Int, remote: SocketAddress, outbox: SocketOutbox) {
    self.number = number
    self.remote = remote
    self.outbox = outbox
    (messages, continuation) = AsyncStream.makeStream()
  }

  var heardClose: Bool { state.withLock { $0.heardClose } }

  func admit() {}

  @discardableResult
  func send(_ text: String) -> Bool {
    guard !state.withLock({ $0.isClosed }) else { return false }
    outbox.put(SocketOutbox.Entry(socket: number, content: .text(text)))
    return true
  }

  @discardableResult
  func sendOpening(_ text: String) -> Bool { send(text) }

  func close(code: UInt16, reason: String) {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { outbox.put(SocketOutbox.Entry(socket: number, content: .close(code))) }
  }

  // MARK: - The far end

  /// A message has come in.
  func receive(_ text: String) { continuation.yield(text) }

  /// The far end has gone.
  /// - Parameter inGoodOrder: by a close; else the connection broke.
  func hangUp(inGoodOrder: Bool) {
    state.withLock { state in
      state.heardClose = inGoodOrder && !state.isClosed
      state.isClosed = true
    }
    continuation.finish()
  }
}

/// What the server says on all its sockets, in order.
final class SocketOutbox: Sendable {
  struct Entry: Sendable {
    enum Content: Sendable {
      case text(String)
      case close(UInt16)
    }

    var socket: Int
    var content: Content
  }

  private let entries = Mutex<[Entry]>([])

  func put(_ entry: Entry) { entries.withLock { $0.append(entry) } }

  func take() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}
