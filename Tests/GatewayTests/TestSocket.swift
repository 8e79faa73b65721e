import Model
import Synchronization

@testable import Gateway

/// The far end of a session, in memory.
final class TestSocket: TextSocket {
  let remote = SocketAddress(ipv4: 192, 0, 2, 1, port: 5)
  let messages: AsyncStream<String>
  private let incoming: AsyncStream<String>.Continuation
  private let outgoing = AsyncStream<String>.makeStream()
  private let closing = Mutex<UInt16?>(nil)
  /// Messages that don't count among what waits.
  let opening = Mutex(0)
  /// How many messages had been sent when those that waited were dropped.
  let dropped = Mutex<Int?>(nil)
  private let count = Mutex(0)
  /// Texts that were passed to `send` after the close, and are not sent.
  let unsent = Mutex<[String]>([])
  private let farewell = Mutex(false)
  var heardClose: Bool { farewell.withLock { $0 } }

  init() { (messages, incoming) = AsyncStream<String>.makeStream() }

  func admit() {}

  func send(_ text: String) -> Bool {
    guard closing.withLock({ $0 }) == nil else {
      unsent.withLock { $0.append(text) }
      return false
    }
    outgoing.continuation.yield(text)
    count.withLock { $0 += 1 }
    return true
  }

  func drop() { dropped.withLock { $0 = count.withLock { $0 } } }

  func sendOpening(_ text: String) -> Bool {
    opening.withLock { $0 += 1 }
    return send(text)
  }

  func close(code: UInt16, reason: String) {
    closing.withLock { if $0 == nil { $0 = code } }
    outgoing.continuation.finish()
    incoming.finish()
  }

  // The client's side.
  var closeCode: UInt16? { closing.withLock { $0 } }
  var sent: AsyncStream<String> { outgoing.stream }
  func say(_ text: String) { incoming.yield(text) }
  func hangUp(inGoodOrder: Bool = false) {
    farewell.withLock { $0 = inGoodOrder }
    incoming.finish()
  }
}
