internal import HTTPServer

/// The page that joins a room, held in the program itself.
enum Pages {
  /// - Returns: nil for any other path.
  static func response(path: String) -> HTTPResponse? {
    let (type, body): (String, [UInt8])
    switch path {
    case "/", "/index.html": (type, body) = ("text/html; charset=utf-8", PackageResources.index_html)
    case "/page.js": (type, body) = ("text/javascript; charset=utf-8", PackageResources.page_js)
    case "/roost.js": (type, body) = ("text/javascript; charset=utf-8", PackageResources.roost_js)
    case "/style.css": (type, body) = ("text/css; charset=utf-8", PackageResources.style_css)
    default: return nil
    }
    var response = HTTPResponse(status: 200, type: type, body: body)
    for (name, value) in headers { response.headers.add(name, value) }
    return response
  }

  /// No script but our own files, no other site's frame, no address told to other sites.
  private static let headers = [
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    ("permissions-policy", "camera=(self), microphone=(self), display-capture=(self)"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-cache"),
  ]
}
