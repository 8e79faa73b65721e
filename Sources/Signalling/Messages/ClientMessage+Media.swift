public import AccessTokens

/// What is said of media: descriptions, and which tracks are wanted or muted.
extension ClientMessage {
  /// A client's description with what it says about the tracks that it sends.
  public struct Offer: Message {
    public static let type = "offer"
    public static let definition = "Offer"
    public static let summary = "A description of the client's; one in flight."

    public var sdp = ""
    public var tracks: [OfferedSection] = []

    public init() {}
    public init(sdp: String, tracks: [OfferedSection] = []) { (self.sdp, self.tracks) = (sdp, tracks) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("sdp", &sdp, .from1(to: ClientMessage.maximumSDPBytes, "a session description"))
      try coder.records("tracks", &tracks, .atMost(ClientMessage.maximumTracks, "a list of tracks"))
      try coder.require(
        "tracks.mid", "another one for each track", Set(tracks.map(\.mid)).count == tracks.count)
    }
  }

  /// A section in which the client sends.
  public struct OfferedSection: Record {
    public static let definition = "OfferedTrack"
    public static let summary = "What a sending section is."

    public var mid = ""
    /// nil: a camera or a microphone, by the section's kind.
    public var source: TrackSource?
    public var name: String?
    /// Muted from its first packet on.
    public var muted = false
    /// Its frames are encrypted end to end.
    public var encrypted = false
    public var layers: [OfferedLayer] = []

    public init() {}
    public init(
      mid: String, source: TrackSource?, name: String? = nil, muted: Bool = false, encrypted: Bool = false,
      layers: [OfferedLayer] = []
    ) {
      self.mid = mid
      self.source = source
      self.name = name
      self.muted = muted
      self.encrypted = encrypted
      self.layers = layers
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("mid", &mid, .from1(to: 32, "a section's mid"))
      try coder.word("source", &source)
      try coder.text("name", &name, .name)
      try coder.flag(Field("muted", "Muted from the start."), &muted, or: false)
      try coder.flag(
        Field("encrypted", "Its frames are encrypted end to end: the server adds nothing to them."),
        &encrypted,
        or: false)
      try coder.records(
        Field("layers", "How large its pictures are, which of encrypted frames no header says."), &layers,
        .atMost(3, "a list of layers"))
    }
  }

  /// One encoding of a section in which the client sends.
  public struct OfferedLayer: Record {
    public static let definition = "OfferedLayer"
    public static let summary = "How large the pictures of an encoding are."

    /// nil: of the only one.
    public var rid: String?
    /// Pixels.
    public var width = 0
    public var height = 0

    public init() {}
    public init(rid: String?, width: Int, height: Int) {
      (self.rid, self.width, self.height) = (rid, width, height)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("rid", "Absent: of the only encoding."), &rid, .from1(to: 64, "an encoding's rid"))
      try coder.integer(Field("width", "Pixels."), &width, 1...16_384)
      try coder.integer(Field("height", "Pixels."), &height, 1...16_384)
    }
  }

  /// How large the pictures of one's own track are from now on, where that has changed without an offer.
  public struct Layers: Message {
    public static let type = "layers"
    public static let definition = "Layers"
    public static let summary = "Says how large the pictures of a track of one's own are from now on."

    public var track = ""
    /// Of encodings that aren't named nothing changes.
    public var layers: [OfferedLayer] = []

    public init() {}
    public init(track: String, layers: [OfferedLayer]) { (self.track, self.layers) = (track, layers) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .from1(to: 64, "a track's id"))
      try coder.records(
        Field("layers", "Encodings that aren't named stay as they were said to be."), &layers,
        .atMost(3, "a list of layers"))
      try coder.require("layers.rid", "another one for each", Set(layers.map(\.rid)).count == layers.count)
    }
  }

  public struct Candidate: Message {
    public static let type = "candidate"
    public static let definition = "Candidate"
    public static let summary = "An address of the client's."

    public var candidate = ""
    /// nil: of the whole bundle, for which browsers say null or "".
    public var mid: String?

    public init() {}
    public init(candidate: String, mid: String?) { (self.candidate, self.mid) = (candidate, mid) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("candidate", &candidate, .atMost(1_024))
      try coder.text("mid", &mid, .atMost(32, isNullable: true))
    }
  }

  public struct Subscribe: Message {
    public static let type = "subscribe"
    public static let definition = "Subscribe"
    public static let summary = "Has a track play before all that were not asked for."

    public var track = ""
    /// The section; nil: any.
    public var mid: String?
    public var picture = PictureWanted()

    public init() {}
    public init(track: String, mid: String? = nil, picture: PictureWanted = PictureWanted()) {
      (self.track, self.mid, self.picture) = (track, mid, picture)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .from1(to: 64, "a track's id"))
      try coder.text(Field("mid", "The section; absent: any."), &mid, .atMost(32))
      try picture.fields(&coder)
    }
  }

  /// As the picture's fields of `subscribe`, for all that changes at once, as where a window gets another size; whether
  /// tracks play, and where, stays as it is.
  public struct View: Message {
    public static let type = "view"
    public static let definition = "View"
    public static let summary = "Says how tracks are shown, and so how good they are wanted."

    public var tracks: [ViewedTrack] = []

    public init() {}
    public init(tracks: [ViewedTrack]) { self.tracks = tracks }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.records("tracks", &tracks, .atMost(ClientMessage.maximumTracks, "a list of tracks"))
      try coder.require(
        "tracks.track", "another one for each", Set(tracks.map(\.track)).count == tracks.count)
    }
  }

  /// One track of `view`.
  public struct ViewedTrack: Record {
    public static let definition = "ViewedTrack"
    public static let summary = "A track and how it is shown."

    public var track = ""
    public var picture = PictureWanted()

    public init() {}
    public init(track: String, picture: PictureWanted) { (self.track, self.picture) = (track, picture) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .from1(to: 64, "a track's id"))
      try picture.fields(&coder)
    }
  }

  public struct Unsubscribe: Message {
    public static let type = "unsubscribe"
    public static let definition = "Unsubscribe"
    public static let summary = "Frees a track's slot."

    public var track = ""

    public init() {}
    public init(track: String) { self.track = track }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .from1(to: 64, "a track's id"))
    }
  }

  public struct Mute: Message {
    public static let type = "mute"
    public static let definition = "Mute"
    public static let summary = "Mutes or unmutes a track of one's own."

    public var track = ""
    public var muted = false

    public init() {}
    public init(track: String, muted: Bool) { (self.track, self.muted) = (track, muted) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .from1(to: 64, "a track's id"))
      try coder.flag("muted", &muted)
    }
  }
}
