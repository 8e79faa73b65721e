public import AccessTokens
public import Model

/// A track as everybody in the room may see it.
public struct TrackBody: Record {
  public static let definition = "Track"
  public static let summary = "A track as everybody in the room may see it."

  public var id = ""
  public var kind = MediaKind.audio
  public var source = TrackSource.unknown
  public var name: String?
  /// It reaches no subscriber.
  public var muted = false
  /// An administrator's mute stands, which the publisher can't lift.
  public var mutedByAdmin = false
  /// Its frames are encrypted end to end.
  public var encrypted = false

  public init() {}
  public init(
    id: String, kind: MediaKind, source: TrackSource, name: String? = nil, muted: Bool = false,
    mutedByAdmin: Bool = false, encrypted: Bool = false
  ) {
    self.id = id
    self.kind = kind
    self.source = source
    self.name = name
    self.muted = muted
    self.mutedByAdmin = mutedByAdmin
    self.encrypted = encrypted
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .track)
    var word = kind == .audio ? KindWord.audio : .video
    try coder.word("kind", &word)
    kind = word == .audio ? .audio : .video
    try coder.word("source", &source)
    try coder.text("name", &name, .any)
    try coder.flag(
      Field("muted", "It reaches no subscriber: its publisher or an administrator has muted it."), &muted)
    try coder.flag(
      Field("mutedByAdmin", "An administrator's mute stands, which the publisher can't lift."), &mutedByAdmin)
    try coder.flag(
      Field("encrypted", "Its frames are encrypted end to end, as its publisher said."), &encrypted, or: false
    )
  }

  private enum KindWord: String, Word {
    case audio, video
  }
}
