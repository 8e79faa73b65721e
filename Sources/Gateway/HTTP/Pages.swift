internal import HTTPServer

/// The page that joins a room and the one that administers them, as part of the program.
enum Pages {
  /// - Returns: nil for any other path.
  static func response(path: String) -> HTTPResponse? {
    let (type, body): (String, [UInt8])
    switch path {
    case "/", "/index.html": (type, body) = (html, PackageResources.index_html)
    case "/admin": (type, body) = (html, PackageResources.admin_html)
    default:
      guard path.hasPrefix("/"), let file = files[String(path.dropFirst())] else { return nil }
      (type, body) = file
    }
    var response = HTTPResponse(status: 200, type: type, body: body)
    for (name, value) in headers { response.headers.add(name, value) }
    return response
  }

  /// Everything but the pages themselves, by its name.
  private static let files: [String: (type: String, body: [UInt8])] = [
    "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
    "base.css": (style, PackageResources.base_css),
    "controls.css": (style, PackageResources.controls_css),
    "lobby.css": (style, PackageResources.lobby_css),
    "call.css": (style, PackageResources.call_css),
    "overlays.css": (style, PackageResources.overlays_css),
    "admin.css": (style, PackageResources.admin_css),
    "explained.css": (style, PackageResources.explained_css),
    "explained.js": (script, PackageResources.explained_js),
    "admin.js": (script, PackageResources.admin_js),
    "banner.js": (script, PackageResources.banner_js),
    "recorded.js": (script, PackageResources.recorded_js),
    "call.js": (script, PackageResources.call_js),
    "chart.js": (script, PackageResources.chart_js),
    "choices.js": (script, PackageResources.choices_js),
    "devices.js": (script, PackageResources.devices_js),
    "elements.js": (script, PackageResources.elements_js),
    "generated.js": (script, PackageResources.generated_js),
    "hosts.js": (script, PackageResources.hosts_js),
    "initials.js": (script, PackageResources.initials_js),
    "invitation.js": (script, PackageResources.invitation_js),
    "keyboard.js": (script, PackageResources.keyboard_js),
    "layout.js": (script, PackageResources.layout_js),
    "list.js": (script, PackageResources.list_js),
    "lobby.js": (script, PackageResources.lobby_js),
    "menu.js": (script, PackageResources.menu_js),
    "messages.js": (script, PackageResources.messages_js),
    "notices.js": (script, PackageResources.notices_js),
    "page.js": (script, PackageResources.page_js),
    "people.js": (script, PackageResources.people_js),
    "publication.js": (script, PackageResources.publication_js),
    "readings.js": (script, PackageResources.readings_js),
    "rest.js": (script, PackageResources.rest_js),
    "roost.js": (script, PackageResources.roost_js),
    "screen.js": (script, PackageResources.screen_js),
    "sending.js": (script, PackageResources.sending_js),
    "signalling.js": (script, PackageResources.signalling_js),
    "sizes.js": (script, PackageResources.sizes_js),
    "statistics.js": (script, PackageResources.statistics_js),
    "switches.js": (script, PackageResources.switches_js),
    "talk.js": (script, PackageResources.talk_js),
    "tiles.js": (script, PackageResources.tiles_js),
    "visit.js": (script, PackageResources.visit_js),
  ]

  private static let html = "text/html; charset=utf-8"
  private static let script = "text/javascript; charset=utf-8"
  private static let style = "text/css; charset=utf-8"

  /// No script but our own files, no other site's frame, no address passed to other sites.
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
