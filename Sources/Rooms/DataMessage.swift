/// A message from a participant to others.
public struct DataMessage: Equatable, Sendable {
  /// nil: from one that is hidden.
  public let from: ParticipantID?
  /// At most 16 KiB.
  public let payload: [UInt8]
  public let topic: String?
  /// May be left out where the receiver is slow.
  public let reliable: Bool
  /// For the front doors.
  public let wire = SharedText()

  /// Bytes of the payload in base64, by which messages are paid for and bounded.
  public var encodedSize: Int { Self.encodedSize(payload) }

  static func encodedSize(_ payload: [UInt8]) -> Int { (payload.count + 2) / 3 * 4 }
}
