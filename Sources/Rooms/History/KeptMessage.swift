public import Model

/// A message that was said before one has come.
public struct KeptMessage: Equatable, Sendable {
  /// nil: from one that is hidden, or from no participant.
  public let from: ParticipantID?
  /// As the sender was called then; it may have gone since.
  public let identity: String?
  public let name: String?
  public let topic: String
  public let payload: [UInt8]
  public let time: WallTime

  /// Bytes of it in JSON, about: the payload in base64, and who said it.
  var bytes: Int {
    DataMessage.encodedSize(payload) + 128 + topic.jsonBytes + (identity?.jsonBytes ?? 0)
      + (name?.jsonBytes ?? 0)
  }
}

/// What a room has kept, for one who comes.
public struct KeptMessages: Equatable, Sendable {
  /// The oldest first.
  public let messages: [KeptMessage]
  /// For the front doors; another one once anything has changed.
  public let wire: SharedText

  public static let none = KeptMessages(messages: [], wire: SharedText())
}
