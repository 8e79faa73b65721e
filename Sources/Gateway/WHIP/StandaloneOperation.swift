internal import HTTPServer
internal import Rooms

/// What can be asked by WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep), which differ in the direction of media alone.
struct StandaloneOperation: Sendable {
  /// WHIP publishes, WHEP plays.
  let role: TransportRole
  let method: HTTPMethod
  /// As in OpenAPI.
  let path: String

  static let all: [StandaloneOperation] = [TransportRole.publishes, .subscribes].flatMap { role in
    let endpoint = "/\(name(of: role))/{room}"
    return [
      (HTTPMethod.get, endpoint), (.post, endpoint), (.get, "\(endpoint)/{session}"),
      (.patch, "\(endpoint)/{session}"), (.delete, "\(endpoint)/{session}"),
    ].map { StandaloneOperation(role: role, method: $0.0, path: $0.1) }
  }

  /// The first part of its paths.
  static func name(of role: TransportRole) -> String { role == .publishes ? "whip" : "whep" }
}

/// Where a request goes: to the endpoint that makes sessions, or to a session.
struct StandalonePlace: Sendable {
  let role: TransportRole
  let room: String
  /// nil: the endpoint.
  let session: String?

  /// - Parameter segments: of the path, decoded.
  init?(_ segments: [String]) {
    guard (2...3).contains(segments.count) else { return nil }
    switch segments[0] {
    case "whip": role = .publishes
    case "whep": role = .subscribes
    default: return nil
    }
    room = segments[1]
    session = segments.count == 3 ? segments[2] : nil
  }

  var allowed: String {
    session == nil ? "GET, HEAD, POST, OPTIONS" : "GET, HEAD, PATCH, DELETE, OPTIONS"
  }
}
