/// Everything that can be configured. The file Config/roost.json5, the environment's names, the flags and the
/// help are made from this table.
public enum ConfigurationSchema {
  public static let options: [ConfigurationOption] = [
    .integer(
      "http.port", \.http.port, 0...65535,
      "TCP port for HTTP and WebSocket; 0 lets the system choose."),
    .addresses(
      "http.addresses", \.http.addresses, .any, atLeast: 1,
      "The addresses that HTTP listens on; with --dev they are 127.0.0.1 and ::1 whatever stands here."),
    .integer(
      "http.connections", \.http.connections, 1...100_000,
      "Open TCP connections over all addresses; one more is closed at once."),
    .integer(
      "http.connectionsPerAddress", \.http.connectionsPerAddress, 1...100_000,
      "Of these, from one IPv4 address or IPv6 /64; those of trusted proxies don't count."),
    .prefixes(
      "http.trustedProxies", \.http.trustedProxies,
      "Proxies that are believed when they say in X-Forwarded-For who asks; without them everybody behind a proxy "
        + "shares the proxy's address."),
    .integer(
      "http.headSeconds", \.http.headSeconds, 1...600,
      "Seconds for the head of a request, from the opening of its connection on; later it is cut."),
    .integer(
      "http.bodySeconds", \.http.bodySeconds, 1...600,
      "Seconds for the body of a request, from the end of its head on; later the connection is cut."),
    .integer(
      "http.bodyBytes", \.http.bodyBytes, 1024...67_108_864,
      "The largest request body; a larger one is answered by 413."),
    .integer(
      "http.messageBytes", \.http.messageBytes, 16_384...16_777_216,
      "The largest WebSocket message; a larger one closes its connection with 1009."),
    .origins(
      "http.origins", \.http.origins,
      "Whose pages may use REST from a browser, beside Roost's own; requests are known by their token alone."),
    .path(
      "http.certificate", \.http.certificate,
      "The PEM file with the server's certificate and those between it and its authority: HTTP then speaks TLS "
        + "alone."),
    .path("http.privateKey", \.http.privateKey, "The PEM file with the key of that certificate."),

    .integer(
      "admin.port", \.admin.port, 0...65535,
      "TCP port for the operator: metrics and health, without a token; 0 lets the system choose."),
    .addresses(
      "admin.addresses", \.admin.addresses, .any, atLeast: 0,
      "The addresses that it listens on; whoever reaches them reads the metrics. An empty list: none."),

    .integer(
      "media.port", \.media.port, 1...65535,
      "UDP port for all media, the same on every address."),
    .integer(
      "media.workers", \.media.workers, 0...64,
      "Threads that carry media; 0 makes one for each processor core."),
    .addresses(
      "media.advertise.ipv4", \.media.advertise.ipv4, .ipv4, atLeast: 0,
      "The IPv4 addresses that clients are told, such as a NAT's outer one; an empty list tells those of the "
        + "interfaces."),
    .addresses(
      "media.advertise.ipv6", \.media.advertise.ipv6, .ipv6, atLeast: 0,
      "The IPv6 addresses that clients are told; an empty list tells those of the interfaces."),
    .integer(
      "media.receiveBufferBytes", \.media.receiveBufferBytes, 65_536...1_073_741_824,
      "What the kernel may hold of received media for each worker; net.core.rmem_max bounds it."),
    .integer(
      "media.sendBufferBytes", \.media.sendBufferBytes, 65_536...1_073_741_824,
      "What the kernel may hold of sent media for each worker; net.core.wmem_max bounds it."),
    .videoCodecs(
      "media.codecs", \.media.codecs,
      "The video codecs that are taken from publishers and offered to subscribers, the preferred first; a publisher "
        + "uses the first that it has."),
    .integer(
      "media.publisherMaxBitrate", \.media.publisherMaxBitrate, 50_000...100_000_000,
      "Bits per second that a publisher is told to keep to where it can be told by REMB alone."),

    .choice(
      "ice.verify", \.ice.verify,
      "Whether each address must answer a check of our own before media goes to it, or only one that a running "
        + "session changes to."),

    .urls(
      "stun.urls", \.stun.urls, ["stun", "stuns"],
      "STUN servers that clients are told; a server on a public address needs none."),

    .urls(
      "turn.urls", \.turn.urls, ["turn", "turns"],
      "TURN servers that clients are told, for those whose network lets no UDP through."),
    .secret(
      "turn.secret", \.turn.secret,
      "The secret that those servers share with this one, coturn's static-auth-secret; it signs a user name for "
        + "each client."),
    .integer(
      "turn.lifetime", \.turn.lifetime, 60...2_592_000,
      "Seconds for which such a user name may be used."),

    .keys(
      "keys", \.keys,
      "API keys with their secrets of at least 32 bytes, which sign access tokens; with --dev they are devkey and "
        + "secret whatever stands here."),

    .choice("log.level", \.log.level, "The least severe message that is logged."),

    .flag(
      "rooms.create", \.rooms.create,
      "Whether a room is made for the first who comes; if not, only POST /v1/rooms makes one."),
    .integer(
      "rooms.emptyTimeout", \.rooms.emptyTimeout, 1...86_400,
      "Seconds that a room which was made ahead waits for its first participant, unless it says otherwise."),
    .integer(
      "rooms.departureTimeout", \.rooms.departureTimeout, 0...86_400,
      "Seconds that a room stays once everybody has left, unless it says otherwise."),
    .integer(
      "rooms.removalMemory", \.rooms.removalMemory, 60...31_536_000,
      "Seconds for which it is remembered who was removed from a room; make it longer than tokens are valid."),

    .integer(
      "limits.peers", \.limits.peers, 1...65_535,
      "Connected media transports; beyond, new ones are refused."),
    .integer(
      "limits.rooms", \.limits.rooms, 1...1_000_000,
      "Rooms; beyond, none is made, and who would need one is told so."),
    .integer(
      "limits.participants", \.limits.participants, 1...1_000_000,
      "Participants in all rooms together; beyond, joining is refused with room-full."),
    .integer(
      "limits.participantsPerRoom", \.limits.participantsPerRoom, 1...100_000,
      "Participants of one room, which may have a lower bound of its own; beyond, joining is refused with "
        + "room-full."),
    .integer(
      "limits.tracksPerParticipant", \.limits.tracksPerParticipant, 1...128,
      "Tracks that a participant publishes at once; further sections are declined with limit."),
    .integer(
      "limits.sectionsPerTransport", \.limits.sectionsPerTransport, 1...128,
      "Media sections of an offer, with those that are stopped; a larger offer is refused."),
    .integer(
      "limits.requestsPerAddress", \.limits.requestsPerAddress, 1...1_000_000,
      "Requests a second, new WebSockets among them, from one IPv4 address or IPv6 /64; beyond, they are answered by "
        + "429. Pages and health don't count."),
    .integer(
      "limits.requestsAtOncePerAddress", \.limits.requestsAtOncePerAddress, 1...1_000_000,
      "The same, at once."),

    .integer(
      "drain.seconds", \.drain.seconds, 0...86_400,
      "After SIGTERM, the seconds that those who are in a room may stay while nobody new is let in."),

    .integer(
      "reconnect.seconds", \.reconnect.seconds, 1...600,
      "How long somebody whose WebSocket has gone may come back to the same session."),
  ]

  static func option(_ name: String) -> ConfigurationOption? { options.first { $0.name == name } }

  /// Whether options live below that name, as below `media.advertise`.
  static func isGroup(_ name: String) -> Bool { options.contains { $0.name.hasPrefix(name + ".") } }
}

extension Configuration {
  /// This configuration as a commented file; secrets are hidden.
  public var json5: String {
    var text = """
      // The configuration of Roost: every option, with its default unless changed.
      //
      // An option may also come from the environment or the command line, in rising priority:
      //   this file, ROOST_MEDIA_WORKERS=2, --media.workers=2
      //
      // Written by `roost config --defaults`.
      {

      """
    var open: [String] = []
    for option in ConfigurationSchema.options {
      let parts = option.name.split(separator: ".").map(String.init)
      let groups = Array(parts.dropLast())
      let common = zip(open, groups).prefix { $0 == $1 }.count
      while open.count > common {
        open.removeLast()
        text += indent(open.count + 1) + "},\n"
      }
      if common == 0, !text.hasSuffix("{\n") { text += "\n" }
      for group in groups[common...] {
        text += indent(open.count + 1) + "\(group): {\n"
        open.append(group)
      }
      let change = option.change == .atStart ? "Read at start." : "Can change while running."
      let lines = wrapped(
        "\(option.explanation) \(option.expectation.capitalizedFirst). \(change)", width: 96)
      for line in lines { text += indent(open.count + 1) + "// \(line)\n" }
      text += indent(open.count + 1) + "\(parts[parts.count - 1]): \(option.render(self)),\n"
    }
    while !open.isEmpty {
      open.removeLast()
      text += indent(open.count + 1) + "},\n"
    }
    return text + "}\n"
  }

  private func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

  private func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
