public import Model

/// A session that waits to be let in, as hosts see it.
public struct WaiterBody: Record {
  public static let definition = "Waiter"
  public static let summary = "A session that waits to be let in, as the hosts of a room see it."

  public var id = ""
  public var identity = ""
  public var name: String?
  /// RFC 3339.
  public var since = ""
  public var until = ""
  /// In `waiting.ended`.
  public var reason: WaitingEndReason?

  public init() {}
  public init(
    id: String, identity: String, name: String? = nil, since: String, until: String,
    reason: WaitingEndReason? = nil
  ) {
    (self.id, self.identity, self.name) = (id, identity, name)
    (self.since, self.until, self.reason) = (since, until, reason)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text(Field("id", "For `admit`."), &id, .waiting)
    try coder.text(Field("identity", "The identity in its token."), &identity, .identity)
    try coder.text(Field("name", "To be shown, as text."), &name, .any)
    try coder.text(Field("since", "RFC 3339."), &since, .any)
    try coder.text(Field("until", "How long it may wait at most."), &until, .any)
    try coder.word(Field("reason", "In `waiting.ended`."), &reason)
  }
}

extension WaitingEndReason: Word {
  public static var definition: String? { "WaitingEndReason" }
  public static var summary: String { "Why a session waits no longer." }
}
