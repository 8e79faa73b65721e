internal import AccessTokens
internal import CallDesk
internal import Negotiation
internal import Rooms
internal import Wire

/// Why something was refused by WHIP or WHEP, as the problem that the client gets.
extension RESTProblem {
  static let roomName = RESTProblem(
    status: 400, code: "room-name",
    title: "A room's name must have 1 to 128 bytes, no control characters, and not be . .. or *")

  static func contentType(_ expected: String) -> RESTProblem {
    RESTProblem(
      status: 415, code: "content-type", title: "Unsupported content type", detail: "expected: \(expected)")
  }

  static func tooLarge(_ detail: String) -> RESTProblem {
    RESTProblem(status: 413, code: "too-large", title: "Too large", detail: detail)
  }

  private static func full(_ detail: String) -> RESTProblem { RESTProblem(AdministrationError.full(detail)) }

  init(_ error: StandaloneError) {
    switch error {
    case .joining(let error): self.init(error)
    case .offer(let error): self.init(error)
    case .declined(let sections):
      self.init(
        status: 422, code: "sections-declined", title: "The offer has sections that can't be accepted",
        detail: sections.isEmpty
          ? "it has none at all" : sections.map { "\($0.mid): \($0.code)" }.joined(separator: ", "))
      members["sections"] = .array(
        sections.map { .object(["mid": .string($0.mid), "code": .string($0.code)]) })
    case .notAllowed(let what):
      self.init(
        status: 403, code: "not-allowed", title: "The participant's permissions don't allow this",
        detail: what)
    case .limit(.participant, let limit):
      self.init(
        status: 409, code: "session-limit", title: "The participant has as many sessions as it may have",
        detail: "\(limit) of WHIP and WHEP together; end one by DELETE")
    case .limit(.room, let limit): self = .full("WHIP and WHEP sessions in this room: \(limit)")
    case .unknownTrack: self.init(AdministrationError.unknownTrack)
    case .unknown: self.init(status: 404, code: "session-not-found", title: "There is no such session")
    case .foreign:
      self.init(
        status: 403, code: "session-foreign", title: "The session belongs to another participant")
    case .tooOften: self.init(AdministrationError.tooOften)
    case .preconditionMissing:
      self.init(
        status: 428, code: "if-match-missing", title: "If-Match is missing",
        detail: "give the ETag of the session's last answer, or * to restart ICE")
    case .preconditionFailed:
      self.init(
        status: 412, code: "if-match-stale", title: "The ICE session is another one by now",
        detail: "If-Match names none that is in force; restart ICE with If-Match: *")
    case .credentials:
      self.init(
        status: 400, code: "ice-credentials", title: "The ICE credentials are incomplete",
        detail: "a restart changes both a=ice-ufrag and a=ice-pwd")
    }
  }

  init(_ error: JoinError) {
    switch error {
    case .draining: self.init(AdministrationError.draining)
    case .elsewhere: self.init(CallProblem.activeElsewhere)
    case .noRoom: self.init(AdministrationError.unknownRoom)
    case .removed: self.init(AccessTokenRefusal.removed)
    case .revoked: self.init(AccessTokenRefusal.revoked)
    case .tooLarge(let excess) where excess.mayPass: self = .full(excess.description)
    case .tooLarge(let excess): self.init(AdministrationError.stateTooLarge(excess))
    case .tooOften: self.init(AdministrationError.tooOften)
    case .locked: self.init(status: 403, code: "room-locked", title: "The room is locked")
    case .admissionRequired:
      self.init(
        status: 403, code: "admission-required", title: "A host has to let you in",
        detail: "by this door one can't wait for that; the claim roost: {admitted: true} of a token skips it")
    case .notAdmitted, .waitingEnded: self.init(AdministrationError.unknownParticipant)
    case .full(let limit): self = .full("all \(limit) places are taken")
    }
  }

  private init(_ error: OfferError) {
    switch error {
    case .malformed(.tooLong(bytes: let bytes, limit: let limit)):
      self = .tooLarge("the description has \(bytes) bytes; at most \(limit) are read")
    case .malformed(let error):
      self.init(status: 400, code: "sdp", title: "The SDP can't be read", detail: error.description)
    case .refused(let error):
      self.init(
        status: 422, code: "offer-refused", title: "The offer can't be answered", detail: error.description)
    case .field(let detail): self = .body(detail)
    case .overloaded: self = .full("transports")
    case .tooOften: self.init(AdministrationError.tooOften)
    case .gone: self.init(.unknown)
    }
  }
}
