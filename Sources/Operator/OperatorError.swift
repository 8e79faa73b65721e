internal import AccessTokens
internal import HTTPClient

/// Why a command could not be carried out.
enum OperatorError: Error, Equatable {
  /// There is no answer.
  case unreachable(HTTPClientError, url: String)
  /// Something answers that doesn't speak as Roost does.
  case notRoost(status: Int, type: String?)
  case problem(ServerProblem)
  /// The address is none, or would carry the token where others read it.
  case address(String)
  /// A participant has no track of that source.
  case noTrack(source: String)
  /// A stream of events ended for good.
  case streamEnded(StreamEnd)
  /// What a command did in a room itself came to an end that it wasn't to have.
  case session(SessionError)

  /// For scripts; the help of each command lists them.
  var exitCode: Int32 {
    switch self {
    case .address: 2
    case .unreachable(.authorities, _), .unreachable(.request, _): 1
    case .unreachable, .notRoost: 3
    case .noTrack: 5
    case .problem(let problem): problem.exitCode
    case .streamEnded(let end): end.exitCode
    case .session(let error): error.exitCode
    }
  }

  /// What went wrong.
  var title: String {
    switch self {
    case .unreachable(let error, let url): "no answer from \(url): \(error)"
    case .notRoost(let status, let type):
      "what answers is no Roost server: status \(status), \(type ?? "no content type")"
    case .problem(let problem): "\(problem.title) (\(problem.status))"
    case .address(let text): text
    case .noTrack(let source): "the participant has no track of \(source)"
    case .streamEnded(let end): end.title
    case .session(let error): error.title
    }
  }

  /// More of it; nil: there is no more.
  var detail: String? {
    if case .problem(let problem) = self { problem.detail } else { nil }
  }

  /// For people.
  func text(_ deed: Advice) -> String {
    ["roost: " + title, detail, deed.advice(self)].compactMap(\.self).map(TerminalText.shown)
      .joined(separator: "\n  ") + "\n"
  }

  /// For programs: the problem as the server put it, or one of the same form.
  var json: StrictJSON {
    if case .problem(let problem) = self { return problem.json }
    return .object(["title": .string(title)])
  }
}

/// A problem as RFC 9457 has it.
struct ServerProblem: Equatable {
  var status: Int
  /// The last part of its type; empty where it is none of Roost's.
  var code: String
  var title: String
  var detail: String?
  /// Seconds after which to try again.
  var retryAfter: Int?
  /// As it came.
  var json: StrictJSON

  init(status: Int, json: StrictJSON, retryAfter: String?) {
    self.status = status
    self.json = json
    let prefix = "urn:roost:problem:"
    let type = json["type"]?.string ?? ""
    code = type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : ""
    title = json["title"]?.string ?? "the server refuses"
    detail = json["detail"]?.string
    self.retryAfter = retryAfter.flatMap { Int($0) }.map { min(max(0, $0), 86_400) }
  }

  var exitCode: Int32 {
    switch status {
    case 401, 403: 4
    case 404, 410: 5
    case 429, 500...: 7
    default: 6
    }
  }
}

/// The last event of a stream of events, where going on is of no use.
struct StreamEnd: Equatable {
  var reason: String
  /// As it came.
  var json: StrictJSON

  var exitCode: Int32 {
    switch reason {
    case "tokenExpired", "removed", "notAllowed": 4
    case "eventsGone": 5
    default: 3
    }
  }

  var title: String {
    switch reason {
    case "tokenExpired": "the access token has expired"
    case "removed": "the access token's identity was removed from the room"
    case "notAllowed": "the access token doesn't allow this any more"
    case "eventsGone": "the events that follow are no longer kept"
    default: "the stream of events has ended: \(reason)"
    }
  }
}
