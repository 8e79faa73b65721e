public import Model

/// A way for media of one participant, as the front door that opened it has it: one peer of the media plane, with tracks
/// and slots of its own. Which side offers is up to the front door; one description at a time is its duty.
///
/// It ends with its session, by `close`, or with its media, which `TransportNotice.closed` says.
public struct ParticipantTransport: Sendable {
  public let id: TransportID
  public let role: TransportRole
  private let participant: ParticipantID
  private let room: any RoomRequests

  init(id: TransportID, role: TransportRole, participant: ParticipantID, room: any RoomRequests) {
    self.id = id
    self.role = role
    self.participant = participant
    self.room = room
  }

  /// Answers an offer of the client's: publishes, unpublishes, adds slots, restarts ICE.
  public func offer(_ sdp: String, tracks: [OfferedTrack]) async throws(OfferError) -> OfferAnswer {
    switch await ask(.offer(sdp, tracks, on: id)) {
    case .answered(let answer): return answer
    case .offerRefused(let error): throw error
    default: throw .gone
    }
  }

  /// Offers so many slots of each kind, in all; those from the end are stopped where there were more.
  /// - Parameters: 0–32 each.
  /// - Returns: the description, whose answer `accept` takes.
  public func makeOffer(audio: Int, video: Int) async throws(OfferError) -> String {
    switch await ask(.makeOffer(SlotCount(audio: audio, video: video), on: id)) {
    case .offered(let sdp): return sdp
    case .offerRefused(let error): throw error
    default: throw .gone
    }
  }

  /// Takes the client's answer to our offer; where it doesn't fit, the offer stays on its way.
  /// - Returns: every slot, and what the client declined.
  public func accept(_ sdp: String) async throws(OfferError) -> OfferAnswer {
    switch await ask(.accept(sdp, on: id)) {
    case .answered(let answer): return answer
    case .offerRefused(let error): throw error
    default: throw .gone
    }
  }

  /// Has a track play, in a slot of choice or in any, before all that was not asked for.
  public func subscribe(
    _ track: String, mid: String? = nil, picture: PicturePreference = PicturePreference()
  ) async throws(RequestError) {
    try await ask(.subscribe(track, mid: mid, picture, on: id)).done()
  }

  /// Says how tracks are shown; whether they play, and where, stays as it is.
  /// - Parameter tracks: at most 64, each once; those that aren't known are left out.
  public func view(_ tracks: [(track: String, picture: PicturePreference)]) async throws(RequestError) {
    try await ask(.view(tracks, on: id)).done()
  }

  /// Says how large the pictures of a track are that is published here, where that has changed since its offer.
  /// - Parameter layers: of encodings that aren't among them nothing changes.
  public func resize(_ track: String, layers: [OfferedLayer]) async throws(RequestError) {
    try await ask(.resize(track, layers, on: id)).done()
  }

  /// Frees the track's slot; it comes back only if asked for.
  public func unsubscribe(_ track: String) async throws(RequestError) {
    try await ask(.unsubscribe(track, on: id)).done()
  }

  /// Ends the transport with all that it publishes; one that has ended stays as it is.
  public func close() async { _ = await ask(.closeTransport(id)) }

  private func ask(_ request: ParticipantRequest) async -> RoomReply {
    await room.ask(.request(participant, request))
  }
}
