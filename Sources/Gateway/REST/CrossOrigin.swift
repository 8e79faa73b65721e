internal import HTTPServer

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Which pages of other origins may read what is answered (the Fetch standard's CORS protocol). No credentials:
/// a request is known by the token that the page itself puts into it.
public struct CrossOrigin: Equatable, Sendable {
  /// As in `https://example.org`; `*` stands for all.
  public var origins: [String]

  public init(origins: [String] = ["*"]) { self.origins = origins }

  /// What pages may read beside what any answer has: also where a session is, which it is, and its ICE servers; and what a thumbnail is.
  private static let exposed =
    "location, retry-after, allow, etag, link, accept-post, accept-patch, "
    + "roost-codec, roost-width, roost-height, roost-time"

  func allow(_ request: HTTPRequest, on response: inout HTTPResponse) {
    if !origins.contains("*") { response.headers.add("vary", "origin") }
    guard let origin = request.headers["origin"], isAllowed(origin) else { return }
    response.headers.add("access-control-allow-origin", origins.contains("*") ? "*" : origin)
    response.headers.add("access-control-expose-headers", Self.exposed)
  }

  /// Browsers ask no one before they open a WebSocket to another origin: the server looks itself (RFC 6455 §4.2.2).
  /// - Parameter publicURL: where clients reach the server, if it is configured.
  /// - Returns: what a page of an origin gets that isn't allowed; nil where it is, where it is the server's own,
  ///   and for programs, which name none.
  func refusal(of request: HTTPRequest, publicURL: String?) -> HTTPResponse? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.socketOrigin) { return nil }
    #endif
    let isServed = request.headers.all("origin").allSatisfy { origin in
      if isAllowed(origin) { return true }
      guard let (scheme, page) = Self.authority(of: origin) else { return false }
      // A request says no scheme of its own: that of the page, which it is held against.
      let own = [request.headers["host"].map { "\(scheme)//\($0)" }, publicURL]
      return own.contains { url in url.flatMap { Self.authority(of: $0)?.authority } == page }
    }
    return isServed ? nil : Problem.origin("http.origins allows no WebSockets of it")
  }

  /// The scheme of a URL with its colon, and its host and port, in lower case; the port alone where it isn't the scheme's own, which may
  /// be written out or not (RFC 3986 §6.2.3). nil where there is none.
  static func authority(of url: String) -> (scheme: String, authority: String)? {
    guard let slashes = url.firstRange(of: "//") else { return nil }
    let scheme = url[..<slashes.lowerBound].lowercased()
    var authority = url[slashes.upperBound...].prefix { $0 != "/" }.lowercased()
    if let port = ["https:": ":443", "http:": ":80"][scheme], authority.hasSuffix(port) {
      authority.removeLast(port.count)
    }
    return authority.isEmpty ? nil : (scheme, authority)
  }

  /// Compared whole: scheme, host and port, of which case alone doesn't matter (RFC 6454 §5).
  private func isAllowed(_ origin: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.originPort), let end = origin.lastIndex(of: ":"),
        origins.contains(String(origin[..<end]))
      {
        return true
      }
    #endif
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.originPrefix) {
        return origins.contains { $0 == "*" || origin.lowercased().hasPrefix($0) }
      }
    #endif
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.originCase) { return origins.contains { $0 == "*" || $0 == origin } }
      if PlantedDefect.isOn(.originScheme), let host = origin.firstIndex(of: ":").map({ origin[$0...] }),
        origins.contains(where: { $0.hasSuffix(host) })
      {
        return true
      }
    #endif
    return origins.contains { $0 == "*" || $0.lowercased() == origin.lowercased() }
  }

  /// The answer to OPTIONS.
  func preflight(_ request: HTTPRequest, allowed: String, status: Int = 204) -> HTTPResponse {
    var response = HTTPResponse(status: status, headers: ["allow": allowed])
    allow(request, on: &response)
    guard response.headers["access-control-allow-origin"] != nil else { return response }
    response.headers.add("access-control-allow-methods", allowed)
    response.headers.add(
      "access-control-allow-headers", "authorization, content-type, last-event-id, if-match, idempotency-key")
    response.headers.add("access-control-max-age", "7200")
    return response
  }
}
