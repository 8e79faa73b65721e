internal import Configuration
internal import Dispatch
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
    /// Whoever has a token of its operator.
    case owners
    /// `--dev`: whoever sits at this machine.
    case thisMachine
    /// `--dev --lan`: whoever is on its network.
    case network
  }

  /// Puts the pieces together and runs until SIGINT or SIGTERM.
  static func serve(_ configuration: Configuration, audience: Audience) async throws {
    let log = Log(level: LogLevel(name: configuration.log.level.rawValue) ?? .info)
    switch audience {
    case .owners: try configuration.requireProductionKeys()
    case .thisMachine:
      log.warning("--dev: everybody knows this key pair (devkey / secret); for this machine only")
    case .network:
      log.warning("--dev --lan: whoever reaches this address gets in; for a network of friends only")
    }
    let names = LocalNetwork.names()
    let secured = try Secured(configuration, audience: audience, names: names)
    let media = try MediaServer(configuration, development: audience != .owners, log: log)
    let events = Task { await media.rooms.run() }

    let development: GatewayConfiguration.Development? =
      switch audience {
      case .owners: nil
      case .thisMachine: .thisMachine
      case .network: .network(names: names)
      }
    let gateway = Gateway(
      configuration: GatewayConfiguration(keys: configuration.keys, development: development) {
        Int(Date().timeIntervalSince1970)
      }, rooms: LiveRooms(media.rooms))
    var limits = HTTPLimits()
    limits.connections = configuration.http.connections
    limits.connectionsPerAddress = configuration.http.connectionsPerAddress
    limits.bodyBytes = configuration.http.bodyBytes
    limits.messageBytes = configuration.http.messageBytes
    let port = UInt16(configuration.http.port)
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: configuration.http.addresses.map { .init($0.with(port: port)) }, limits: limits,
        tls: secured.context),
      handler: gateway)
    print(Greeting.text(addresses: server.addresses, secured: secured, isNetwork: audience == .network))
    // Whoever reads it may be a program behind a pipe.
    fflush(nil)

    await untilTold(to: [SIGINT, SIGTERM])
    log.info("stopping")
    await media.rooms.close()
    await server.shutdown()
    media.engine.stop()
    await events.value
  }

  /// Returns when one of the signals comes; a second one then ends the process as usual.
  private static func untilTold(to signals: [Int32]) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let sources = signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
    for await _ in stream { break }
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }
}
