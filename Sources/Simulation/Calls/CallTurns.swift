internal import Crypto
internal import Model
internal import Storage
internal import Synchronization

/// Has all that a server of calls consists of run on one thread: its tasks and actors by the control plane's queue of jobs, in an order
/// that the seed draws, and its store's transactions between them. Requests that come at once so take each order there is, and what
/// comes of a seed follows from the seed.
final class CallTurns {
  enum Failure: Error {
    /// Something waits for what never happens.
    case stuck
  }

  /// Turns at one moment; more means that there is no end to it.
  private static let limit = 100_000

  let control: ControlPlane
  let clock: CallClock
  private let media: SimulatedServer
  private let store: StoreTurns

  /// What will have been answered.
  final class Later<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    /// nil: nothing yet.
    var value: Value? { state.withLock { $0 } }
  }

  init(_ clock: CallClock, epoch: Epoch, store: StoreTurns, random: inout RandomSource) throws {
    let start = VirtualClock.wallTimeAtZero / 1_000_000_000
    let certificate = try DTLSCertificate(notBefore: start - 86_400, notAfter: start + 86_400 * 30)
    self.clock = clock
    self.store = store
    media = SimulatedServer(
      workers: 1, address: Conference.serverAddress, peersPerWorker: 8, epoch: epoch,
      dtls: try DTLSContext(certificate: certificate), seed: random.next())
    control = ControlPlane(
      media, certificate: certificate, epoch: epoch, peers: 8, random: .seeded(state: random.next()),
      order: .seeded(state: random.next()))
  }

  /// Takes the thread's tasks.
  func begin() { control.begin(now: clock.now) }

  /// Nothing of it runs on.
  func end() {
    _ = settle()
    control.end()
    store.close()
  }

  /// Lets everything run until nothing has anything to do.
  /// - Returns: false if there is no end to it.
  func settle() -> Bool {
    for _ in 0..<Self.limit {
      guard control.run() else { return false }
      if media.isWoken {
        guard media.run(now: clock.now) != nil else { return false }
      }
      let hasStored = store.take()
      if !hasStored, !control.isBusy, !media.isWoken { return true }
    }
    return false
  }

  /// Does something asynchronous at once.
  /// - Returns: nil if it waits for what hasn't happened yet.
  func perform<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value? {
    let later = Later<Value>()
    Task { later.set(await body()) }
    return settle() ? later.value : nil
  }

  /// The same of what may fail.
  func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let found: Result<Value, any Error>? = perform {
      do { return .success(try await body()) } catch { return .failure(error) }
    }
    guard let found else { throw Failure.stuck }
    return try found.get()
  }
}
