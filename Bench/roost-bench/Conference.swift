import Crypto
import Engine
import ICE
import Model
import Peer
import Transport

/// A worker's core with a publisher and its subscribers, connected by real checks and handshakes in memory.
struct Conference: ~Copyable {
  /// Datagrams of the outbox, as many as a worker has.
  static let outboxSize = 1_024
  static let publisherSSRC: UInt32 = 0x1020_3040
  static let publisherPayloadType: UInt8 = 96
  static let publisherSequenceID: UInt8 = 3
  private static let server = SocketAddress(ipv4: 192, 0, 2, 1, port: 7882)

  var core: WorkerCore
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private let bridge: Bridge
  private let dtls: DTLSContext
  private var random = RandomSource.seeded(state: 1)
  private var clients: [Client] = []
  private var byAddress: [SocketAddress: Client] = [:]
  private var connected = 0
  /// Datagrams that left, in batches or when the outbox was full. In memory of its own, which costs no exclusivity check.
  let departed = UnsafeMutablePointer<Int>.allocate(capacity: 1)

  deinit { departed.deallocate() }

  var publisher: Client { clients[0] }
  var subscribers: ArraySlice<Client> { clients.dropFirst() }

  /// All are added, none is connected.
  init(subscribers: Int) throws(BenchError) {
    dtls = try Self.makeDTLS()
    departed.initialize(to: 0)
    var context = PeerContext(
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)), dtls: dtls,
      random: .seeded(state: 2),
      outbox: Outbox(
        datagrams: Self.outboxSize,
        whenFull: { [departed] in
          departed.pointee &+= $0.count
          $0.removeAll()
        }))
    // The far ends report nothing, for which they would get less after some seconds.
    context.heedsReports = false
    bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    core = WorkerCore(
      index: 0, bridge: bridge, limits: WorkerCore.Limits(peers: subscribers + 1),
      context: context)
    for number in 0...subscribers { add(number) }
  }

  private static func makeDTLS() throws(BenchError) -> DTLSContext {
    do throws(OpenSSLError) {
      let certificate = try DTLSCertificate(notBefore: 1_700_000_000, notAfter: 2_000_000_000)
      return try DTLSContext(certificate: certificate, profiles: [.aeadAES128GCM])
    } catch {
      throw .setup("no DTLS context: \(error)")
    }
  }

  /// Peer 0 publishes, the others subscribe.
  private mutating func add(_ number: Int) {
    let key = PeerKey(home: 0, serial: UInt64(number) + 1)
    let local = ICECredentials.generate(homeWorker: 0, random: &random)
    let fingerprint = dtls.certificate.fingerprint(.sha256)
    let client = Client(
      key, at: SocketAddress(ipv4: 198, 51, 100, UInt8(number), port: 50_000), server: Self.server,
      remote: local, dtls: dtls, fingerprint: fingerprint, now: now, random: &random)
    clients.append(client)
    byAddress[client.address] = client
    bridge.post(
      .add(
        PeerSetup(
          key: key, local: local,
          remote: RemoteTransport(
            credentials: client.credentials, fingerprints: [fingerprint], role: .server),
          media: number == 0 ? Self.publishing : Self.subscribing(number), verification: .always,
          reportSSRC: 0x7000_0000 + UInt32(number), createdAt: now)))
  }

  private static var publishing: AgreedMedia {
    var extensions = HeaderExtensionMap()
    extensions[.mid] = 1
    extensions[.transportSequence] = publisherSequenceID
    let codec = NegotiatedCodec(
      codec: .vp8, payloadType: publisherPayloadType, rtxPayloadType: 97, nack: true, pli: true,
      transportCC: true)
    return AgreedMedia(receive: [
      ReceiveSection(
        index: 0, mid: "0", kind: .video, codecs: [codec], extensions: extensions, ssrc: publisherSSRC,
        rtxSSRC: publisherSSRC + 1, cname: "publisher")
    ])
  }

  private static func subscribing(_ number: Int) -> AgreedMedia {
    var extensions = HeaderExtensionMap()
    extensions[.mid] = 2
    let codec = NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true, pli: true)
    let ssrc = 0x5000_0000 + UInt32(number) * 2
    return AgreedMedia(send: [
      SendSection(
        index: 0, mid: "0", kind: .video, codecs: [codec], extensions: extensions, ssrc: ssrc,
        rtxSSRC: ssrc + 1, cname: "slot", streamID: "slot")
    ])
  }

  /// Checks and handshakes; then the subscribers' slots get the publisher's track.
  mutating func connect() throws(BenchError) {
    core.takeMessages(now: now)
    for _ in 0..<1_000 {
      turn(after: .milliseconds(5))
      guard connected == clients.count, clients.allSatisfy({ $0.association != nil }) else { continue }
      let track = TrackKey(peer: publisher.key, index: 0)
      for subscriber in subscribers { bridge.post(.assign(subscriber.key, slot: 0, track)) }
      core.takeMessages(now: now)
      return
    }
    throw .setup("\(connected) of \(clients.count) peers connected")
  }

  /// Time goes on: timers run, and what isn't media goes back and forth.
  mutating func turn(after span: Duration) {
    now = now + span
    for client in clients {
      for datagram in client.poll(now: now, random: &random) { deliver(datagram, from: client) }
    }
    core.poll(now: now)
    var waiting = takeOutbox()
    while !waiting.isEmpty {
      for (bytes, path) in waiting {
        guard let client = byAddress[path.remote] else { continue }
        let answers = bytes.withUnsafeBytes { client.receive($0, now: now, random: &random) }
        for answer in answers { deliver(answer, from: client) }
      }
      waiting = takeOutbox()
    }
    for events in bridge.drainEvents() where events.connected != nil { connected += 1 }
  }

  private mutating func deliver(_ datagram: [UInt8], from client: Client) {
    var datagram = datagram
    datagram.withUnsafeMutableBytes { core.receive($0, path: client.path, arrival: now, now: now) }
  }

  /// What waits in the outbox, in order.
  mutating func takeOutbox() -> [(bytes: [UInt8], path: NetworkPath)] {
    var datagrams: [(bytes: [UInt8], path: NetworkPath)] = []
    core.finishTurn(now: now) { outbox in
      for index in 0..<outbox.count {
        let entry = outbox[index]
        datagrams.append((Array(outbox.bytes(entry)), entry.path))
      }
      outbox.removeAll()
    }
    return datagrams
  }
}
