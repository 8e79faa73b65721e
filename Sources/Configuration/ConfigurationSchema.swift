/// Everything that can be configured. The file Config/roost.json5, the environment's names, the flags and the
/// help are made from this table.
public enum ConfigurationSchema {
  public static let options: [ConfigurationOption] = main + calls

  private static let main: [ConfigurationOption] = [
    .integer(
      "http.port", \.http.port, 0...65535,
      "TCP port for HTTP and WebSocket; 0 lets the system choose one."),
    .addresses(
      "http.addresses", \.http.addresses, atLeast: 1,
      "Addresses that HTTP listens on; with --dev always 127.0.0.1 and ::1."),
    .text(
      "http.url", \.http.url, "a URL such as https://media.example, or \"\"",
      "Where clients reach the server. Pushes and calls tell it to them; without it calls tell the name of the request, and pushes "
        + "none.", { $0.isEmpty || WebhookURL($0).map { $0.key == nil } ?? false }),
    .integer(
      "http.connections", \.http.connections, 1...100_000,
      "Open TCP connections in total; further ones are closed at once."),
    .integer(
      "http.connectionsPerAddress", \.http.connectionsPerAddress, 1...100_000,
      "Open TCP connections from one IPv4 address or IPv6 /64; trusted proxies are exempt."),
    .integer(
      "http.streams", \.http.streams, 1...100_000,
      "Readers of events as they happen (Server-Sent Events) in total; further ones are answered with 503."),
    .integer(
      "http.streamsPerAddress", \.http.streamsPerAddress, 1...100_000,
      "Readers of events from one IPv4 address or IPv6 /64, behind a trusted proxy that of the client; further ones are answered with 429."
    ),
    .prefixes(
      "http.trustedProxies", \.http.trustedProxies,
      "Proxies whose X-Forwarded-For is trusted; behind any other proxy all clients share the proxy's address."
    ),
    .integer(
      "http.headSeconds", \.http.headSeconds, 1...600,
      "Seconds for the header of a request, from when the connection opens; then it is closed."),
    .integer(
      "http.bodySeconds", \.http.bodySeconds, 1...600,
      "Seconds for the body of a request, from the end of its header; then the connection is closed."),
    .integer(
      "http.bodyBytes", \.http.bodyBytes, 1024...67_108_864,
      "Largest request body; a larger one is answered with 413."),
    .integer(
      "http.messageBytes", \.http.messageBytes, 16_384...16_777_216,
      "Largest WebSocket message; a larger one closes the connection with 1009."),
    .origins(
      "http.origins", \.http.origins,
      "Origins whose pages may use REST, WebSockets and roost.js from a browser, beside Roost's own; tokens alone authorize."
    ),
    .path(
      "http.certificate", \.http.certificate,
      "PEM file with the server's certificate and the intermediate ones; HTTP then accepts TLS only."),
    .path("http.privateKey", \.http.privateKey, "PEM file with the private key of that certificate."),

    .integer(
      "admin.port", \.admin.port, 0...65535,
      "TCP port for metrics and health, without a token; 0 lets the system choose one."),
    .addresses(
      "admin.addresses", \.admin.addresses, atLeast: 0,
      "Addresses that it listens on; anyone who can reach them can read the metrics. An empty list turns it off."
    ),

    .integer(
      "media.port", \.media.port, 1...65535,
      "UDP port for all media, the same on every address."),
    .addresses(
      "media.addresses", \.media.addresses, atLeast: 0,
      "Addresses of this host that media is bound to; 0.0.0.0 and :: stand for all of their family, an empty list for "
        + "all of both."),
    .integer(
      "media.workers", \.media.workers, 0...64,
      "Threads that carry media; 0 starts one per processor core."),
    .advertised(
      "media.advertise.ipv4", \.media.advertise.ipv4, isIPv4: true,
      "IPv4 addresses announced to clients, such as the public one of a NAT; an empty list announces those of the "
        + "network interfaces, \"none\" keeps clients from using IPv4."),
    .advertised(
      "media.advertise.ipv6", \.media.advertise.ipv6, isIPv4: false,
      "IPv6 addresses announced to clients; an empty list announces those of the network interfaces, \"none\" keeps "
        + "clients from using IPv6."),
    .integer(
      "media.receiveBufferBytes", \.media.receiveBufferBytes, 65_536...1_073_741_824,
      "Socket receive buffer of each worker; limited by net.core.rmem_max."),
    .integer(
      "media.sendBufferBytes", \.media.sendBufferBytes, 65_536...1_073_741_824,
      "Socket send buffer of each worker; limited by net.core.wmem_max."),
    .videoCodecs(
      "media.codecs", \.media.codecs,
      "Video codecs for publishers and subscribers, in order of preference; a publisher uses the first that it "
        + "supports."),
    .integer(
      "media.publisherMaxBitrate", \.media.publisherMaxBitrate, 50_000...100_000_000,
      "Bits per second that publishers are limited to where REMB is the only feedback they offer."),
    .integer(
      "media.gatherMicroseconds", \.media.gatherMicroseconds, 0...2_000,
      "How long a worker may wait for the rest of a video frame before it looks at its sockets again; 0 turns it off. It saves "
        + "processor time where rooms are small. Audio that has come never waits."),

    .choice(
      "ice.verify", \.ice.verify,
      "Whether every address must answer a connectivity check before media is sent to it, or only those that a running "
        + "session changes to."),

    .urls(
      "stun.urls", \.stun.urls, ["stun", "stuns"],
      "STUN servers announced to clients; not needed on a public address."),

    .urls(
      "turn.urls", \.turn.urls, ["turn", "turns"],
      "TURN servers announced to clients, for networks that block UDP."),
    .secret(
      "turn.secret", \.turn.secret,
      "Secret shared with the TURN servers (static-auth-secret in coturn), which signs a user name for each client."
    ),
    .integer(
      "turn.lifetime", \.turn.lifetime, 60...2_592_000,
      "Seconds for which such a user name is valid."),

    .keys(
      "keys", \.keys,
      "API keys and their secrets of at least 32 bytes, which sign access tokens; with --dev always devkey and secret."
    ),

    .webhooks(
      "webhooks.urls", \.webhooks.urls,
      "Receivers that are sent every event by POST; behind a # the API key whose secret signs, needed where there are several."
    ),
    .path(
      "webhooks.authorities", \.webhooks.authorities,
      "PEM file with the certificates that vouch for receivers, in place of the system's."),
    .integer(
      "webhooks.heldBytes", \.webhooks.heldBytes, 1_048_576...1_125_899_906_842_624,
      "Bytes of stored events that wait for a receiver, with what is stored behind them; beyond, the oldest are given up."
    ),

    .choice("log.level", \.log.level, "Least severe level that is logged."),

    .flag(
      "rooms.create", \.rooms.create,
      "Whether joining creates a room; if not, only POST /v1/rooms does."),
    .flag(
      "rooms.admission", \.rooms.admission,
      "Whether who joins waits until a host of the room lets them in, unless the room says otherwise."),
    .integer(
      "rooms.emptyTimeout", \.rooms.emptyTimeout, 1...86_400,
      "Seconds that a room created by POST waits for its first participant, unless the room sets its own."),
    .integer(
      "rooms.departureTimeout", \.rooms.departureTimeout, 0...86_400,
      "Seconds that a room stays after everyone has left, unless the room sets its own."),
    .integer(
      "rooms.removalMemory", \.rooms.removalMemory, 60...31_536_000,
      "Seconds for which removals from a room are remembered; make it longer than tokens are valid."),

    .integer(
      "limits.peers", \.limits.peers, 1...65_535,
      "Media transports at once; further ones are refused."),
    .integer(
      "limits.rooms", \.limits.rooms, 1...1_000_000,
      "Rooms at once; creating another is refused."),
    .integer(
      "limits.participants", \.limits.participants, 1...1_000_000,
      "Participants in all rooms; joining beyond that is refused with room-full."),
    .integer(
      "limits.participantsPerRoom", \.limits.participantsPerRoom, 1...100_000,
      "Participants in one room, which may set a lower limit of its own; joining beyond that is refused with "
        + "room-full."),
    .integer(
      "limits.tracksPerParticipant", \.limits.tracksPerParticipant, 1...128,
      "Tracks that a participant may publish at once; further sections are declined with limit."),
    .integer(
      "limits.sectionsPerTransport", \.limits.sectionsPerTransport, 1...128,
      "Media sections in an offer, including stopped ones; a larger offer is refused."),
    .integer(
      "limits.requestsPerAddress", \.limits.requestsPerAddress, 1...1_000_000,
      "Requests per second, including new WebSockets, from one IPv4 address or IPv6 /64; further ones are answered with "
        + "429. Pages and health checks don't count."),
    .integer(
      "limits.requestsAtOncePerAddress", \.limits.requestsAtOncePerAddress, 1...1_000_000,
      "Requests from one address at once, before that rate applies."),

    .integer(
      "drain.seconds", \.drain.seconds, 0...86_400,
      "Seconds after SIGTERM for which participants may stay, while no one new is let in."),

    .integer(
      "reconnect.seconds", \.reconnect.seconds, 1...600,
      "Seconds for which a participant whose WebSocket broke can resume its session."),

    .path(
      "flights.directory", \.flights.directory,
      "Directory in which the flight recorder of each session that fails is written, as a capture file without payload, for "
        + "the server's user to read.", of: "directory"),
    .integer(
      "flights.files", \.flights.files, 1...10_000,
      "Capture files in that directory; of the room that has the most the oldest are removed."),
    .integer(
      "flights.bytes", \.flights.bytes, 4_194_304...17_179_869_184,
      "Bytes of all of them together; of the room that has the most the oldest are removed."),

    .path(
      "storage.directory", \.storage.directory,
      "Directory for the file roost.db, which has what outlives a restart: rooms, their events, removals. One server at a time "
        + "can use it. Where none is given, it is \(Configuration.Storage.productionDirectory), or with --dev memory alone.",
      of: "directory"),
    .secret(
      "storage.postgresql", \.storage.postgresql,
      "Connection string of a PostgreSQL database for the same instead, as in postgresql://roost:password@host/roost."
    ),

    .integer(
      "recording.atOnce", \.recording.atOnce, 0...256,
      "Recordings at the same time, in all rooms; further ones are refused. Their files are in storage.directory, in the folder "
        + "recordings."),
    .integer(
      "recording.bytes", \.recording.bytes, 1_048_576...1_125_899_906_842_624,
      "Bytes of all files of one recording; then it ends."),
    .integer(
      "recording.freeBytes", \.recording.freeBytes, 0...1_125_899_906_842_624,
      "Bytes that stay free on the disk; a recording that would take of them ends, and none begins."),
    .integer(
      "recording.kept", \.recording.kept, 1...1_000_000,
      "Recordings that are kept, those that have ended among them; beyond that none begins until some are erased."
    ),
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
      let change = option.change == .atStart ? "Takes effect at start." : "Takes effect while running."
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
