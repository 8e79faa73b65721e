import CSystem
import Crypto
import Glibc
import ICE
import Model
import Peer
import Polling
import Synchronization
import Testing

@testable import Engine

@Suite("Engines that come and go", .serialized, .timeLimit(.minutes(2)))
struct MediaEngineTests {
  static func context() throws -> DTLSContext {
    try DTLSContext(certificate: try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000))
  }

  func entries(_ folder: String) -> Int {
    guard let handle = opendir(folder) else { return -1 }
    defer { closedir(handle) }
    var count = 0
    while readdir(handle) != nil { count += 1 }
    return count
  }

  /// Threads that carry a worker's name; other tests of this process have threads as well.
  func workerThreads() -> Int {
    guard let handle = opendir("/proc/self/task") else { return -1 }
    defer { closedir(handle) }
    var count = 0
    while let entry = readdir(handle) {
      let id = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
      var line = [CChar](repeating: 0, count: 64)
      if fgets(&line, 64, file) != nil, strncmp(line, "roost-worker", 12) == 0 { count += 1 }
      fclose(file)
    }
    return count
  }

  func setup(_ engine: MediaEngine, home: Int = 0, media: AgreedMedia = AgreedMedia()) -> PeerSetup {
    var random = RandomSource.system
    return PeerSetup(
      key: engine.makeKey(home: home), local: .generate(homeWorker: home, random: &random),
      remote: RemoteTransport(
        credentials: ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar"),
        fingerprints: [Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32))], role: .server
      ),
      media: media, verification: .always, reportSSRC: 1, createdAt: engine.clock.now)
  }

  @Test func `started and stopped many times they leave no descriptor and no thread`() async throws {
    let dtls = try Self.context()
    func once() async throws {
      let engine = try MediaEngine(
        MediaEngine.Configuration(port: 0, workers: 3, peersPerWorker: 16), clock: Clock(), dtls: dtls)
      try engine.start()
      #expect(await engine.reports().map(\.worker) == [0, 1, 2])
      engine.stop()
      engine.stop()
    }
    try await once()
    let before = entries("/proc/self/fd")
    for _ in 0..<20 { try await once() }
    // Others in this process have engines, open and close as well; twenty engines would have left 60 and 180.
    #expect(workerThreads() < 30)
    #expect(entries("/proc/self/fd") < before + 60)
  }

  @Test func `an engine that is made and never started leaves nothing`() throws {
    let dtls = try Self.context()
    let before = entries("/proc/self/fd")
    for _ in 0..<30 {
      _ = try MediaEngine(
        MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 16), clock: Clock(), dtls: dtls)
    }
    #expect(entries("/proc/self/fd") < before + 60)
  }

  @Test func `a port in use fails the start by name, and leaves nothing`() throws {
    let dtls = try Self.context()
    let taken = try FarSocket(SocketAddress(ipv4: 0, 0, 0, 0, port: 0))
    let before = entries("/proc/self/fd")
    for _ in 0..<30 {
      #expect(throws: SocketError.self) {
        _ = try MediaEngine(
          MediaEngine.Configuration(port: taken.address.port, workers: 2, peersPerWorker: 16),
          clock: Clock(), dtls: dtls)
      }
    }
    #expect(entries("/proc/self/fd") < before + 60)
  }

  @Test func `a second server on the same port is refused and takes nothing from the first`() throws {
    let first = try MediaEngine(.init(port: 0, workers: 2), clock: Clock(), dtls: try Self.context())
    #expect {
      _ = try MediaEngine(.init(port: first.port, workers: 2), clock: Clock(), dtls: try Self.context())
    } throws: {
      ($0 as? SocketError)?.code == EADDRINUSE
    }
  }

  @Test func `after its end reports come back empty-handed and events end`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 16), clock: Clock(),
      dtls: try Self.context())
    try engine.start()
    engine.stop()
    #expect(await engine.reports().isEmpty)
    engine.bridge.post(.close(engine.makeKey(home: 1)))
    for await _ in engine.eventsReady {}
  }

  @Test func `workers that don't answer are not waited for, and are asked once only`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 16), clock: Clock(),
      dtls: try Self.context())
    for _ in 0..<3 {
      let reports = await engine.reports(within: .milliseconds(30))
      #expect(reports.count == 2 && reports.allSatisfy { $0 == nil })
    }
    #expect(engine.bridge.exchange.mailboxes.map { $0.take().count } == [1, 1])
    // The question that was taken out above is never answered; those after it are at the end.
    try engine.start()
    engine.stop()
    #expect(await engine.reports(within: .milliseconds(30)).allSatisfy { $0 == nil })
  }

  @Test func `all that ask at once get a report`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 16), clock: Clock(),
      dtls: try Self.context())
    try engine.start()
    defer { engine.stop() }
    await withTaskGroup(of: [Int?].self) { group in
      for _ in 0..<200 {
        group.addTask { await engine.reports(within: .seconds(20)).map { $0?.worker } }
      }
      for await workers in group { #expect(workers == [0, 1]) }
    }
  }

  @Test func `workers share one port, and keys are never the same`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 4, peersPerWorker: 16), clock: Clock(),
      dtls: try Self.context())
    #expect(engine.port != 0 && engine.workerCount == 4)
    let keys = (0..<100).map { engine.makeKey(home: $0 % 4) }
    #expect(Set(keys).count == 100 && keys.indices.allSatisfy { keys[$0].home == $0 % 4 })
  }

  @Test func `commands are carried out by the home, and the close is reported once`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 2), clock: Clock(),
      dtls: try Self.context())
    try engine.start()
    defer { engine.stop() }
    let setups = (0..<3).map { _ in setup(engine, home: 1) }
    for setup in setups { engine.bridge.post(.add(setup)) }
    var reports = await engine.reports()
    #expect(reports.map(\.peers) == [0, 2] && reports[1].fragments == 2)
    for setup in setups { engine.bridge.post(.close(setup.key)) }
    reports = await engine.reports()
    #expect(
      reports.allSatisfy { $0.peers == 0 && $0.homeRecords == 0 && $0.fragments == 0 && $0.timers == 0 })
    var closed: [PeerKey: PeerCloseReason] = [:]
    for events in engine.bridge.drainEvents() {
      #expect(closed[events.peer] == nil)
      closed[events.peer] = events.closed
    }
    #expect(
      closed == [setups[0].key: .requested, setups[1].key: .requested, setups[2].key: .overloaded])
  }

  @Test func `strangers' datagrams are counted and change nothing`() async throws {
    let engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 16), clock: Clock(),
      dtls: try Self.context())
    try engine.start()
    defer { engine.stop() }
    let far = try FarSocket(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))
    var random = RandomSource.seeded(state: 1)
    let target = SocketAddress(ipv4: 127, 0, 0, 1, port: engine.port)
    for size in [0, 1, 20, 100, 1_200, 2_500] {
      for first in [0, 1, 3, 22, 100, 128, 200] as [UInt8] {
        var bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        if size > 0 { bytes[0] = first }
        #expect(far.send(bytes, to: target))
      }
    }
    var seen: UInt64 = 0
    var reports: [WorkerReport] = []
    for _ in 0..<2_000 where seen < 42 {
      reports = await engine.reports()
      seen = reports.reduce(0) { $0 + $1.routing.received + $1.routing.unreadable }
    }
    #expect(seen == 42)
    #expect(reports.reduce(0) { $0 + $1.routing.unreadable } == 7)
    #expect(reports.allSatisfy { $0.paths == 0 && $0.peers == 0 && $0.sending.datagrams == 0 })
    #expect(far.receive(waits: false) == nil)
  }
}
