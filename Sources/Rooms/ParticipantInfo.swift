public import AccessTokens
public import Model

/// A participant as everybody in the room may see it.
public struct ParticipantInfo: Equatable, Sendable {
  public let id: ParticipantID
  public let identity: String
  public var name: String? { didSet { wire = SharedText() } }
  /// At most 64 KiB.
  public var metadata: String? { didSet { wire = SharedText() } }
  /// At most 256 pairs, at most 64 KiB together.
  public var attributes: [String: String] = [:] { didSet { wire = SharedText() } }
  public var permissions = Permissions() { didSet { wire = SharedText() } }
  public var tracks: [TrackInfo] { didSet { wire = SharedText() } }
  /// Since when its hand is raised; nil: it isn't.
  public var handRaised: WallTime? { didSet { wire = SharedText() } }
  /// For the front doors; another one once anything has changed.
  public private(set) var wire = SharedText()
}

/// A participant's names, without its state.
public struct ParticipantName: Equatable, Sendable {
  public let id: ParticipantID
  public let identity: String
  public let name: String?
}
