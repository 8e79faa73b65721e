internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Wire

/// What a room has done, in order. An effect that is a question is answered by an input before the next is performed.
enum RoomEffect: Sendable {
  // MARK: - Participants

  /// It is in: what follows concerns it too.
  /// - Parameter role: of the transport that it has from the beginning.
  case admit(JoinedState, role: TransportRole?)
  case notify(ParticipantID, ParticipantNotice)
  /// Everybody who is in.
  case notifyAll(ParticipantNotice)
  /// It is out; the notice is its last.
  case dismiss(ParticipantID, LeaveReason)
  /// What becomes of the request; one at most for each input.
  case reply(RoomReply)

  // MARK: - The room's surroundings

  /// For the journal, and for everybody who is in but one: who leaves hears of it by its last notice.
  case record(RoomEvent, except: ParticipantID? = nil)
  case keepSettings(RoomSettings)
  /// A session is over.
  /// - Parameters:
  ///   - reason: nil: it never began.
  ///   - patience: seconds for which a room stays that is empty now.
  case sessionEnded(identity: String, LeaveReason?, patience: Int)
  /// When the room is to be called; `.never`: not at all.
  case alarm(Instant)
  case log(String, KeyValuePairs<String, String>)
  /// A question: what came after that event.
  case read(ParticipantID, after: Int)

  // MARK: - The media plane

  /// A question: a place for the peer, unless it has one, and our end of its transport.
  case prepare(Proposal)
  /// Events of that peer are for this room, from before it is added.
  case expect(PeerKey)
  case add(PeerKey, AgreedTransport, AgreedMedia)
  case post(Command)
  /// Its place is free; it was never added.
  case release(PeerKey)
}

/// What becomes of a request.
enum RoomReply: Sendable {
  case done
  case joinRefused(JoinError)
  case refused(RequestError)
  case opened(TransportID)
  case answered(OfferAnswer)
  case offered(String)
  case offerRefused(OfferError)
  case grants(Grants)
  case room(RoomSnapshot)
  case participant(ParticipantSnapshot)
  case track(TrackInfo)
  case administrationRefused(AdministrationError)

  /// - Throws: why a request was not done that has no answer of its own.
  func done() throws(RequestError) {
    switch self {
    case .refused(let error): throw error
    default: break
    }
  }
}

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

/// Where requests to a room go.
protocol RoomRequests: Sendable {
  func handle(_ input: RoomInput) async -> RoomReply
}
