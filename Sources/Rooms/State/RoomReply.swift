internal import AccessTokens

/// What becomes of a request.
enum RoomReply: Sendable {
  case done
  case joinRefused(JoinError)
  /// It waits to be let in.
  case waiting
  case refused(RequestError)
  /// The participant was in already, by transports without a socket.
  case attached
  case opened(TransportID)
  /// - Parameter isNew: the participant has come with it.
  case standalone(StandaloneAnswer, isNew: Bool)
  case changed(StandaloneChange)
  case standaloneRefused(StandaloneError)
  case answered(OfferAnswer)
  case offered(String)
  case offerRefused(OfferError)
  case grants(Grants)
  case room(RoomSnapshot)
  case participant(ParticipantSnapshot)
  case track(TrackInfo)
  case recording(RecordingID)
  case administrationRefused(AdministrationError)

  /// - Throws: why a request was not done that has no answer of its own.
  func done() throws(RequestError) {
    switch self {
    case .refused(let error): throw error
    default: break
    }
  }
}
