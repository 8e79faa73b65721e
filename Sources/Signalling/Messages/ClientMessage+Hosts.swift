/// Hands, and what hosts say.
extension ClientMessage {
  /// Raises one's hand or lowers it; a host lowers another's.
  public struct Hand: Message {
    public static let type = "hand"
    public static let definition = "RaiseHand"
    public static let summary = "Raises one's hand or lowers it; a host lowers another's."

    public var raised = false
    /// nil: one's own.
    public var participant: String?

    public init() {}
    public init(raised: Bool, participant: String? = nil) {
      (self.raised, self.participant) = (raised, participant)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.flag("raised", &raised)
      try coder.text(
        Field("participant", "Whose hand a host lowers, by its id; absent: one's own."), &participant,
        .from1(to: 64, "a participant's id"))
    }
  }

  /// What becomes of one that waits.
  public struct Admit: Message {
    public static let type = "admit"
    public static let definition = "Admit"
    public static let summary = "A host lets one in that waits, or refuses it."

    /// Its id.
    public var waiting = ""
    public var allowed = true

    public init() {}
    public init(waiting: String, allowed: Bool = true) { (self.waiting, self.allowed) = (waiting, allowed) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("waiting", "Its id."), &waiting, .from1(to: 64, "an id of one that waits"))
      try coder.flag(
        Field(
          "allowed", "False refuses it, which removes its identity unless that is in by another session."),
        &allowed, or: true)
    }
  }
}
