internal import AccessTokens
internal import HTTPServer
internal import Rooms

/// Why a request is answered by a problem (RFC 9457).
struct RESTProblem: Error {
  var status: Int
  /// The last part of its type.
  var code: String
  /// The same for every problem of that code.
  var title: String
  var detail: String?
  var headers: [(name: String, value: String)] = []
  /// Beside those of every problem.
  var members: [String: StrictJSON] = [:]

  var response: HTTPResponse {
    var response = Problem.response(status, code, title, detail: detail, members: members)
    for (name, value) in headers { response.headers.add(name, value) }
    return response
  }

  static func body(_ detail: String) -> RESTProblem {
    RESTProblem(status: 400, code: "body", title: "The request body is invalid", detail: detail)
  }

  static func query(_ detail: String) -> RESTProblem {
    RESTProblem(status: 400, code: "query", title: "The query is invalid", detail: detail)
  }

  init(status: Int, code: String, title: String, detail: String? = nil) {
    self.status = status
    self.code = code
    self.title = title
    self.detail = detail
  }

  init(_ refusal: AccessTokenRefusal) {
    self.init(status: refusal.status, code: refusal.code, title: refusal.message)
  }

  /// What is asked about isn't there.
  private static func missing(_ error: AdministrationError) -> RESTProblem {
    switch error {
    case .unknownParticipant:
      RESTProblem(
        status: 404, code: "participant-not-found", title: "There is no such participant in the room")
    case .unknownTrack:
      RESTProblem(status: 404, code: "track-not-found", title: "The participant has no such track")
    case .unknownInvitation:
      RESTProblem(
        status: 404, code: "invitation-not-found",
        title: "There is no such invitation, or it holds no longer")
    case .unknownRecording:
      RESTProblem(status: 404, code: "recording-not-found", title: "The room has no such recording")
    default: RESTProblem(status: 404, code: "room-not-found", title: "There is no such room")
    }
  }

  init(_ error: AdministrationError) {
    switch error {
    case .unknownRoom, .unknownParticipant, .unknownTrack, .unknownInvitation, .unknownRecording:
      self = .missing(error)
    case .joining(let error): self.init(error)
    case .tooLarge(let what):
      self.init(
        status: 413, code: "too-large", title: "Too large",
        detail: what == "metadata"
          ? "metadata can have at most 64 KiB" : "there can be at most 256 attributes, of 64 KiB in total")
    case .stateTooLarge(let excess):
      self.init(status: 413, code: "too-large", title: "Too large", detail: excess.description)
    case .aboveLimit(let field, let limit):
      self = .body("\(field) must be a whole number from 1 to \(limit)")
    case .full(let what):
      self.init(status: 503, code: "full", title: "The server is full", detail: what)
      headers = [("retry-after", "10")]
    case .notStored:
      self.init(
        status: 503, code: "not-stored", title: "It is done, but could not be stored yet",
        detail:
          "it holds on the running server and is stored as soon as the database takes it; ask again to be sure"
      )
      headers = [("retry-after", "2")]
    case .tooOften:
      self.init(status: 429, code: "rate-limited", title: "Too many requests")
      headers = [("retry-after", "1")]
    case .recordingOff:
      self.init(
        status: 409, code: "recording-off", title: "This server records nothing",
        detail: "it has no directory for that: set storage.directory")
    case .recordingActive:
      self.init(status: 409, code: "recording-active", title: "The recording is still being written")
    case .noSpace:
      self.init(
        status: 507, code: "no-space", title: "Too little space is free to record",
        detail: "recording.freeBytes have to stay free on the disk")
    case .diskSlow:
      self.init(
        status: 503, code: "disk-slow", title: "The disk of the recordings doesn't answer",
        detail: "what was asked for may still be done; look again later")
      headers = [("retry-after", "10")]
    case .noThumbnail(let reason):
      self.init(
        status: 409, code: "no-thumbnail", title: "There is no thumbnail of this track", detail: reason)
    case .late:
      self.init(
        status: 503, code: "late", title: "The server took too long to answer",
        detail: "no key frame of the track has come in time")
      headers = [("retry-after", "2")]
    case .notErased(let reason):
      self.init(
        status: 500, code: "not-erased", title: "Files of the recording can't be removed", detail: reason)
    case .draining:
      self.init(
        status: 503, code: "draining", title: "The server is shutting down and accepts no one new")
      headers = [("retry-after", "5")]
    }
  }
}
