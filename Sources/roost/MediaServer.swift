internal import Configuration
internal import Crypto
internal import Engine
internal import Foundation
internal import ICE
internal import Logging
internal import Model
internal import Negotiation
internal import Recording
internal import Rooms

/// The media plane and the rooms, put together as the configuration says.
struct MediaServer {
  let engine: MediaEngine
  let rooms: RoomDirectory
  let candidates: [SocketAddress]
  private let flights: FlightFiles?
  private let studio: RecordingStudio?

  /// Seconds since 1970, by the machine's clock, as tokens have them: one function for all who compare them, so that they
  /// agree also once that clock has been stepped.
  static let wallSeconds: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

  /// Binds the media port and starts the workers.
  /// - Parameter journal: where rooms write down what is to outlive the process; nil: nothing does.
  init(_ configuration: Configuration, development: Bool, journal: (any RoomJournal)?, log: Log) throws {
    let clock = Clock()
    let now = Int64(Date().timeIntervalSince1970)
    let day: Int64 = 86_400
    // A certificate of its own for each start; browsers look at its fingerprint alone.
    let dtls = try DTLSContext(certificate: DTLSCertificate(notBefore: now - day, notAfter: now + 365 * day))
    let workers =
      configuration.media.workers > 0
      ? configuration.media.workers : min(max(ProcessInfo.processInfo.activeProcessorCount, 1), 64)
    engine = try MediaEngine(
      MediaEngine.Configuration(
        port: UInt16(configuration.media.port), addresses: configuration.media.addresses, workers: workers,
        receiveBuffer: configuration.media.receiveBufferBytes,
        sendBuffer: configuration.media.sendBufferBytes,
        // Any worker may adopt any peer.
        peersPerWorker: configuration.limits.peers,
        publisherMaxBitrate: UInt64(configuration.media.publisherMaxBitrate),
        gathersFor: .microseconds(configuration.media.gatherMicroseconds)),
      clock: clock, dtls: dtls)
    candidates = try Self.candidates(configuration.media, engine, includesLoopback: development)
    let verification: ICEVerification =
      switch configuration.ice.verify {
      case .always: .always
      case .onChange: .onChange
      }
    var policy = NegotiationPolicy(usesTransportFeedback: true, videoCodecs: configuration.media.codecs)
    policy.maximumTracks = configuration.limits.tracksPerParticipant
    policy.maximumSections = configuration.limits.sectionsPerTransport
    let media = MediaPlane(
      engine: engine, candidates: candidates, verification: verification,
      peerLimit: configuration.limits.peers,
      policy: policy)
    flights = try Self.flights(configuration.flights, engine, log)
    studio = try Self.studio(configuration, development: development, engine, log)
    rooms = RoomDirectory(
      media: media, limits: Self.limits(configuration), log: log, journal: journal,
      reconnectGrace: .seconds(configuration.reconnect.seconds), flights: flights, studio: studio,
      wallSeconds: Self.wallSeconds)
    try engine.start()
    log.info(
      "media ready",
      [
        "port": "\(engine.port)", "workers": "\(workers)",
        "addresses": candidates.map(\.description).joined(separator: ","),
      ])
  }

  /// Writes what is still to be written of sessions that failed; to be called once the engine has stopped.
  func finishFlights() { flights?.stop() }

  /// Ends recordings and makes their files whole.
  func finishRecordings() { studio?.stop() }

  private static func studio(
    _ configuration: Configuration, development: Bool, _ engine: MediaEngine, _ log: Log
  ) throws -> RecordingStudio? {
    guard let directory = configuration.storage.filesDirectory(development: development) else { return nil }
    let recording = configuration.recording
    return try RecordingStudio(
      directory: directory + "/recordings",
      limits: RecordingLimits(
        atOnce: recording.atOnce, bytes: recording.bytes, free: recording.freeBytes, kept: recording.kept),
      bridge: engine.bridge, clock: { engine.clock.now }, epoch: engine.clock.epoch, log: log)
  }

  private static func flights(
    _ flights: Configuration.Flights, _ engine: MediaEngine, _ log: Log
  ) throws -> FlightFiles? {
    guard !flights.directory.isEmpty else { return nil }
    return try FlightFiles(
      directory: flights.directory, files: flights.files, bytes: flights.bytes, bridge: engine.bridge,
      epoch: engine.clock.epoch, log: log)
  }

  /// Says so where the workers could not be put before the process's other threads.
  func notePriority(_ log: Log) async {
    let workers = await engine.reports(within: .seconds(1)).compactMap { $0?.thread.niceness }
    guard let niceness = workers.max(), niceness >= ProcessUsage.niceness else { return }
    log.info(
      "media workers could not raise their priority, so many people joining at once can delay media; see LimitNICE in docs/operating.md",
      ["niceness": "\(niceness)"])
  }

  private static func limits(_ configuration: Configuration) -> RoomDirectory.Limits {
    var limits = RoomDirectory.Limits(
      rooms: configuration.limits.rooms, participantsPerRoom: configuration.limits.participantsPerRoom,
      participants: configuration.limits.participants)
    limits.makesRooms = configuration.rooms.create
    limits.defaults.admission = configuration.rooms.admission
    limits.defaults.emptyTimeout = configuration.rooms.emptyTimeout
    limits.defaults.departureTimeout = configuration.rooms.departureTimeout
    limits.removalMemory = configuration.rooms.removalMemory
    return limits
  }

  /// Each family as configured, else as the interfaces have it.
  private static func candidates(
    _ media: Configuration.Media, _ engine: MediaEngine, includesLoopback: Bool
  ) throws -> [SocketAddress] {
    let found = HostAddresses.list(
      port: engine.port, boundTo: media.addresses, includesLoopback: includesLoopback,
      includesIPv6: engine.hasIPv6)
    var candidates: [SocketAddress] = []
    for (advertised, isIPv4) in [(media.advertise.ipv4, true), (media.advertise.ipv6, false)] {
      switch advertised {
      case .none: break
      case .interfaces: candidates += found.filter { $0.isIPv4 == isIPv4 }
      case .addresses(let addresses):
        guard media.addresses.isEmpty || media.addresses.contains(where: { $0.isIPv4 == isIPv4 }) else {
          let family = isIPv4 ? "ipv4" : "ipv6"
          throw StartProblem(
            description:
              "media.advertise.\(family) announces addresses, but media.addresses has none of that family")
        }
        candidates += addresses.map { $0.port == 0 ? $0.with(port: engine.port) : $0 }
      }
    }
    guard !candidates.isEmpty else {
      throw StartProblem(
        description: "no address to offer to clients: no network interface has one that may be announced; "
          + "see media.advertise and media.addresses")
    }
    return candidates
  }
}

struct StartProblem: Error, CustomStringConvertible { let description: String }
