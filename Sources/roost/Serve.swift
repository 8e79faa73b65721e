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
  /// Puts the pieces together and runs until SIGINT or SIGTERM.
  static func serve(_ configuration: Configuration, development: Bool) async throws {
    let log = Log(level: LogLevel(name: configuration.log.level.rawValue) ?? .info)
    if development {
      log.warning("--dev: everybody knows this key pair (devkey / secret); for this machine only")
    } else {
      try configuration.requireProductionKeys()
    }
    let media = try MediaServer(configuration, development: development, log: log)
    let events = Task { await media.rooms.run() }

    let gateway = Gateway(
      configuration: GatewayConfiguration(keys: configuration.keys, isDevelopment: development) {
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
        listeners: configuration.http.addresses.map { .init($0.with(port: port)) }, limits: limits),
      handler: gateway)
    print("Roost is ready. The page:")
    for address in server.addresses { print("  http://\(address)/") }
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
