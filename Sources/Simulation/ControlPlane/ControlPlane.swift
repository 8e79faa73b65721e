internal import AccessTokens
internal import Crypto
internal import Engine
internal import Gateway
internal import ICE
internal import Logging
internal import Model
internal import Negotiation
internal import Rooms
internal import Synchronization

/// The server's control plane as it is in a process, rooms and native door, over simulated workers and on a virtual
/// clock.
///
/// Its actors run on the thread that drives it, when `run` is called, in an order that a seed draws, so that all that they
/// do follows from what came in and from the seed. Belongs to one thread from `begin` to `end`.
final class ControlPlane {
  /// How long a session lives on without a socket.
  static let grace = Duration.seconds(4)
  /// A room stays so long once everybody has left.
  static let departureTimeout = 1

  let directory: RoomDirectory
  let media: MediaPlane
  let tokens = ResumeTokens()
  let tap = MediaTap()
  let outbox = SocketOutbox()
  private let doors: RoomDirectory
  private let pauses = VirtualPauses()
  private let jobs: JobQueue
  private let serial = Serial()
  private var events: Task<Void, Never>?
  private var sockets = 0

  private final class Serial: Sendable {
    private let next = Atomic<UInt64>(1)
    func take() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }
  }

  /// - Parameters:
  ///   - server: its events are taken here alone.
  ///   - estimates: what paths carry is estimated, as in a process, from what far ends say of arrivals.
  ///   - order: draws which of the jobs that are ready runs next.
  init(
    _ server: SimulatedServer, certificate: DTLSCertificate, epoch: Epoch, peers: Int,
    estimates: Bool = false,
    random: RandomSource, order: RandomSource
  ) {
    jobs = JobQueue(random: order)
    let (tap, pauses, serial) = (self.tap, self.pauses, self.serial)
    var port = MediaPort(
      workers: server.workers, fingerprint: certificate.fingerprint(.sha256), epoch: epoch,
      now: { pauses.now }, makeKey: { PeerKey(home: $0, serial: serial.take()) }, bridge: server.bridge,
      eventsReady: server.eventsReady, isAnswering: { true })
    port.random = random
    port.pause = { try await pauses.pause($0) }
    let (post, drain) = (port.post, port.drainEvents)
    port.post = { command in
      tap.note(.command(command))
      post(command)
    }
    port.drainEvents = {
      let events = drain()
      for event in events { tap.note(.events(event)) }
      return events
    }
    media = MediaPlane(
      port, candidates: [server.address], verification: .always, peerLimit: peers,
      policy: NegotiationPolicy(usesTransportFeedback: estimates))
    var limits = RoomDirectory.Limits()
    limits.defaults.departureTimeout = Self.departureTimeout
    directory = RoomDirectory(
      media: media, limits: limits, log: Log(level: .error) { _ in }, reconnectGrace: Self.grace)
    doors = directory
  }

  // MARK: - Turning

  /// Takes the thread's tasks, and begins to pass on what the workers say.
  func begin(now: Instant) {
    pauses.advance(to: now)
    jobs.begin()
    events = Task { [directory] in await directory.run() }
  }

  /// Nothing of it runs on.
  func end() {
    events?.cancel()
    _ = jobs.run()
    jobs.end()
  }

  var deadline: Instant { pauses.deadline }
  func advance(to now: Instant) { pauses.advance(to: now) }
  var isBusy: Bool { !jobs.isEmpty }
  /// How often more than one job was ready.
  var reorderings: Int { jobs.reordered }

  /// Lets all tasks run until each waits for something.
  /// - Returns: false if there is no end to it.
  func run() -> Bool { jobs.run() }

  /// Does something asynchronous at once.
  /// - Returns: nil if it waits for what hasn't happened yet; it goes on by itself.
  func perform<Value: Sendable>(_ body: @escaping @Sendable (RoomDirectory) async -> Value) -> Value? {
    let result = Box<Value>()
    Task { [directory] in result.set(await body(directory)) }
    return jobs.run() ? result.value : nil
  }

  private final class Box<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value? { state.withLock { $0 } }
  }

  // MARK: - The native door

  /// A WebSocket has come in for a room; what it says is `SimulatedSocket.receive`.
  /// - Parameter token: what came in its request and was found good before the upgrade; nil: it comes in `auth`.
  func open(room: String, authorized token: SimulatedToken? = nil) -> SimulatedSocket {
    sockets += 1
    let socket = SimulatedSocket(
      number: sockets, remote: SocketAddress(ipv4: 192, 0, 2, 1, port: 443), outbox: outbox)
    let (doors, pauses, tokens) = (self.doors, self.pauses, self.tokens)
    var terms = SignallingTerms(room: room) { text throws(AccessTokenRefusal) in
      guard let token = SimulatedToken(text) else { throw .malformed(reason: "no token of a simulation") }
      let access = token.access(room: room)
      if doors.forbids(access, in: room) { throw .removed }
      return access
    }
    terms.renew = { token, grants in
      guard !doors.forbids(token, in: room) else { return nil }
      let fresh = token.renewed(at: SimulatedToken.seconds(pauses.now), grants: grants)
      return (SimulatedToken(renewed: fresh).text, fresh)
    }
    terms.now = { SimulatedToken.seconds(pauses.now) }
    terms.instant = { pauses.now }
    terms.pause = { try await pauses.pause($0) }
    let authorized = token?.access(room: room)
    Task { [terms] in
      await SignallingConnection(socket: socket, terms: terms, rooms: doors, tokens: tokens)
        .run(authorized: authorized)
    }
    return socket
  }
}
