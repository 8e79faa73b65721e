internal import AccessTokens
internal import FoundationEssentials
internal import HTTPServer
internal import Rooms

/// `POST /dev/token {room, identity, name?}`: a token for anyone who asks, which only `--dev` gives.
enum DevelopmentToken {
  private struct Request: Decodable {
    var room: String
    var identity: String
    var name: String?
  }

  private struct Answer: Encodable {
    let token: String
    /// By which others on the network reach the page; nil where none can.
    let hosts: [String]?
  }

  /// Seconds for which a token holds.
  static let lifetime = 6 * 3600

  static func response(to request: HTTPRequest, configuration: GatewayConfiguration) -> HTTPResponse {
    // A type that a foreign page cannot send without being asked first.
    guard request.headers["content-type"]?.lowercased().hasPrefix("application/json") == true else {
      return Problem.response(415, "content-type", "The body must be application/json")
    }
    guard let wanted = try? JSONDecoder().decode(Request.self, from: Data(request.body)),
      AccessToken.isName(wanted.room), AccessToken.isName(wanted.identity),
      wanted.name.map({ $0.utf8.count <= 256 }) ?? true
    else {
      return Problem.response(
        400, "body", "The request body is invalid",
        detail: "room and identity must have 1 to 128 bytes, name at most 256")
    }
    guard let (key, secret) = configuration.keys.first else { return Problem.notFound() }
    let token = AccessToken(
      apiKey: key, identity: wanted.identity, expires: configuration.now() + lifetime,
      issuedAt: configuration.now(), name: wanted.name, grants: .join(wanted.room)
    ).signed(secret: secret)
    let hosts = configuration.hosts.isEmpty ? nil : configuration.hosts
    guard let body = try? JSONEncoder().encode(Answer(token: token, hosts: hosts)) else {
      preconditionFailure("strings are always JSON")
    }
    var response = HTTPResponse(status: 200, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
