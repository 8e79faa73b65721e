internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// What happens to a session at the native door.
enum SignallingInput {
  /// The first socket. The resume token of `joined` is added by the session.
  case begin(ServerMessage.Joined, id: RequestID?)
  /// What was said in the room before, behind that.
  case history(String)
  /// Another socket, for which a resume token was redeemed; its number is the next one.
  case reconnect(ResumeCode, room: String, id: RequestID?)
  /// The room knows of all that befell earlier sockets, and can hear of this one.
  case turn(line: Int)
  /// What the room says to `present`; nil: `resumed` will come.
  case presented(line: Int, ResumeCode, RequestError?)
  /// - inGoodOrder: the client closed it; else it may not have got what was sent last.
  case hungUp(line: Int, inGoodOrder: Bool)
  case message(ClientMessage, line: Int)
  /// An answer that is sent again has been paid for.
  case paid(answer: String, line: Int, toOffer: Bool)
  /// What becomes of `SignallingEffect.explain`.
  case explained(RequestID?, Result<ParticipantExplanation, RequestError>)
  /// The end of a request that has no answer of its own.
  case done(RequestID?, RequestError?)
  case offerRefused(RequestID?, OfferError)
  case notice(ParticipantNotice)
  /// An event of a shared session, as it goes out.
  case live(String)
  /// What becomes of `SignallingEffect.share`.
  case shared(RequestID?, Result<ServerMessage.SessionSeq, Refusal>)
  /// A fresh access token has been made.
  case renewed(String, AccessToken)
}

/// What a session at the native door has done.
enum SignallingEffect {
  /// On the present socket. With what is opening a session begins or goes on, within bounds of its own.
  case send(String, isOpening: Bool)
  /// Leaves unsaid what waits on that socket.
  case drop(line: Int)
  case close(SignallingCloseCode, line: Int)
  /// A resume token is good from now on.
  case allow(ResumeCode)
  /// It is good once more.
  case restore(ResumeCode)
  case revoke(ResumeCode)
  /// A socket has got `resumed`, or never will.
  case opened(line: Int, Bool)
  /// The socket that comes is not taken.
  case refuse(Refusal)
  /// The room hears that there is no socket; `waits`: after all that befell earlier ones.
  case absent(waits: Bool)
  case leave(LeaveReason)
  /// A request to the room, whose end is `done`.
  case perform(ClientMessage.Content, RequestID?)
  /// Its end is `explained`; others go on meanwhile.
  case explain(RequestID?)
  /// Its end is `shared`; those of one client are done in order, and others go on meanwhile.
  case share(ClientMessage.SessionEvent, RequestID?)
  /// Its end is a notice, or `offerRefused`.
  case offer(ClientMessage.Offer, RequestID?)
  case tellSlots
  /// The identity pays for so many bytes, by which its next message is read later.
  case charge(Int)
  /// The identity pays for an answer that is sent again; then `paid` comes.
  case pay(answer: String, line: Int, toOffer: Bool)
  /// A fresh access token is sent, if one is due: before anything else is read, or beside what goes on.
  case renewNow
  case renewLater
}
