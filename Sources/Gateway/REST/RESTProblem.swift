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
    RESTProblem(status: 400, code: "body", title: "The body is not what it should be", detail: detail)
  }

  static func query(_ detail: String) -> RESTProblem {
    RESTProblem(status: 400, code: "query", title: "The query is not what it should be", detail: detail)
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

  init(_ error: AdministrationError) {
    switch error {
    case .unknownRoom: self.init(status: 404, code: "room-not-found", title: "There is no such room")
    case .unknownParticipant:
      self.init(
        status: 404, code: "participant-not-found", title: "There is no such participant in the room")
    case .unknownTrack:
      self.init(status: 404, code: "track-not-found", title: "The participant has no such track")
    case .tooLarge(let what):
      self.init(
        status: 413, code: "too-large", title: "Something is larger than it may be",
        detail: what == "metadata"
          ? "metadata has at most 64 KiB" : "attributes are at most 256, of 64 KiB together")
    case .aboveLimit(let field, let limit):
      self = .body("\(field) is a whole number from 1 to \(limit)")
    case .full(let what):
      self.init(status: 503, code: "full", title: "There are as many as there may be", detail: what)
      headers = [("retry-after", "10")]
    case .draining:
      self.init(
        status: 503, code: "draining", title: "The server is about to stop and lets nobody new in")
      headers = [("retry-after", "5")]
    }
  }
}
