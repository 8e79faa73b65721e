internal import Model
internal import Wire

/// What waits for a place at the media plane, and for our end of a transport with fresh credentials.
struct Proposal: Sendable {
  enum Content: Sendable {
    /// The client's, to be answered.
    case answer(SessionDescription, OfferReview, on: TransportName)
    /// Ours.
    case offer(SlotCount, on: TransportName)
    /// The client's, for a transport without a socket that is yet to be.
    case open(StandaloneEntry, SessionDescription)
    /// No description: the far end's credentials alone.
    case restart(ICECredentials, on: TransportName)
  }

  /// Names a transport whatever comes and goes meanwhile.
  struct TransportName: Sendable {
    let participant: ParticipantID
    let transport: TransportID
  }

  /// The place that it has.
  let peer: PeerKey?
  let content: Content
}
