internal import AccessTokens

/// Who comes in, as the token has it.
struct Newcomer: Sendable {
  var identity: String
  var name: String?
  var metadata: String?
  var attributes: [String: String] = [:]
  var grants: Grants
  /// When its token counts as issued, seconds since 1970; nil: not known.
  var issued: Int?
  /// A transport that it has from the beginning; nil: it opens them itself.
  var opens: TransportRole? = .both
  /// It has a socket, whose end ends the session after the grace; else the session goes with its last transport.
  var isAttended = true
  /// By which it is there, as those who oversee the room have it from before; nil: by none yet, or it isn't overseen.
  var stay: String?
  /// It needn't wait until a host lets it in: its token says so, or a host has.
  var isAdmitted = false
  /// It needn't wait while that invitation holds, by which it came in before; nil: by none.
  var admittedBy: InvitationID?
  /// For how long its front door waits for that; nil: it can't.
  var patience: Duration?
  /// By which the server has given out its token: it comes in while that holds. nil: by none.
  var invitation: InvitationID?

  /// Whether it comes by another stay than the participant of its identity is there by, which is over then.
  func hasMoved(from member: Member) -> Bool {
    guard let stay, let known = member.stay.id else { return false }
    return stay != known
  }
}
