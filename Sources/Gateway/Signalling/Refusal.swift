internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// Why the native door doesn't do what it was asked: a code and a sentence for people.
struct Refusal: Error, Equatable, Sendable {
  var code: SignallingErrorCode
  var message: String

  init(_ code: SignallingErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  static let sessionGone = Refusal(.sessionGone, "the session no longer exists; join again")

  /// What the client hears.
  var body: ServerMessage.ErrorBody { ServerMessage.ErrorBody(code, message) }
}

extension Refusal {
  init(_ error: JoinError) {
    switch error {
    case .draining: self.init(.unavailable, "The server is shutting down")
    case .elsewhere:
      self.init(
        .notAllowed, "You are in this call by another device; join the call with takeover: true first")
    case .noRoom: self.init(.roomNotFound, "There is no such room")
    case .removed: self.init(.tokenRemoved, AccessTokenRefusal.removed.message)
    case .revoked: self.init(.tokenRevoked, AccessTokenRefusal.revoked.message)
    case .tooLarge(let excess): self.init(excess.mayPass ? .roomFull : .tooLarge, excess.description)
    case .tooOften: self.init(.rateLimited, RequestError.tooOften.description)
    case .locked: self.init(.roomLocked, "The room is locked")
    case .admissionRequired: self.init(.admissionRequired, "A host has to let you in")
    case .notAdmitted: self.init(.notAdmitted, "No host has let you in")
    case .waitingEnded(.removed): self.init(.tokenRemoved, AccessTokenRefusal.removed.message)
    case .waitingEnded: self.init(.notAdmitted, "You wait no longer")
    case .full(let limit): self.init(.roomFull, "All \(limit) places are taken")
    }
  }

  init(_ error: OfferError) {
    let code: SignallingErrorCode =
      switch error {
      case .malformed, .refused: .offerRefused
      case .field: .badMessage
      case .tooOften: .rateLimited
      case .overloaded, .gone: .unavailable
      }
    self.init(code, error.description)
  }

  init(_ error: RequestError) {
    // As it would be said to who can't come in.
    if case .joining(let reason) = error {
      self.init(reason)
      return
    }
    let code: SignallingErrorCode =
      switch error {
      case .unknownTrack: .unknownTrack
      case .unknownSlot: .unknownSlot
      case .unknownParticipant: .unknownParticipant
      case .notAllowed, .mutedByAdmin: .notAllowed
      case .tooOften: .rateLimited
      case .limit: .limit
      case .stateTooLarge(let excess) where excess.mayPass: .limit
      case .tooLarge, .stateTooLarge: .tooLarge
      case .gone, .joining, .notStored, .unremembered: .unavailable
      }
    self.init(code, error.description)
  }
}
