internal import Signalling

/// STUN and TURN servers as `Link` fields (RFC 9725 §4.6, RFC 8288).
enum ICELink {
  static func fields(_ servers: [ICEServerBody]) -> [String] {
    servers.flatMap { server in
      server.urls.map { url in
        var field = "<\(url)>; rel=\"ice-server\""
        if let username = server.username, let credential = server.credential {
          field += "; username=\(quoted(username)); credential=\(quoted(credential))"
          field += "; credential-type=\"password\""
        }
        return field
      }
    }
  }

  /// RFC 9110 §5.6.4.
  private static func quoted(_ text: String) -> String {
    "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
  }
}
