internal import CSystem
public import Crypto
internal import Glibc
public import Model
internal import Polling
internal import Synchronization

/// The media plane of a process: its workers, their shared UDP port, and the bridge to them.
public final class MediaEngine: Sendable {
  public struct Configuration: Sendable {
    /// UDP port of all media; 0 lets the kernel choose.
    public var port: UInt16
    /// To which it is bound, on that same port; none: to all addresses of the host.
    public var addresses: [SocketAddress]
    /// 1–64.
    public var workers: Int
    /// Bytes of each worker's socket buffers.
    public var receiveBuffer: Int
    public var sendBuffer: Int
    /// Peers that one worker has room for.
    public var peersPerWorker: Int
    /// Bits per second that publishers which adapt by REMB alone are asked to keep to.
    public var publisherMaxBitrate: UInt64
    /// How long a worker may wait for the rest of a video frame before it looks at its sockets again.
    public var gathersFor: Duration
    /// Ties each worker to a processor.
    public var pinsThreads: Bool

    public init(
      port: UInt16, addresses: [SocketAddress] = [], workers: Int, receiveBuffer: Int = 4 * 1_024 * 1_024,
      sendBuffer: Int = 4 * 1_024 * 1_024,
      peersPerWorker: Int = 4_096, publisherMaxBitrate: UInt64 = 3_000_000, gathersFor: Duration = .zero,
      pinsThreads: Bool = true
    ) {
      self.port = port
      self.addresses = addresses
      self.workers = workers
      self.receiveBuffer = receiveBuffer
      self.sendBuffer = sendBuffer
      self.peersPerWorker = peersPerWorker
      self.publisherMaxBitrate = publisherMaxBitrate
      self.gathersFor = gathersFor
      self.pinsThreads = pinsThreads
    }
  }

  public let bridge: Bridge
  public let clock: Clock
  /// As bound.
  public let port: UInt16
  /// False where the host has no IPv6.
  public let hasIPv6: Bool
  public let certificate: DTLSCertificate
  /// One element whenever events wait for `bridge.drainEvents`.
  public let eventsReady: AsyncStream<Void>
  private let threads: [WorkerThread]
  private let serial = Atomic<UInt64>(1)
  private let finishEvents: @Sendable () -> Void
  private let desk: ReportDesk

  /// Binds the port for every worker; nothing runs before `start`.
  public init(_ configuration: Configuration, clock: Clock, dtls: DTLSContext) throws(SocketError) {
    var sockets: [WorkerSockets] = []
    var wakeups: [Wakeup] = []
    let addresses: [SocketAddress?] = configuration.addresses.isEmpty ? [nil] : configuration.addresses
    var shared = configuration.port
    if shared == 0 {
      // Of one that shares its port the kernel would choose among those that others share as well.
      shared = try UDPSocket(port: 0, address: addresses[0], receiveBuffer: 0, sendBuffer: 0).port
    }
    for address in addresses { try UDPSocket.requireFree(port: shared, address: address) }
    for _ in 0..<configuration.workers {
      // All members join before the first datagram: a later one would move the hash of all others.
      var own: [UDPSocketBox] = []
      for address in addresses {
        own.append(
          UDPSocketBox(
            try UDPSocket(
              port: shared, address: address, receiveBuffer: configuration.receiveBuffer,
              sendBuffer: configuration.sendBuffer, sharesPort: true)))
      }
      sockets.append(WorkerSockets(own))
      let wakeup = Wakeup()
      guard wakeup.descriptor >= 0 else { throw SocketError("eventfd") }
      wakeups.append(wakeup)
    }
    let signals = wakeups
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    eventsReady = stream
    finishEvents = { continuation.finish() }
    let bridge = Bridge(
      workers: configuration.workers,
      wake: { signals[$0].signal() },
      eventsReady: { continuation.yield() })
    self.bridge = bridge
    desk = ReportDesk(bridge)
    self.clock = clock
    certificate = dtls.certificate
    port = sockets[0].port
    hasIPv6 = sockets[0].family == AF_INET6
    let processors = Self.processors()
    let starts = (0..<configuration.workers).map { index in
      WorkerThread.Start(
        index: index, bridge: bridge, limits: WorkerCore.Limits(peers: configuration.peersPerWorker),
        clock: clock, dtls: dtls, random: .system, publisherMaxBitrate: configuration.publisherMaxBitrate,
        // More workers than processors: none is pinned, the scheduler shares them out.
        processor: configuration.pinsThreads && configuration.workers <= processors.count
          ? processors[index] : nil,
        gathersFor: configuration.gathersFor)
    }
    let stations = starts.map { WorkerStation($0, sockets: sockets[$0.index], wakeup: wakeups[$0.index]) }
    var threads: [WorkerThread] = []
    for start in starts {
      threads.append(
        try WorkerThread(
          start, sockets: sockets[start.index], stations: stations, wakeup: wakeups[start.index]))
    }
    self.threads = threads
  }

  public func start() throws(SocketError) { for thread in threads { try thread.run() } }

  /// Ends the workers; peers get no farewell, their sides notice the silence.
  public func stop() {
    for (worker, thread) in threads.enumerated() {
      thread.stop()
      bridge.close(worker: worker)
    }
    finishEvents()
  }

  public var workerCount: Int { threads.count }

  /// A key for a new peer of that home.
  public func makeKey(home: Int) -> PeerKey {
    PeerKey(home: home, serial: serial.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Counters and table sizes of every worker that runs.
  public func reports() async -> [WorkerReport] {
    var reports: [WorkerReport] = []
    for worker in 0..<workerCount {
      let report: WorkerReport? = await withCheckedContinuation { continuation in
        if !bridge.report(worker: worker, { continuation.resume(returning: $0) }) {
          continuation.resume(returning: nil)
        }
      }
      if let report { reports.append(report) }
    }
    return reports
  }

  /// Counters and table sizes by worker; nil where one has ended or does not answer in time. For who looks again and
  /// again: those who ask at the same time get the same report.
  public func reports(within patience: Duration) async -> [WorkerReport?] {
    await withTaskGroup(of: (Int, WorkerReport?).self) { [desk] group in
      for worker in 0..<workerCount {
        group.addTask { (worker, await desk.report(of: worker, within: patience)) }
      }
      var reports = [WorkerReport?](repeating: nil, count: workerCount)
      for await (worker, report) in group { reports[worker] = report }
      return reports
    }
  }

  /// The processors that this process may use.
  private static func processors() -> [Int] {
    var set = [UInt8](repeating: 0, count: 128)
    guard rs_getaffinity(pthread_self(), set.count, &set) == 0 else { return [] }
    return (0..<set.count * 8).filter { set[$0 / 8] & 1 << UInt8($0 % 8) != 0 }
  }
}
