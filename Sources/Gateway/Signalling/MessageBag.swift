internal import Rooms

/// Messages from others for a participant that is away, or that may not have got them; beyond the bounds the oldest are left
/// out.
struct MessageBag {
  static let messageLimit = 256
  /// Of their payloads, as base64.
  static let byteLimit = 1_048_576

  private(set) var messages: [DataMessage] = []
  /// How many of the first have been sent.
  private var sent = 0
  private var bytes = 0

  mutating func put(_ message: DataMessage) {
    messages.append(message)
    bytes += message.encodedSize
    while messages.count > Self.messageLimit || bytes > Self.byteLimit { drop(1) }
  }

  /// Of the payloads that would be sent for another time.
  var sentBytes: Int { messages.prefix(sent).reduce(0) { $0 + $1.encodedSize } }

  /// All that is here has been sent.
  mutating func noteSent() { sent = messages.count }

  /// What was sent has arrived.
  mutating func forgetSent() { drop(sent) }

  private mutating func drop(_ count: Int) {
    bytes -= messages.prefix(count).reduce(0) { $0 + $1.encodedSize }
    messages.removeFirst(count)
    sent = max(0, sent - count)
  }
}
