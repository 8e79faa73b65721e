internal import HTTPServer

/// The page that joins a room, held in the program itself.
enum Pages {
  /// - Returns: nil for any other path.
  static func response(path: String) -> HTTPResponse? {
    let isPage = path == "/" || path == "/index.html"
    guard path.hasPrefix("/"),
      let (type, body) = isPage ? (html, PackageResources.index_html) : files[String(path.dropFirst())]
    else { return nil }
    var response = HTTPResponse(status: 200, type: type, body: body)
    for (name, value) in headers { response.headers.add(name, value) }
    return response
  }

  /// Everything but the page itself, by its name.
  private static let files: [String: (type: String, body: [UInt8])] = [
    "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
    "base.css": (style, PackageResources.base_css),
    "controls.css": (style, PackageResources.controls_css),
    "lobby.css": (style, PackageResources.lobby_css),
    "call.css": (style, PackageResources.call_css),
    "overlays.css": (style, PackageResources.overlays_css),
    "banner.js": (script, PackageResources.banner_js),
    "call.js": (script, PackageResources.call_js),
    "choices.js": (script, PackageResources.choices_js),
    "devices.js": (script, PackageResources.devices_js),
    "elements.js": (script, PackageResources.elements_js),
    "generated.js": (script, PackageResources.generated_js),
    "keyboard.js": (script, PackageResources.keyboard_js),
    "layout.js": (script, PackageResources.layout_js),
    "lobby.js": (script, PackageResources.lobby_js),
    "menu.js": (script, PackageResources.menu_js),
    "messages.js": (script, PackageResources.messages_js),
    "notices.js": (script, PackageResources.notices_js),
    "page.js": (script, PackageResources.page_js),
    "people.js": (script, PackageResources.people_js),
    "readings.js": (script, PackageResources.readings_js),
    "roost.js": (script, PackageResources.roost_js),
    "screen.js": (script, PackageResources.screen_js),
    "sending.js": (script, PackageResources.sending_js),
    "signalling.js": (script, PackageResources.signalling_js),
    "statistics.js": (script, PackageResources.statistics_js),
    "switches.js": (script, PackageResources.switches_js),
    "tiles.js": (script, PackageResources.tiles_js),
    "visit.js": (script, PackageResources.visit_js),
  ]

  private static let html = "text/html; charset=utf-8"
  private static let script = "text/javascript; charset=utf-8"
  private static let style = "text/css; charset=utf-8"

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
