internal import WebSocketClient

/// A session by WHIP (RFC 9725) or WHEP: an offer that was answered, and where the session is.
struct StandaloneSession: Equatable, Sendable {
  /// SDP.
  let answer: String
  private let location: WebSocketURL
  private let token: String
  private let checksCertificate: Bool

  /// Posts an offer; blocks until it is answered.
  /// - Throws: `refused` for another status than 201, `handshake` for an answer without a session.
  init(
    offer: String, to endpoint: WebSocketURL, token: String, milliseconds: Int, checksCertificate: Bool
  ) throws(WebSocketClientError) {
    let answer = try HTTPExchange.send(
      "POST", endpoint,
      headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/sdp")],
      body: Array(offer.utf8), milliseconds: milliseconds, checksCertificate: checksCertificate)
    let body = String(decoding: answer.body, as: UTF8.self)
    guard answer.status == 201 else {
      throw .refused(status: answer.status, body: String(body.prefix(400)))
    }
    guard let text = answer.header("location"), let location = endpoint.resolving(text) else {
      throw .handshake("status 201 without a session's URL in Location")
    }
    (self.answer, self.location) = (body, location)
    (self.token, self.checksCertificate) = (token, checksCertificate)
  }

  /// Ends it; blocks until that is answered.
  func end(milliseconds: Int) {
    _ = try? HTTPExchange.send(
      "DELETE", location, headers: [("Authorization", "Bearer \(token)")], milliseconds: milliseconds,
      checksCertificate: checksCertificate)
  }
}

extension WebSocketURL {
  /// What a `Location` of this place's names: a path, or a whole URL.
  /// - Returns: nil for another scheme, and for a path that doesn't begin at the root.
  func resolving(_ location: String) -> WebSocketURL? {
    guard location.hasPrefix("/"), !location.hasPrefix("//") else { return WebSocketURL(location) }
    return WebSocketURL("\(isSecure ? "https" : "http")://\(host):\(port)\(location)")
  }
}
