public import AccessTokens
public import Model

/// A track as everybody in the room may see it.
public struct TrackInfo: Equatable, Sendable {
  public let id: TrackID
  public let kind: MediaKind
  public let source: TrackSource
  public let name: String?
  /// Who has muted it: its publisher, an administrator, or both. Each lifts its own mute alone.
  public var mutedByPublisher = false
  public var mutedByAdmin = false
  /// Its frames are encrypted end to end, as its publisher said.
  public var isEncrypted = false

  /// It reaches no subscriber.
  public var muted: Bool { mutedByPublisher || mutedByAdmin }
}
