internal import HTTPClient

/// A session by WHIP (RFC 9725) or WHEP: an offer that was answered, and where the session is.
struct StandaloneSession: Equatable, Sendable {
  /// SDP.
  let answer: String
  private let location: HTTPURL
  private let token: String
  private let checksCertificate: Bool
  /// Bytes of an answer.
  private static let answerLimit = 1_048_576

  /// Posts an offer; blocks until it is answered.
  /// - Throws: for another status than 201, and an answer without a session.
  init(
    offer: String, to endpoint: HTTPURL, token: String, milliseconds: Int, checksCertificate: Bool
  ) throws(LoadError) {
    let answer = try Self.ask(
      .post, endpoint, token: token, offer: offer, milliseconds: milliseconds,
      checksCertificate: checksCertificate)
    let body = String(decoding: answer.body, as: UTF8.self)
    guard answer.head.status == 201 else {
      throw LoadError(
        body.isEmpty ? "status \(answer.head.status)" : "status \(answer.head.status): \(body.prefix(400))")
    }
    guard let text = answer.head["location"], let location = endpoint.resolving(text) else {
      throw LoadError("status 201 without a session's URL in Location")
    }
    (self.answer, self.location) = (body, location)
    (self.token, self.checksCertificate) = (token, checksCertificate)
  }

  /// Ends it; blocks until that is answered.
  func end(milliseconds: Int) {
    _ = try? Self.ask(
      .delete, location, token: token, offer: nil, milliseconds: milliseconds,
      checksCertificate: checksCertificate)
  }

  private static func ask(
    _ method: HTTPClientRequest.Method, _ url: HTTPURL, token: String, offer: String?, milliseconds: Int,
    checksCertificate: Bool
  ) throws(LoadError) -> HTTPAnswer {
    var request = HTTPClientRequest(method, url)
    request.headers = [("Authorization", "Bearer \(token)")]
    if let offer {
      request.headers.append(("Content-Type", "application/sdp"))
      request.body = Array(offer.utf8)
    }
    (request.milliseconds, request.connectMilliseconds) = (milliseconds, milliseconds)
    request.idleMilliseconds = milliseconds
    request.limit = Self.answerLimit
    do throws(HTTPClientError) {
      return try HTTPClient(trust: checksCertificate ? .system : .anyone).answer(to: request)
    } catch {
      throw LoadError("\(error)")
    }
  }
}

extension HTTPURL {
  /// What a `Location` of this place's names: a path, or a whole URL.
  /// - Returns: nil for another scheme, and for a path that doesn't begin at the root.
  func resolving(_ location: String) -> HTTPURL? {
    guard location.hasPrefix("/"), !location.hasPrefix("//") else { return HTTPURL(location) }
    return HTTPURL("\(isSecure ? "https" : "http")://\(host):\(port)\(location)")
  }
}
