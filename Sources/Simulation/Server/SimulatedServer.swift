public import Crypto
public import Engine
public import Model
internal import Peer
internal import Synchronization
internal import SyntheticPeers
internal import Transport

/// The server's media plane in one thread: its workers over one bridge, driven as their threads would drive
/// them, with a hash of the addresses in place of the kernel's.
///
/// Sans-I/O: datagrams that it sends wait in `outgoing`.
public final class SimulatedServer {
  /// A datagram to be sent.
  public struct Outgoing {
    public var bytes: [UInt8]
    public var path: NetworkPath
    public var worker: Int
  }

  private struct Incoming {
    var bytes: [UInt8]
    var path: NetworkPath
  }

  /// Which workers were woken: what eventfds are in a process.
  private final class Wakeups: Sendable {
    private let bits = Atomic<UInt64>(0)
    func set(_ worker: Int) { bits.bitwiseOr(1 << UInt64(worker), ordering: .relaxed) }
    var areAny: Bool { bits.load(ordering: .relaxed) != 0 }
    func take(_ worker: Int) -> Bool {
      bits.bitwiseAnd(~(1 << UInt64(worker)), ordering: .relaxed).oldValue & 1 << UInt64(worker) != 0
    }
  }

  private final class Sink {
    var datagrams: [Outgoing] = []
  }

  /// Turns that all workers together may take at one instant; more means that they keep each other busy.
  private static let turnLimit = 100_000

  public let bridge: Bridge
  /// One element whenever `bridge.drainEvents` has something; of use to one reader.
  public let eventsReady: AsyncStream<Void>
  public let workers: Int
  public let address: SocketAddress
  private let cores: UnsafeMutablePointer<WorkerCore>
  private let wakeups: Wakeups
  private let sink = Sink()
  private var inboxes: [[Incoming]]
  private let hashSeed: UInt64

  /// - Parameters:
  ///   - heedsReports: false: to those who give no arrival times everything is sent, whatever their reports say.
  ///   - seed: of the workers' random numbers and of the hash.
  public init(
    workers: Int, address: SocketAddress, peersPerWorker: Int = 64, epoch: Epoch, dtls: DTLSContext,
    heedsReports: Bool = true, seed: UInt64
  ) {
    self.workers = workers
    self.address = address
    let wakeups = Wakeups()
    self.wakeups = wakeups
    var random = RandomSource.seeded(state: seed)
    hashSeed = random.next() | 1
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    eventsReady = stream
    bridge = Bridge(
      workers: workers, wake: { wakeups.set($0) }, eventsReady: { continuation.yield() })
    inboxes = Array(repeating: [], count: workers)
    cores = .allocate(capacity: workers)
    for index in 0..<workers {
      let sink = sink
      var context = PeerContext(
        epoch: epoch, dtls: dtls, random: .seeded(state: random.next()),
        outbox: Outbox(datagrams: 256, whenFull: { Self.send(&$0, to: sink, worker: index) }))
      context.heedsReports = heedsReports
      (cores + index).initialize(
        to: WorkerCore(
          index: index, bridge: bridge, limits: WorkerCore.Limits(peers: peersPerWorker), context: context))
    }
  }

  deinit {
    cores.deinitialize(count: workers)
    cores.deallocate()
  }

  private static func send(_ outbox: inout Outbox, to sink: Sink, worker: Int) {
    for index in 0..<outbox.count {
      let entry = outbox[index]
      sink.datagrams.append(
        Outgoing(bytes: Array(outbox.bytes(entry)), path: entry.path, worker: worker))
    }
    outbox.removeAll()
  }

  /// Which worker's socket the kernel would give a datagram of this path to.
  public func worker(of path: NetworkPath) -> Int {
    var hash = hashSeed
    for word in [path.remote.high, path.remote.low, UInt64(path.remote.port), path.local.low] {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    return Int(hash % UInt64(workers))
  }

  /// Puts a datagram into the socket that it belongs to.
  public func receive(_ bytes: [UInt8], path: NetworkPath) {
    inboxes[worker(of: path)].append(Incoming(bytes: bytes, path: path))
  }

  /// Whether something was posted to a worker since it had its turn.
  public var isWoken: Bool { wakeups.areAny }

  /// When a worker wants its turn.
  public var deadline: Instant {
    var deadline = Instant.never
    for index in 0..<workers { deadline = min(deadline, cores[index].deadline) }
    return deadline
  }

  /// Lets all workers run until none has anything to do.
  /// - Returns: what they sent; nil if they never become quiet.
  public func run(now: Instant) -> [Outgoing]? {
    var turns = 0
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for index in 0..<workers {
        let isWoken = wakeups.take(index)
        guard isWoken || !inboxes[index].isEmpty || cores[index].deadline <= now else { continue }
        turn(index, isWoken: isWoken, now: now)
        isQuiet = false
        turns += 1
      }
      if turns > Self.turnLimit { return nil }
    }
    defer { sink.datagrams.removeAll(keepingCapacity: true) }
    return sink.datagrams
  }

  /// One turn of a worker's loop.
  private func turn(_ index: Int, isWoken: Bool, now: Instant) {
    let sink = sink
    let send: (inout Outbox) -> Void = { Self.send(&$0, to: sink, worker: index) }
    let core = cores + index
    if isWoken { core.pointee.takeMessages(now: now) }
    if !inboxes[index].isEmpty {
      let batch = inboxes[index]
      inboxes[index].removeAll(keepingCapacity: true)
      for var datagram in batch {
        datagram.bytes.withUnsafeMutableBytes {
          core.pointee.receive($0, path: datagram.path, arrival: now, now: now)
        }
      }
      core.pointee.finishTurn(now: now, send)
    }
    core.pointee.poll(now: now)
    core.pointee.finishTurn(now: now, send)
  }

  /// Replaces a peer by one rebuilt from its bytes, wherever it is.
  public func rebuild(_ key: PeerKey, now: Instant) -> Bool {
    for index in 0..<workers where cores[index].rebuild(key, now: now) {
      // Another worker's loop would be turning: what was left for others is taken at once.
      cores[index].wakeOthers()
      wakeups.set(index)
      return true
    }
    return false
  }

  /// Replaces every worker by one rebuilt from its bytes, once they are quiet.
  /// - Returns: how many; those with a peer in the middle of a handshake stay.
  public func rebuildWorkers(now: Instant) -> Int {
    (0..<workers).count { index in
      guard cores[index].rebuild(now: now) else { return false }
      cores[index].wakeOthers()
      wakeups.set(index)
      return true
    }
  }

  /// Every worker as bytes.
  public func states() -> [[UInt8]] { (0..<workers).map { cores[$0].encode() } }

  /// Counters and table sizes of every worker; lets them run.
  public func reports(now: Instant) -> [WorkerReport] {
    let collected = Collected()
    for index in 0..<workers { bridge.report(worker: index) { collected.append($0) } }
    _ = run(now: now)
    return collected.all.sorted { $0.worker < $1.worker }
  }

  private final class Collected: Sendable {
    private let reports = Mutex<[WorkerReport]>([])
    func append(_ report: WorkerReport) { reports.withLock { $0.append(report) } }
    var all: [WorkerReport] { reports.withLock { $0 } }
  }
}
