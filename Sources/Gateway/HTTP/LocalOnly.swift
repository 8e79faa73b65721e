internal import HTTPServer

/// With a key pair that everybody knows, a foreign page in the developer's browser must not reach the server,
/// neither across origins nor by a name that it has pointed at 127.0.0.1 (DNS rebinding).
enum LocalOnly {
  /// - Returns: the refusal, or nil for a request that comes from this machine's own pages or programs.
  static func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard let host = request.headers["host"], isLocal(authority: host) else {
      return Problem.response(421, "host", "With --dev only this machine's own names are served")
    }
    let origins = request.headers.all("origin")
    guard origins.allSatisfy(isLocal(origin:)) else {
      return Problem.response(403, "origin", "With --dev only this machine's own pages are served")
    }
    return nil
  }

  static func isLocal(origin: String) -> Bool {
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return isLocal(authority: String(origin.dropFirst(scheme.count)))
    }
    return false
  }

  static func isLocal(authority: String) -> Bool {
    for name in ["localhost", "127.0.0.1", "[::1]"] where authority.lowercased().hasPrefix(name) {
      let rest = authority.dropFirst(name.count)
      return rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()) != nil)
    }
    return false
  }
}
