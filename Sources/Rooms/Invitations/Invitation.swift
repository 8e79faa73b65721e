public import AccessTokens

/// What lets those in who have its secret, each under an identity of its own, for as long as its room goes on and no longer than it says.
public struct Invitation: Equatable, Sendable {
  /// The shortest and the longest that one holds: a minute, and a week. Seconds.
  public static let lifetimes = 60...604_800
  /// How often one is opened at most.
  public static let mostUses = 1_000

  public let id: InvitationID
  /// The room, by its name, and as the one that it was then.
  public let room: String
  public let life: RoomID
  public let terms: Terms
  /// Seconds since 1970, by the clock that tokens go by.
  public let created: Int
  public let expires: Int
  /// How often it was opened.
  public internal(set) var opened = 0

  /// What is asked of it.
  public struct Terms: Equatable, Sendable {
    /// Of the secret: SHA-256, by which it is known. The secret itself is nowhere.
    public var code: [UInt8]
    /// What each may do who comes by it: no more than who made it.
    public var grants: Grants
    /// Who comes by it needn't wait where the room asks its hosts.
    public var isAdmitted: Bool
    public var uses: Int
    /// The key that has signed the token of who made it, and signs those that it gives out.
    public var apiKey: String
    /// Who made it: once that identity is removed from the room, it opens nothing. nil: a token of no participant.
    public var inviter: String?
    /// When the token of who made it counts as issued.
    public var inviterIssued: Int?

    public init(
      code: [UInt8], grants: Grants, isAdmitted: Bool, uses: Int, apiKey: String, inviter: String?,
      inviterIssued: Int?
    ) {
      self.code = code
      self.grants = grants
      self.isAdmitted = isAdmitted
      self.uses = uses
      self.apiKey = apiKey
      self.inviter = inviter
      self.inviterIssued = inviterIssued
    }
  }
}
