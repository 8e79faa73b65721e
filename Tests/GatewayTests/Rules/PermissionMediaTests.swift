import Crypto
import Engine
import Foundation
import Glibc
import HTTPServer
import ICE
import Model
import Simulation
import SyntheticPeers
import Testing

@testable import Gateway

/// A far end as a browser is, at a socket of its own, with somebody at the native door.
final class LivePeer {
  let guest: Guest
  let peer: SyntheticPeer
  /// What its path to it lets through; nil: everything, at once.
  var narrow: NarrowPath?
  /// Nothing that comes is taken.
  var isDeaf = false
  private let socket: Int32
  private let clock: Clock
  private let address: SocketAddress

  init(_ house: House, _ guest: Guest, number: Int, _ setUp: (inout PeerConfiguration) -> Void)
    throws
  {
    self.guest = guest
    clock = house.engine.clock
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    try #require(descriptor >= 0)
    socket = descriptor
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    try #require(isBound)
    address = SocketAddress(ipv4: 127, 0, 0, 1, port: UInt16(bigEndian: name.sin_port))
    var configuration = PeerConfiguration(number: number)
    configuration.publishesAudio = false
    configuration.publishesVideo = false
    setUp(&configuration)
    peer = SyntheticPeer(
      configuration, address: address,
      dtls: try DTLSContext(certificate: DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)),
      ice: .init(),
      journal: Journal(), now: clock.now, random: .seeded(state: UInt64(number) + 1))
  }

  deinit { close(socket) }

  /// Agrees with the server, once more or for the first time.
  /// - Returns: ids of the tracks that are published.
  @discardableResult
  func offer() async throws -> [String] {
    let sdp = String(decoding: try JSONEncoder().encode(try peer.makeOffer()), as: UTF8.self)
    let answer = try await guest.ask("offer", #""sdp":\#(sdp)"#)
    try peer.accept(try #require(answer["sdp"] as? String), now: clock.now)
    return (answer["tracks"] as? [NSDictionary])?.compactMap { $0["track"] as? String } ?? []
  }

  /// What came in and is to go out, once.
  func turn(server: UInt16) {
    let now = clock.now
    if peer.deadline <= now { peer.poll(now: now) }
    for datagram in peer.outgoing { send(datagram.bytes, to: datagram.path.remote) }
    peer.outgoing.removeAll()
    let path = NetworkPath(remote: SocketAddress(ipv4: 127, 0, 0, 1, port: server), local: address)
    var buffer = [UInt8](repeating: 0, count: 2_048)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      guard !isDeaf else { continue }
      let bytes = Array(buffer[..<count])
      if narrow != nil {
        narrow?.put(bytes, now: now)
      } else {
        peer.receive(bytes, path: path, sentAt: now, isRepeat: false, now: now)
      }
    }
    for bytes in narrow?.take(now: now) ?? [] {
      peer.receive(bytes, path: path, sentAt: now, isRepeat: false, now: now)
    }
  }

  private func send(_ bytes: [UInt8], to remote: SocketAddress) {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    name.sin_port = remote.port.bigEndian
    withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}

@Suite("Media and permissions", .timeLimit(.minutes(2)))
struct PermissionMediaTests {
  /// Two who publish and one who gets it all, over real sockets.
  final class Call {
    let house: House
    let ada: LivePeer
    let eve: LivePeer
    let bob: LivePeer
    var tracks: [String] = []

    init() async throws {
      house = try House()
      ada = try LivePeer(house, try await house.enter("ada"), number: 1) { $0.publishesAudio = true }
      eve = try LivePeer(house, try await house.enter("eve"), number: 2) { $0.publishesVideo = true }
      bob = try LivePeer(house, try await house.enter("bob"), number: 3) {
        $0.audioReceivers = 2
        $0.videoReceivers = 2
      }
      tracks = try await ada.offer()
      try await eve.offer()
      try await bob.offer()
      for number in [1, 2] { #expect(await flows(number)) }
    }

    func run(_ span: Duration, until isDone: () -> Bool = { false }) async -> Bool {
      let end = ContinuousClock.now + span
      while ContinuousClock.now < end {
        for peer in [ada, eve, bob] { peer.turn(server: house.engine.port) }
        if isDone() { return true }
        try? await Task.sleep(for: .milliseconds(2))
      }
      return false
    }

    /// Whether more of that publisher reaches bob.
    func flows(_ number: Int) async -> Bool {
      let before = bob.peer.packetsReceived(of: number)
      return await run(.seconds(20)) { bob.peer.packetsReceived(of: number) >= before + 20 }
    }

    /// Whether nothing more of that publisher reaches bob, while it sends on and the other comes through.
    func isStopped(_ number: Int) async -> Bool {
      // What is on its way.
      _ = await run(.milliseconds(200))
      let before = bob.peer.packetsReceived(of: number)
      let publisher = number == 1 ? ada : eve
      let (published, others) = (publisher.peer.packetsPublished, bob.peer.packetsReceived(of: 3 - number))
      let hasGoneOn = await run(.seconds(20)) {
        publisher.peer.packetsPublished >= published + 30
          && bob.peer.packetsReceived(of: 3 - number) >= others + 10
      }
      return hasGoneOn && bob.peer.packetsReceived(of: number) == before
    }

    func permit(_ identity: String, _ permissions: String) async {
      let answer = await house.ask(
        .patch, "/v1/rooms/demo/participants/\(identity)", #"{"permissions":\#(permissions)}"#)
      #expect(answer.status == 200)
    }
  }

  @Test func `media that is no longer allowed doesn't flow, and flows again after a new offer`() async throws
  {
    let call = try await Call()
    await call.permit("ada", #"{"canPublish":false}"#)
    #expect(await call.isStopped(1))
    // The publisher goes on sending and offering as if nothing were; nothing of it is published.
    #expect(try await call.ada.offer().isEmpty)
    #expect(await call.isStopped(1))
    await call.permit("ada", #"{"canPublish":true}"#)
    #expect(await call.isStopped(1))
    let tracks = try await call.ada.offer()
    #expect(tracks.count == 1 && tracks != call.tracks)
    #expect(await call.flows(1))
    // By source: hers is a microphone.
    await call.permit("ada", #"{"canPublishSources":["camera","screen_share"]}"#)
    await call.permit("eve", #"{"canPublishSources":["camera","screen_share"]}"#)
    #expect(await call.isStopped(1))
  }

  @Test func `a subscriber that loses the grant gets no packets, and gets them again without an offer`()
    async throws
  {
    let call = try await Call()
    await call.permit("bob", #"{"canSubscribe":false}"#)
    _ = await call.run(.milliseconds(200))
    let before = [1, 2].map { call.bob.peer.packetsReceived(of: $0) }
    let published = call.eve.peer.packetsPublished
    #expect(await call.run(.seconds(20)) { call.eve.peer.packetsPublished >= published + 30 })
    #expect([1, 2].map { call.bob.peer.packetsReceived(of: $0) } == before)
    await call.permit("bob", #"{"canSubscribe":true}"#)
    #expect(await call.flows(1))
    #expect(await call.flows(2))
  }

  @Test func `a track that an administrator mutes reaches no subscriber until that is lifted`() async throws {
    let call = try await Call()
    let path = "/v1/rooms/demo/participants/ada/tracks/\(call.tracks[0])/mute"
    #expect(await call.house.ask(.post, path, #"{"muted":true}"#).status == 200)
    #expect(await call.isStopped(1))
    #expect(
      try await call.ada.guest.verdict("mute", #""track":"\#(call.tracks[0])","muted":false"#)
        == "not-allowed")
    #expect(await call.isStopped(1))
    #expect(await call.house.ask(.post, path, #"{"muted":false}"#).status == 200)
    #expect(await call.flows(1))
  }

  @Test func `no packets of a removed participant reach the others`() async throws {
    let call = try await Call()
    #expect(await call.house.ask(.delete, "/v1/rooms/demo/participants/ada").status == 204)
    #expect(await call.isStopped(1))
  }
}
