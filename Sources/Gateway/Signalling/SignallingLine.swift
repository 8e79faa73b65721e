internal import Signalling

/// The socket that a session is served on.
struct SignallingLine {
  let number: Int
  let socket: any TextSocket
  /// Which of the room's `resumed` is for it; nil: the first socket, which has none.
  var resumption: Int?
  /// `joined` or `resumed` has been sent; before, nothing else may be.
  var isOpen = false
  /// The token that was redeemed for it, until something is heard: a client that hasn't got the next one comes with this.
  var opener: ResumeTokens.Code?
  /// What is sent now is what the client begins or goes on with.
  var isOpening = false
  /// Of the request `resume`, and what waits for its end.
  var id: RequestID?
  var opened: CheckedContinuation<Bool, Never>?
}

/// An offer whose answer is on its way.
struct OfferInFlight {
  let id: RequestID?
}

/// An answer that came while the session had no socket.
struct MissedAnswer {
  /// Of the offer.
  var id: RequestID?
  var answer: ServerMessage.Answer
  /// It was given to a socket that may have broken before it.
  var isSent = false
}
