internal import Model
public import Wire

/// What a client without a socket asks for at first: a transport of its own, by an offer that is answered once.
public struct StandaloneOffer: Sendable {
  /// `publishes` or `subscribes`.
  public var role: TransportRole
  public var sdp: String
  public var selection: TrackSelection

  public init(role: TransportRole, sdp: String, selection: TrackSelection = .all) {
    self.role = role
    self.sdp = sdp
    self.selection = selection
  }
}

/// A transport that was opened by such an offer.
public struct StandaloneAnswer: Sendable {
  /// Names it from here on, in its room; not to be guessed.
  public let id: String
  /// Names the ICE session.
  public let tag: String
  public let sdp: String
  /// What it publishes, by the sections' mids.
  public let tracks: [(mid: String, track: TrackID)]
  /// Whose it is.
  public let participant: ParticipantID
}

/// Which ICE session a request is about (RFC 9110 §13.1.1).
public enum StandalonePrecondition: Equatable, Sendable {
  /// Nothing is said, where something must be.
  case none
  /// Whichever it is.
  case any
  /// One of these.
  case tags([String])
}

/// What becomes of ICE information.
public enum StandaloneChange: Sendable {
  /// It is of the ICE session that is in force. A server whose addresses are all in its answer has no use for candidates.
  case noted
  /// ICE has been restarted: the new tag, and our end.
  case restarted(tag: String, ICEFragment)
}

/// What is asked of a transport that has an id.
enum StandaloneRequest: Sendable {
  /// Whether it is there.
  case look
  /// ICE information.
  /// - Parameter credentials: the far end's; those in force, or others, by which ICE is restarted.
  case change(StandalonePrecondition, ICECredentials?)
  case close
}

/// Which transport, and who asks.
struct StandaloneName: Sendable {
  let id: String
  let role: TransportRole
  let identity: String
}

/// Who comes with an offer.
struct StandaloneEntry: Sendable {
  var newcomer: Newcomer
  let offer: StandaloneOffer
}
