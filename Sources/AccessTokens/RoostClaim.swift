/// `roost`: what a token says that LiveKit's layout has no place for.
public struct RoostClaim: Equatable, Sendable {
  /// `admitted`: its session needn't wait where a room asks its hosts whom to let in.
  public var isAdmitted: Bool
  /// `invitation`: the id of the one by which the server itself has given it out. The first join by it asks whether that still holds.
  public var invitation: String?

  public init(isAdmitted: Bool = false, invitation: String? = nil) {
    self.isAdmitted = isAdmitted
    self.invitation = invitation
  }

  /// Its members, as a token has them.
  var claims: [String: StrictJSON] {
    var members: [String: StrictJSON] = [:]
    if isAdmitted { members["admitted"] = .boolean(true) }
    if let invitation { members["invitation"] = .string(invitation) }
    return members
  }
}

extension AccessToken {
  /// Its session needn't wait until a host lets it in. In a call's room those are who are of the call.
  public var isAdmitted: Bool { roost.isAdmitted || call != nil }
}
