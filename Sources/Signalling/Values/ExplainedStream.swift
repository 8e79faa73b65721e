public import Model

/// What a track comes as, and why not as better.
public enum StreamReasonWord: String, Word {
  case best, publisher, bandwidth, view, off, muted
  case noMedia = "no-media"
  case noSlot = "no-slot"
  case codec
  case keyFrame = "key-frame"
  case connecting, unknown

  public static var definition: String? { "StreamReason" }
  public static var summary: String {
    """
    Why a track comes as it does: nothing better is to be had; its publisher sends nothing better; the connection carries no more; \
    it is shown no larger or faster; it is turned off; it is muted; its packets have ceased to come; every slot is taken; no section \
    has its codec; a key frame is waited for; the connection isn't up; the server can't say at the moment.
    """
  }
}

/// Why a participant gets of one track what it gets.
public struct ExplainedStream: Record {
  public static let definition = "ExplainedStream"
  public static let summary = "What a participant gets of one track, and why."

  public var track = ""
  /// The publisher's id.
  public var publisher = ""
  public var state = StreamBody.State.active
  public var reason = StreamReasonWord.best
  /// The reason in words.
  public var text = ""
  /// nil of audio.
  public var wanted: WantedPicture?
  /// nil where nothing is sent, and of audio.
  public var sent: SentLayer?
  /// Bits per second that are sent, with the headers of RTP, UDP and IP; nil: not measured.
  public var bitrate: Int?
  /// 0–1, by the subscriber's last report; nil: no stream.
  public var loss: Double?
  /// Seconds.
  public var roundTrip: Double?
  /// When the last key frame of what is sent came, RFC 3339.
  public var keyFrame: String?
  public var keyFrameRequest: ExplainedRequest?

  public init() {}

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("track", &track, .track)
    try coder.text("publisher", &publisher, .participant)
    try coder.word("state", &state)
    try coder.word("reason", &reason)
    try coder.text(Field("text", "The reason in words, for people."), &text, .any)
    try coder.record("wanted", &wanted)
    try coder.record("sent", &sent)
    try coder.integer(
      Field("bitrate", "Bits per second that are sent, with the headers of RTP, UDP and IP."), &bitrate,
      0...(.max))
    try coder.number(Field("loss", "0 to 1, by the subscriber's last report."), &loss)
    try coder.number(Field("roundTrip", "Seconds, by the same."), &roundTrip)
    try coder.text(Field("keyFrame", "When the last one of what is sent came."), &keyFrame, .any)
    try coder.record("keyFrameRequest", &keyFrameRequest)
  }
}

/// How a subscriber shows a track.
public struct WantedPicture: Record {
  public static let definition = "WantedPicture"
  public static let summary = "How a subscriber shows a track; absent: as large and as fast as it comes."

  public var picture = PictureWanted()

  public init() {}
  public init(_ preference: PicturePreference) {
    picture.quality =
      switch preference.quality {
      case .off: .off
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    picture.maxWidth = preference.width > 0 ? Int(preference.width) : nil
    picture.maxHeight = preference.height > 0 ? Int(preference.height) : nil
    picture.maxFrameRate = preference.frameRate > 0 ? Int(preference.frameRate) : nil
    picture.priority = Int(preference.priority)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try picture.fields(&coder)
  }
}

/// The layer of a track that is sent to a subscriber.
public struct SentLayer: Record {
  public static let definition = "SentLayer"
  public static let summary = "An encoding up to one of its layers."

  /// In the order of the publisher's description, from 0.
  public var encoding = 0
  public var rid: String?
  public var spatial = 0
  public var temporal = 0
  /// Of the picture; nil: not known.
  public var width: Int?
  public var height: Int?
  public var frameRate: Int?

  public init() {}

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.integer(Field("encoding", "In the order of the publisher's offer, from 0."), &encoding, 0...255)
    try coder.text("rid", &rid, .any)
    try coder.integer("spatial", &spatial, 0...255)
    try coder.integer("temporal", &temporal, 0...255)
    try coder.integer("width", &width, 1...65_535)
    try coder.integer("height", &height, 1...65_535)
    try coder.integer("frameRate", &frameRate, 1...255)
  }
}

/// The last request for a key frame of a track.
public struct ExplainedRequest: Record {
  public enum Asker: String, Word {
    case participant, server, other
  }

  public static let definition = "KeyFrameRequest"
  public static let summary = "The last request for a key frame of the track: when, and for whom."

  /// RFC 3339.
  public var at = ""
  public var by = Asker.server
  /// The participant's id, where it may be named.
  public var participant: String?

  public init() {}
  public init(at: String, by: Asker, participant: String? = nil) {
    (self.at, self.by, self.participant) = (at, by, participant)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("at", &at, .any)
    try coder.word("by", &by)
    try coder.text("participant", &participant, .participant)
  }
}
