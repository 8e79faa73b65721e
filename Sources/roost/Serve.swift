internal import Configuration
internal import Engine
internal import Foundation
internal import Gateway
internal import HTTPServer
internal import Logging
internal import Model
internal import Rooms

extension Roost {
  /// Who the server is for.
  enum Audience {
    /// Those with a token of its operator.
    case owners
    /// `--dev`: the people at this machine.
    case thisMachine
    /// `--dev --lan`: everyone on its network.
    case network
  }

  /// Puts the pieces together and runs until SIGINT or SIGTERM.
  static func serve(_ configuration: Configuration, audience: Audience) async throws {
    let started = Date().timeIntervalSince1970
    DescriptorLimit.raise()
    // Who reads the log may go before the server does.
    signal(SIGPIPE, SIG_IGN)
    let log = Log(level: LogLevel(name: configuration.log.level.rawValue) ?? .info)
    for name in configuration.ignoredVariables {
      log.warning("environment variable ignored: it is no option of this server", ["name": name])
    }
    switch audience {
    case .owners: try configuration.requireProductionKeys()
    case .thisMachine:
      log.warning("--dev: everybody knows this key pair (devkey / secret); for this machine only")
    case .network:
      log.warning("--dev --lan: everyone who reaches this address gets in; for a network of friends only")
    }
    let names = LocalNetwork.names()
    let secured = try Secured(configuration, audience: audience, names: names)
    // First: a second server on the same records ends here, before it takes a port.
    let targets = try webhookTargets(configuration)
    let records = try await Records(
      configuration, receivers: targets.map(\.name), development: audience != .owners, log: log)
    let media = try MediaServer(
      configuration, development: audience != .owners, journal: records.journal, log: log)
    await media.notePriority(log)
    await media.rooms.recover(records.recovery)
    let events = Task { await media.rooms.run() }
    let calls = try await CallService(configuration, media, records.store, log: log)

    var doors = doors(configuration, audience, names: names, media)
    doors.isSecure = secured.context != nil
    doors.authorizer = try CallService.authorizer(configuration)
    let gateway = Gateway(
      configuration: doors, rooms: media.rooms,
      administered: media.rooms, calls: (calls.desk, calls.rooms))
    let port = UInt16(configuration.http.port)
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: configuration.http.addresses.map { .init($0.with(port: port)) },
        limits: limits(configuration.http),
        tls: secured.context),
      handler: gateway)
    let webhooks = records.deliveries.map {
      Self.webhooks(to: targets, $0, media, authorities: configuration.webhooks.authorities, log: log)
    }
    let admin = try adminServer(
      configuration.admin, of: server, media, records, webhooks, calls.rooms, started: started)
    let ending = Ending()
    for address in admin?.addresses ?? [] { log.info("admin listener ready", ["address": "\(address)"]) }
    print(Greeting.text(addresses: server.addresses, secured: secured, isNetwork: audience == .network))
    // Its reader may be a program behind a pipe.
    fflush(nil)

    await ending.wait(for: media.rooms, patience: .seconds(configuration.drain.seconds), log: log)
    await stop(server, admin, webhooks, calls, media)
    await events.value
    media.finishFlights()
    await records.close(log)
  }

  /// Everybody hears that it is over, and what happened until then is stored and sent.
  private static func stop(
    _ server: HTTPServer, _ admin: HTTPServer?, _ webhooks: Webhooks?, _ calls: CallService,
    _ media: MediaServer
  ) async {
    await calls.freeze()
    await Ending.sayFarewell(media.rooms, through: server)
    // The last events can be read, and sent, once they are stored.
    try? await media.rooms.synced()
    // Beside each other: what receivers take their time for holds up no reader's end.
    async let delivered: Void? = webhooks?.finish(within: .seconds(5))
    await server.shutdown()
    await delivered
    await admin?.shutdown(grace: .seconds(1))
    await calls.stop()
    media.finishRecordings()
    media.engine.stop()
  }

  /// What the doors ask of those who come.
  private static func doors(
    _ configuration: Configuration, _ audience: Audience, names: [String], _ media: MediaServer
  ) -> GatewayConfiguration {
    let development: GatewayConfiguration.Development? =
      switch audience {
      case .owners: nil
      case .thisMachine: .thisMachine
      case .network: .network(names: names)
      }
    var doors = GatewayConfiguration(
      keys: configuration.keys, development: development, now: MediaServer.wallSeconds)
    if audience == .network {
      doors.hosts = LocalNetwork.addresses(includesLoopback: false).map {
        $0.isIPv4 ? $0.host : "[\($0.host)]"
      }
    }
    doors.iceServers = ICEServers(
      stunURLs: configuration.stun.urls, turnURLs: configuration.turn.urls,
      turnSecret: configuration.turn.secret, turnLifetime: configuration.turn.lifetime)
    doors.publicURL = configuration.http.url.isEmpty ? nil : configuration.http.url
    doors.isDirectoryOpen = configuration.calls.directory == .open
    doors.crossOrigin = CrossOrigin(origins: configuration.http.origins)
    doors.version = version
    doors.attempts = AttemptLimiter(
      rate: Double(configuration.limits.requestsPerAddress),
      burst: Double(configuration.limits.requestsAtOncePerAddress)
    ) { [clock = media.engine.clock] in clock.now }
    return doors
  }

  private static func webhookTargets(_ configuration: Configuration) throws -> [Webhooks.Target] {
    let targets = try configuration.webhookTargets().map {
      Webhooks.Target(url: $0.url, key: $0.key, secret: configuration.keys[$0.key] ?? "")
    }
    let authorities = configuration.webhooks.authorities
    guard !targets.isEmpty, !authorities.isEmpty else { return targets }
    do {
      _ = try Roost.text(of: authorities)
    } catch {
      throw StartProblem(description: "\(authorities): cannot be read: \(error)")
    }
    return targets
  }

  /// - Parameter authorities: empty: those of the system.
  private static func webhooks(
    to targets: [Webhooks.Target], _ deliveries: StoredDeliveries, _ media: MediaServer, authorities: String,
    log: Log
  ) -> Webhooks {
    Webhooks(
      to: targets, of: media.rooms.events, deliveries: deliveries,
      authorities: authorities.isEmpty ? nil : authorities, log: log,
      seconds: MediaServer.wallSeconds, wall: { [rooms = media.rooms] in rooms.wallTime },
      instant: { [clock = media.engine.clock] in clock.now })
  }

  private static func limits(_ http: Configuration.HTTP) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = http.connections
    limits.connectionsPerAddress = http.connectionsPerAddress
    limits.streams.total = http.streams
    limits.streams.perAddress = http.streamsPerAddress
    limits.proxies = http.trustedProxies
    limits.headTime = .seconds(http.headSeconds)
    limits.bodyTime = .seconds(http.bodySeconds)
    limits.bodyBytes = http.bodyBytes
    limits.messageBytes = http.messageBytes
    return limits
  }

  /// Metrics and health on a thread of their own, answered also while the public listener has all that it can take.
  private static func adminServer(
    _ admin: Configuration.Admin, of server: HTTPServer, _ media: MediaServer, _ records: Records,
    _ webhooks: Webhooks?, _ calls: CallRooms, started: Double
  ) throws -> HTTPServer? {
    guard !admin.addresses.isEmpty else { return nil }
    var limits = HTTPLimits()
    limits.connections = 64
    limits.connectionsPerAddress = 64
    return try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: admin.addresses.map { .init($0.with(port: UInt16(admin.port))) }, limits: limits),
      handler: AdminDoor(
        rooms: media.rooms, store: records.store, journal: records.journal, engine: media.engine,
        server: server, webhooks: webhooks, calls: calls, version: version,
        started: started, isLocalOnly: admin.addresses.allSatisfy(\.isLoopback)))
  }
}
