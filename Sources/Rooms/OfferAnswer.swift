public import AccessTokens
public import Model
public import Negotiation
public import Wire

/// What a client says of a section in which it sends.
public struct OfferedTrack: Sendable {
  public var mid: String
  /// nil: a camera or a microphone, by the section's kind.
  public var source: TrackSource?
  public var name: String?
  /// Muted from its first packet on.
  public var muted: Bool
  /// Its frames are encrypted end to end.
  public var encrypted: Bool
  /// How large the pictures of its encodings are, where the client says so.
  public var layers: [OfferedLayer]

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
}

/// What a client says of an encoding of a section.
public struct OfferedLayer: Equatable, Sendable {
  /// nil: of the only encoding.
  public var rid: String?
  public var picture: PictureSize

  public init(rid: String?, picture: PictureSize) { (self.rid, self.picture) = (rid, picture) }
}

/// The answer to an offer, and what became of its sections.
public struct OfferAnswer: Sendable {
  public let sdp: String
  public let tracks: [(mid: String, track: TrackID)]
  public let slots: [SlotAssignment]
  public let declined: [(mid: String, code: String)]
}

/// Why an offer was not answered; the session goes on as before.
public enum OfferError: Error, Sendable, CustomStringConvertible {
  case malformed(SDPError)
  case refused(NegotiationError)
  /// A field beside the description is wrong: which, and how.
  case field(String)
  /// No place for another transport.
  case overloaded
  /// Too many requests in too short a time.
  case tooOften
  /// The session ended meanwhile.
  case gone

  public var description: String {
    switch self {
    case .malformed(let error): "the SDP can't be read: \(error)"
    case .refused(let error): error.description
    case .field(let what): what
    case .overloaded: "the server is full; try again later"
    case .tooOften: "too many requests; wait a moment"
    case .gone: "the session is over; join again"
    }
  }
}
