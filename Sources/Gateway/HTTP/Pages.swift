internal import HTTPServer

/// The page that joins a room, held in the program itself.
enum Pages {
  /// - Returns: nil for any other path.
  static func response(path: String) -> HTTPResponse? {
    let (type, body): (String, [UInt8])
    switch path {
    case "/", "/index.html": (type, body) = (html, PackageResources.index_html)
    case "/style.css": (type, body) = ("text/css; charset=utf-8", PackageResources.style_css)
    case "/icon.svg": (type, body) = ("image/svg+xml", PackageResources.icon_svg)
    case "/page.js": (type, body) = (script, PackageResources.page_js)
    case "/roost.js": (type, body) = (script, PackageResources.roost_js)
    case "/signalling.js": (type, body) = (script, PackageResources.signalling_js)
    case "/devices.js": (type, body) = (script, PackageResources.devices_js)
    case "/generated.js": (type, body) = (script, PackageResources.generated_js)
    case "/messages.js": (type, body) = (script, PackageResources.messages_js)
    case "/statistics.js": (type, body) = (script, PackageResources.statistics_js)
    case "/tiles.js": (type, body) = (script, PackageResources.tiles_js)
    default: return nil
    }
    var response = HTTPResponse(status: 200, type: type, body: body)
    for (name, value) in headers { response.headers.add(name, value) }
    return response
  }

  private static let html = "text/html; charset=utf-8"
  private static let script = "text/javascript; charset=utf-8"

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
