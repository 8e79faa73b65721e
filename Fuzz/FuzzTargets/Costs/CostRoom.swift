import AccessTokens
import Crypto
import Engine
import Gateway
import ICE
import Logging
import Model
import Rooms
import Simulation
import Synchronization

/// A room with its doors and people in it, without sockets and workers, all of whose jobs run on the thread that calls.
///
/// Belongs to one thread.
final class CostRoom {
  static let name = "r"
  static let now = 1_700_000_000
  static let keys = ["key": "a secret that no input can know, 32+"]

  let directory: RoomDirectory
  let gateway: Gateway
  private let pauses = VirtualPauses()
  private let jobs = JobQueue(random: .seeded(state: 1))
  private let tokens = ResumeTokens()
  private(set) var others: [CostSocket] = []

  /// - Parameters:
  ///   - others: who publish sound and a picture each.
  ///   - slots: of a kind that each of them has.
  init(others: Int, slots: Int) {
    let pauses = self.pauses
    let serial = Atomic<UInt64>(1)
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    var port = MediaPort(
      workers: 1, fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)),
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)), now: { pauses.now },
      makeKey: { PeerKey(home: $0, serial: serial.wrappingAdd(1, ordering: .relaxed).oldValue) },
      bridge: bridge, eventsReady: AsyncStream { $0.finish() }, isAnswering: { true })
    port.random = .seeded(state: 1)
    port.pause = { try await pauses.pause($0) }
    let media = CostMedia()
    port.post = { media.note($0) }
    port.recording = { _, _ in nil }
    port.keyFrame = { _, _, _ in nil }
    port.explain = { question, _ in [media.answer(question)] }
    directory = RoomDirectory(
      media: MediaPlane(
        port, candidates: [SocketAddress(ipv4: 192, 0, 2, 1, port: 3_478)], verification: .always,
        peerLimit: .max),
      limits: RoomDirectory.Limits(), log: Log(level: .error) { _ in })
    var configuration = GatewayConfiguration(keys: Self.keys, development: .thisMachine) { Self.now }
    configuration.crossOrigin = CrossOrigin(origins: ["https://desk.example"])
    configuration.instant = { pauses.now }
    gateway = Gateway(configuration: configuration, rooms: directory, administered: directory)
    inside {
      for number in 0..<others {
        let socket = open(identity: "p\(number)")
        socket.receive(CostOffer(sends: 1, receives: slots).message)
        turn()
        self.others.append(socket)
      }
    }
  }

  // MARK: - Turning

  /// Takes the thread's jobs while `body` runs.
  func inside(_ body: () -> Void) {
    jobs.begin()
    defer { jobs.end() }
    body()
  }

  /// Lets all that is ready run. Only `inside`.
  func turn() { check(jobs.run(), "jobs come to an end") }

  /// Lets time pass, so that budgets are full again. Only `inside`.
  func rest() {
    pauses.advance(to: pauses.now + .seconds(60))
    turn()
  }

  /// Does something asynchronous at once. Only `inside`.
  func perform<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value? {
    let result = Box<Value>()
    Task { result.set(await body()) }
    turn()
    return result.value
  }

  private final class Box<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value? { state.withLock { $0 } }
  }

  // MARK: - Sockets

  /// A token of the room's for anybody.
  static func token(_ identity: String, metadata: String? = nil) -> String {
    var token = AccessToken(
      apiKey: "key", identity: identity, expires: now + 600, issuedAt: now, grants: .join(name))
    token.grants.canUpdateOwnMetadata = true
    token.metadata = metadata
    return token.signed(secret: keys["key"] ?? "")
  }

  /// A WebSocket on which nothing has been said. Only `inside`.
  func open() -> CostSocket {
    let socket = CostSocket()
    let (doors, tokens, pauses) = (directory, self.tokens, self.pauses)
    var terms = SignallingTerms(room: Self.name) { text throws(AccessTokenRefusal) in
      let token = try AccessToken(verifying: text, keys: Self.keys, now: Self.now)
      _ = try token.requireJoin(room: Self.name)
      if doors.forbids(token, in: Self.name) { throw .removed }
      return token
    }
    terms.now = { Self.now }
    terms.instant = { pauses.now }
    terms.pause = { try await pauses.pause($0) }
    Task { [terms] in
      await SignallingConnection(socket: socket, terms: terms, rooms: doors, tokens: tokens)
        .run(authorized: nil)
    }
    turn()
    return socket
  }

  /// A connection whose participant has joined. Call it only while `inside`.
  func open(identity: String) -> CostSocket {
    let socket = open()
    socket.receive(#"{"type":"auth","token":"\#(Self.token(identity))"}"#)
    turn()
    return socket
  }
}

/// A WebSocket's end that counts what is said on it.
final class CostSocket: TextSocket {
  let messages: AsyncStream<String>
  let remote = SocketAddress(ipv4: 192, 0, 2, 9, port: 443)
  let heardClose = false
  private let continuation: AsyncStream<String>.Continuation

  private struct State {
    var bytes = 0
    var first: String?
    var isClosed = false
  }
  private let state = Mutex(State())

  init() { (messages, continuation) = AsyncStream.makeStream() }

  func admit() {}

  @discardableResult
  func send(_ text: String) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.bytes += text.utf8.count
      if state.first == nil { state.first = text }
      return true
    }
  }

  @discardableResult
  func sendOpening(_ text: String) -> Bool { send(text) }

  func close(code: UInt16, reason: String) { state.withLock { $0.isClosed = true } }

  /// All that was said.
  var bytes: Int { state.withLock { $0.bytes } }
  /// What was said first.
  var first: String? { state.withLock { $0.first } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func receive(_ text: String) { continuation.yield(text) }

  func hangUp() {
    state.withLock { $0.isClosed = true }
    continuation.finish()
  }
}
