/// `roost`: what a token says that LiveKit's layout has no place for.
public struct RoostClaim: Equatable, Sendable {
  /// `admitted`: its session needn't wait where a room asks its hosts whom to let in.
  public var isAdmitted: Bool
  /// `invitation`: the id of the one by which the server itself has given it out. The first join by it asks whether that still holds.
  public var invitation: String?
  /// `admittedBy`: in a renewed token the id of the invitation that spared its participant the wait: its session needn't wait while that
  /// holds, and comes in as any other once it doesn't.
  public var admittedBy: String?

  public init(isAdmitted: Bool = false, invitation: String? = nil, admittedBy: String? = nil) {
    self.isAdmitted = isAdmitted
    self.invitation = invitation
    self.admittedBy = admittedBy
  }

  /// As a renewed token has it: who has come in by an invitation stays, whatever becomes of that; but what it spares one it spares as
  /// long as it holds.
  var renewed: RoostClaim {
    guard let invitation else { return self }
    return isAdmitted ? RoostClaim(admittedBy: invitation) : RoostClaim()
  }

  /// Its members, as a token has them.
  var claims: [String: StrictJSON] {
    var members: [String: StrictJSON] = [:]
    if isAdmitted { members["admitted"] = .boolean(true) }
    if let invitation { members["invitation"] = .string(invitation) }
    if let admittedBy { members["admittedBy"] = .string(admittedBy) }
    return members
  }
}

extension AccessToken {
  /// Its session needn't wait until a host lets it in. In a call's room those are who are of the call.
  public var isAdmitted: Bool { roost.isAdmitted || call != nil }
}
