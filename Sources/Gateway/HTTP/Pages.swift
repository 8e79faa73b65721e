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
    "tiles.css": (style, PackageResources.tiles_css),
    "overlays.css": (style, PackageResources.overlays_css),
    "statistics.css": (style, PackageResources.statistics_css),
    "help.css": (style, PackageResources.help_css),
    "in-call.css": (style, PackageResources.in_call_css),
    "side.css": (style, PackageResources.side_css),
    "outside.css": (style, PackageResources.outside_css),
    "view.css": (style, PackageResources.view_css),
    "admin.css": (style, PackageResources.admin_css),
    "admin-room.css": (style, PackageResources.admin_room_css),
    "explained.css": (style, PackageResources.explained_css),
    "invite.css": (style, PackageResources.invite_css),
    "explained.js": (script, PackageResources.explained_js),
    "admin.js": (script, PackageResources.admin_js),
    "admin-chart.js": (script, PackageResources.admin_chart_js),
    "admin-desk.js": (script, PackageResources.admin_desk_js),
    "admin-events.js": (script, PackageResources.admin_events_js),
    "admin-history.js": (script, PackageResources.admin_history_js),
    "admin-invitations.js": (script, PackageResources.admin_invitations_js),
    "admin-people.js": (script, PackageResources.admin_people_js),
    "admin-person.js": (script, PackageResources.admin_person_js),
    "admin-room.js": (script, PackageResources.admin_room_js),
    "admin-rooms.js": (script, PackageResources.admin_rooms_js),
    "admin-server.js": (script, PackageResources.admin_server_js),
    "admin-thumbnail.js": (script, PackageResources.admin_thumbnail_js),
    "follow.js": (script, PackageResources.follow_js),
    "banner.js": (script, PackageResources.banner_js),
    "build.js": (script, PackageResources.build_js),
    "effects.js": (script, PackageResources.effects_js),
    "invite.js": (script, PackageResources.invite_js),
    "phone.js": (script, PackageResources.phone_js),
    "pressed.js": (script, PackageResources.pressed_js),
    "qr.js": (script, PackageResources.qr_js),
    "recorded.js": (script, PackageResources.recorded_js),
    "regions.js": (script, PackageResources.regions_js),
    "call.js": (script, PackageResources.call_js),
    "chat.js": (script, PackageResources.chat_js),
    "chat-panel.js": (script, PackageResources.chat_panel_js),
    "chart.js": (script, PackageResources.chart_js),
    "choices.js": (script, PackageResources.choices_js),
    "corner.js": (script, PackageResources.corner_js),
    "device-menus.js": (script, PackageResources.device_menus_js),
    "devices.js": (script, PackageResources.devices_js),
    "door.js": (script, PackageResources.door_js),
    "elements.js": (script, PackageResources.elements_js),
    "generated.js": (script, PackageResources.generated_js),
    "hands.js": (script, PackageResources.hands_js),
    "help.js": (script, PackageResources.help_js),
    "host-acts.js": (script, PackageResources.host_acts_js),
    "hosts.js": (script, PackageResources.hosts_js),
    "in-call.js": (script, PackageResources.in_call_js),
    "initials.js": (script, PackageResources.initials_js),
    "invitation.js": (script, PackageResources.invitation_js),
    "keyboard.js": (script, PackageResources.keyboard_js),
    "layout.js": (script, PackageResources.layout_js),
    "letters.js": (script, PackageResources.letters_js),
    "links.js": (script, PackageResources.links_js),
    "list.js": (script, PackageResources.list_js),
    "lobby.js": (script, PackageResources.lobby_js),
    "menu.js": (script, PackageResources.menu_js),
    "messages.js": (script, PackageResources.messages_js),
    "more.js": (script, PackageResources.more_js),
    "negotiation.js": (script, PackageResources.negotiation_js),
    "news.js": (script, PackageResources.news_js),
    "notices.js": (script, PackageResources.notices_js),
    "outside.js": (script, PackageResources.outside_js),
    "page.js": (script, PackageResources.page_js),
    "pager.js": (script, PackageResources.pager_js),
    "passing.js": (script, PackageResources.passing_js),
    "people.js": (script, PackageResources.people_js),
    "people-panel.js": (script, PackageResources.people_panel_js),
    "playback.js": (script, PackageResources.playback_js),
    "preferences.js": (script, PackageResources.preferences_js),
    "publication.js": (script, PackageResources.publication_js),
    "reactions.js": (script, PackageResources.reactions_js),
    "readings.js": (script, PackageResources.readings_js),
    "reasons.js": (script, PackageResources.reasons_js),
    "rest.js": (script, PackageResources.rest_js),
    "roomname.js": (script, PackageResources.roomname_js),
    "saver.js": (script, PackageResources.saver_js),
    "side.js": (script, PackageResources.side_js),
    "side-panel.js": (script, PackageResources.side_panel_js),
    "roost.js": (script, PackageResources.roost_js),
    "roster.js": (script, PackageResources.roster_js),
    "screen.js": (script, PackageResources.screen_js),
    "sending.js": (script, PackageResources.sending_js),
    "signalling.js": (script, PackageResources.signalling_js),
    "sizes.js": (script, PackageResources.sizes_js),
    "speaker-test.js": (script, PackageResources.speaker_test_js),
    "statistics.js": (script, PackageResources.statistics_js),
    "switches.js": (script, PackageResources.switches_js),
    "talk.js": (script, PackageResources.talk_js),
    "tiles.js": (script, PackageResources.tiles_js),
    "trouble.js": (script, PackageResources.trouble_js),
    "unheard.js": (script, PackageResources.unheard_js),
    "types.js": (script, PackageResources.types_js),
    "units.js": (script, PackageResources.units_js),
    "view.js": (script, PackageResources.view_js),
    "visit.js": (script, PackageResources.visit_js),
    "watches.js": (script, PackageResources.watches_js),
    "why.js": (script, PackageResources.why_js),
    "words.js": (script, PackageResources.words_js),
    "words-call-de.js": (script, PackageResources.words_call_de_js),
    "words-call-en.js": (script, PackageResources.words_call_en_js),
    "words-call-zh.js": (script, PackageResources.words_call_zh_js),
    "words-admin-de.js": (script, PackageResources.words_admin_de_js),
    "words-admin-en.js": (script, PackageResources.words_admin_en_js),
    "words-admin-zh.js": (script, PackageResources.words_admin_zh_js),
    "words-de.js": (script, PackageResources.words_de_js),
    "words-en.js": (script, PackageResources.words_en_js),
    "words-rtl.js": (script, PackageResources.words_rtl_js),
    "words-zh.js": (script, PackageResources.words_zh_js),
  ]

  /// What roost.js consists of, which pages of other origins import from here.
  static let module: Set = [
    "negotiation.js", "playback.js", "preferences.js", "publication.js", "roost.js", "roster.js",
    "signalling.js",
  ]

  static func isModule(path: String) -> Bool {
    path.hasPrefix("/") && module.contains(String(path.dropFirst()))
  }

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
