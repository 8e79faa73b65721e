internal import Model
internal import Wire

/// A description that waits for a place at the media plane.
struct Proposal: Sendable {
  enum Content: Sendable {
    /// The client's, to be answered.
    case answer(SessionDescription, OfferReview)
    /// Ours.
    case offer(SlotCount)
  }

  let participant: ParticipantID
  let transport: TransportID
  /// The place that it has.
  let peer: PeerKey?
  let content: Content
}
