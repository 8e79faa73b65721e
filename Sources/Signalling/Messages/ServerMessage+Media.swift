/// Answers to offers, and what becomes of receive sections.
extension ServerMessage {
  public struct Answer: Message {
    public static let type = "answer"
    public static let definition = "Answer"
    public static let summary = "The answer to an offer."

    public var sdp = ""
    public var tracks: [AnsweredTrack] = []
    public var slots: [Slot] = []
    public var declined: [DeclinedSection] = []

    public init() {}
    public init(
      sdp: String, tracks: [AnsweredTrack] = [], slots: [Slot] = [], declined: [DeclinedSection] = []
    ) {
      self.sdp = sdp
      self.tracks = tracks
      self.slots = slots
      self.declined = declined
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("sdp", &sdp, .any)
      try coder.records("tracks", &tracks, .sections)
      try coder.records("slots", &slots, .sections)
      try coder.records("declined", &declined, .sections)
    }
  }

  /// An answer that came while the session had no socket.
  public struct ResumedAnswer: Record {
    public static let definition = "ResumedAnswer"
    public static let summary = "The answer to an offer, which came while the session had no socket."

    /// Of the offer.
    public var id: RequestID?
    public var answer = Answer()

    public init() {}
    public init(id: RequestID?, answer: Answer) { (self.id, self.answer) = (id, answer) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.requestID(&id)
      try answer.fields(&coder)
    }
  }

  public struct Slots: Message {
    public static let type = "slots"
    public static let definition = "Slots"
    public static let summary = "Sections whose track changed."
    public static let id = RequestIDUse.none

    public var assignments: [Slot] = []

    public init() {}
    init(assignments: [Slot]) { self.assignments = assignments }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.records("assignments", &assignments, .sections)
    }
  }

  public struct OfferWanted: Message {
    public enum Reason: String, Word {
      case slots
      case iceRestart
    }

    public static let type = "offerWanted"
    public static let definition = "OfferWanted"
    public static let summary = "So many more receive sections would be filled, or ICE is to be restarted."
    public static let id = RequestIDUse.none

    public var audio = 0
    public var video = 0
    public var reason = Reason.slots

    public init() {}
    public init(audio: Int, video: Int, reason: Reason) {
      (self.audio, self.video, self.reason) = (audio, video, reason)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.integer("audio", &audio, 0...32)
      try coder.integer("video", &video, 0...32)
      try coder.word("reason", &reason)
    }
  }
}

extension ServerMessage {
  /// How a track of one's own is to be sent: which encodings are watched, and in which codecs everybody can see it.
  public struct Publish: Message {
    public static let type = "publish"
    public static let definition = "Publish"
    public static let summary =
      "Which encodings of a track of one's own are watched: send no others; and which codecs all who are present take."
    public static let id = RequestIDUse.none

    public var track = ""
    public var layers: [WatchedLayer] = []
    public var codecs: [TakenCodec] = []

    public init() {}
    public init(track: String, layers: [WatchedLayer], codecs: [TakenCodec]) {
      (self.track, self.layers, self.codecs) = (track, layers, codecs)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("track", &track, .track)
      try coder.records("layers", &layers, .sections)
      try coder.records("codecs", &codecs, .sections)
    }
  }
}

/// One encoding of `publish`.
public struct WatchedLayer: Record {
  public static let definition = "WatchedLayer"
  public static let summary = "An encoding by its RID, and whether it is watched."

  public var rid = ""
  public var active = true

  public init() {}
  public init(rid: String, active: Bool) { (self.rid, self.active) = (rid, active) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("rid", &rid, .any)
    try coder.flag("active", &active)
  }
}

/// A receive section and the track that plays in it.
public struct Slot: Record {
  public static let definition = "Slot"
  public static let summary = "A receive section and the track that plays in it."

  public var mid = ""
  /// nil: none, which is said by null.
  public var track: String?

  public init() {}
  public init(mid: String, track: String?) { (self.mid, self.track) = (mid, track) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("mid", &mid, .any)
    try coder.nullableText("track", &track, .track)
  }
}

/// A section of the offer that became a track.
public struct AnsweredTrack: Record {
  public static let definition = "AnsweredTrack"
  public static let summary = "A section of one's own and the track that it is."

  public var mid = ""
  public var track = ""

  public init() {}
  public init(mid: String, track: String) { (self.mid, self.track) = (mid, track) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("mid", &mid, .any)
    try coder.text("track", &track, .track)
  }
}

/// A section that was answered by port 0, and why.
public struct DeclinedSection: Record {
  public static let definition = "Declined"
  public static let summary = "A section that was answered by port 0, and why."

  public var mid = ""
  public var code = ""

  public init() {}
  public init(mid: String, code: String) { (self.mid, self.code) = (mid, code) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("mid", &mid, .any)
    try coder.text("code", &code, .any)
  }
}

/// One codec of `publish`.
public struct TakenCodec: Record {
  public static let definition = "TakenCodec"
  public static let summary = "A codec of the track's own section that all who are present take."

  public var payloadType = 0
  public var codec = ""

  public init() {}
  public init(payloadType: Int, codec: String) { (self.payloadType, self.codec) = (payloadType, codec) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.integer("payloadType", &payloadType, 0...127)
    try coder.text("codec", &codec, .any)
  }
}
