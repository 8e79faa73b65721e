public import Engine
public import ICE
public import Model
public import Negotiation
internal import Peer
internal import Synchronization

/// What rooms need of the media plane: new transports, and commands to those that are there.
public final class MediaPlane: Sendable {
  let port: MediaPort
  private let candidates: [SocketAddress]
  private let verification: ICEVerification
  private let clock: @Sendable () -> Instant
  private let peerLimit: Int
  /// What is negotiated with everybody.
  let policy: NegotiationPolicy
  /// Peers by home worker.
  private let load: Mutex<[Int]>
  private let random: Mutex<RandomSource>

  /// - Parameters:
  ///   - candidates: where clients reach the engine's port, the best first.
  ///   - peerLimit: transports that the server takes in all.
  ///   - policy: what is negotiated with everybody.
  ///   - clock: what the rooms take for the time; nil: the engine's own.
  public convenience init(
    engine: MediaEngine, candidates: [SocketAddress], verification: ICEVerification, peerLimit: Int,
    policy: NegotiationPolicy = .server, clock: (@Sendable () -> Instant)? = nil
  ) {
    self.init(
      MediaPort(engine), candidates: candidates, verification: verification, peerLimit: peerLimit,
      policy: policy, clock: clock)
  }

  /// The same, of any media plane.
  public init(
    _ port: MediaPort, candidates: [SocketAddress], verification: ICEVerification, peerLimit: Int,
    policy: NegotiationPolicy = .server, clock: (@Sendable () -> Instant)? = nil
  ) {
    self.port = port
    self.clock = clock ?? port.now
    self.policy = policy
    self.candidates = candidates
    self.verification = verification
    self.peerLimit = peerLimit
    load = Mutex(Array(repeating: 0, count: port.workers))
    random = Mutex(port.random)
  }

  /// The server's time line, which is never stepped.
  var wallTime: WallTime { WallTime(port.epoch.ntp(at: port.now())) }

  var now: Instant { clock() }

  /// A source of random numbers for one owner.
  func makeRandom() -> RandomSource { random.withLock { $0.split() } }

  /// Reserves a place at the home with the fewest peers.
  /// - Returns: nil when the server is full.
  func reserve() -> PeerKey? {
    let home = load.withLock { load -> Int? in
      guard load.reduce(0, +) < peerLimit else { return nil }
      let home = load.indices.min { load[$0] < load[$1] } ?? 0
      load[home] += 1
      return home
    }
    return home.map { port.makeKey($0) }
  }

  /// The peer is gone: its place is free.
  func release(_ key: PeerKey) { load.withLock { $0[key.home] -= 1 } }

  /// Places that are taken.
  package var reserved: Int { load.withLock { $0.reduce(0, +) } }

  /// Our end of a transport, with fresh credentials.
  func local(for key: PeerKey) -> LocalTransport {
    var random = makeRandom()
    return LocalTransport(
      credentials: .generate(homeWorker: key.home, random: &random), fingerprint: port.fingerprint,
      candidates: candidates)
  }

  func add(_ key: PeerKey, _ transport: AgreedTransport, _ media: AgreedMedia) {
    var random = makeRandom()
    port.post(
      .add(
        PeerSetup(
          key: key, local: transport.localCredentials, remote: transport.remote, media: media,
          verification: verification, reportSSRC: UInt32.random(in: 1...UInt32.max, using: &random),
          createdAt: port.now())))
  }

  func post(_ command: Command) { port.post(command) }
}
