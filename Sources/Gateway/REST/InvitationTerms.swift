internal import HTTPServer
internal import Model

/// How invitations are given out and opened.
struct InvitationTerms: Sendable {
  /// Where clients reach the server; nil: by the name by which they have reached it.
  private let publicURL: String?
  /// Each opening makes an identity, so one address makes ten at once and then one in six seconds, whatever links it has.
  private let limiter: AttemptLimiter
  /// Its listeners speak TLS alone.
  private let isSecure: Bool

  init(publicURL: String?, isSecure: Bool, now: @escaping @Sendable () -> Instant) {
    self.publicURL = publicURL
    self.isSecure = isSecure
    limiter = AttemptLimiter(rate: 1.0 / 6, burst: 10, now: now)
  }

  /// - Returns: nil: it may open one; else the whole seconds after which it may again.
  func refusal(of request: HTTPRequest) -> Int? { limiter.refusal(of: request.remote) }

  /// The link to the page, whose secret no browser sends, since it stands behind the number sign.
  func link(to room: String, _ secret: String, for request: HTTPRequest) -> String {
    "\(base(of: request))/?room=\(room.percentEncoded())#invitation=\(secret)"
  }

  private func base(of request: HTTPRequest) -> String {
    if let publicURL { return publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL }
    let host = request.headers["host"] ?? "localhost"
    // Behind a proxy that speaks TLS for it a page of the server's own knows by which scheme it came.
    let page = request.headers["origin"].flatMap { CrossOrigin.authority(of: $0) }
    let isSecure =
      isSecure
      || page?.scheme == "https:"
        && page?.authority == CrossOrigin.authority(of: "https://\(host)")?.authority
    return "\(isSecure ? "https" : "http")://\(host)"
  }
}
