internal import HTTPServer
package import Model
internal import Signalling

/// A connection that carries text messages both ways.
package protocol TextSocket: Sendable {
  associatedtype Messages: AsyncSequence<String, Never> & Sendable
  var messages: Messages { get }
  var remote: SocketAddress { get }
  /// Whether the far end closed in good order, once it has ended; else it broke, or we closed it.
  var heardClose: Bool { get }
  /// - Returns: false once it is closing.
  @discardableResult func send(_ text: String) -> Bool
  /// As `send`, with what a session begins or goes on with: it has bounds of its own, and doesn't count among what waits
  /// for a slow client.
  @discardableResult func sendOpening(_ text: String) -> Bool
  /// Leaves unsaid what waits, for a client that has no more use for it.
  func drop()
  func close(code: UInt16, reason: String)
  /// The client is known: from now on its messages may be as long as the server takes them.
  func admit()
}

extension TextSocket {
  func close(_ code: SignallingCloseCode) { close(code: code.rawValue, reason: "\(code)") }
  /// Where nothing waits.
  package func drop() {}
}

extension WebSocket: TextSocket {}
