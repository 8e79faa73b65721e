/// A message of before one came.
public struct KeptMessageBody: Record {
  public static let definition = "KeptMessage"
  public static let summary = "A message that was said before one has come."

  /// The sender's id; nil: one that is hidden, or no participant.
  public var from: String?
  /// As the sender was called then.
  public var identity: String?
  public var name: String?
  public var topic = ""
  public var payload: [UInt8] = []
  /// RFC 3339.
  public var time = ""

  public init() {}
  public init(
    from: String?, identity: String?, name: String?, topic: String, payload: [UInt8], time: String
  ) {
    (self.from, self.identity, self.name) = (from, identity, name)
    (self.topic, self.payload, self.time) = (topic, payload, time)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.nullableText("from", &from, .participant)
    try coder.text(Field("identity", "Its sender's, who may be in no longer."), &identity, .identity)
    try coder.text(Field("name", "As its sender was called then."), &name, .any)
    try coder.text("topic", &topic, .any)
    try coder.bytes(Field("payload", "Base64."), &payload, limit: nil)
    try coder.text(Field("time", "RFC 3339."), &time, .any)
  }
}
