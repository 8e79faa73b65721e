import Crypto
import Engine
import ICE
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing

@Suite("Addresses that prove nothing", .timeLimit(.minutes(2)))
struct SimulationAddressTests {
  static let home = SocketAddress(ipv4: 192, 0, 2, 10, port: 40_000)
  static let other = SocketAddress(ipv4: 192, 0, 2, 11, port: 40_000)
  static let victim = SocketAddress(ipv4: 198, 51, 100, 66, port: 53)

  @Test func `a spoofed check does not move media`() throws {
    let room = try SimulationRoom()
    var checks: [SimulationRoom.Datagram] = []
    room.passes = { datagram in
      if datagram.toServer, datagram.isCheck, datagram.path.remote == Self.other { checks.append(datagram) }
      return true
    }
    let publisher = try room.join(at: Self.home, publishes: true)
    let subscriber = try room.join(at: Self.other, publishes: false)
    room.run(for: .seconds(2))
    // The one that nominated is among them.
    try #require(!checks.isEmpty)
    for check in checks { room.inject(check.bytes, from: Self.victim) }
    let before = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(3))

    let got = room.sent(to: Self.victim)
    #expect(got.allSatisfy { $0.isSTUN })
    let bytes = checks.reduce(0) { $0 + $1.bytes.count }
    #expect(got.reduce(0) { $0 + $1.bytes.count } <= 3 * bytes)
    #expect(subscriber.packetsReceived(of: 0) - before >= 290)
    #expect(publisher.isConnected)
    #expect(room.journal.violations == [])
  }

  @Test(arguments: [1, 2])
  func `a client that answers no checks keeps the path of its handshake from a forged one`(
    workers: Int
  ) throws {
    let room = try SimulationRoom(workers: workers)
    let home = room.address(onWorker: 0, host: 20)
    let other = room.address(onWorker: workers - 1, host: 30)
    var checks: [SimulationRoom.Datagram] = []
    room.passes = { datagram in
      if datagram.toServer, datagram.isCheck, datagram.path.remote == other { checks.append(datagram) }
      return !(datagram.toServer && datagram.isAnswer && datagram.path.remote == home)
    }
    let publisher = try room.join(at: home, publishes: true, verification: .onChange)
    let subscriber = try room.join(at: other, home: workers - 1, publishes: false)
    room.run(for: .seconds(2))
    #expect(publisher.isConnected && subscriber.isConnected)
    // The subscriber's own check, under the publisher's address.
    room.inject(try #require(checks.last).bytes, from: home)
    room.run(for: .milliseconds(100))
    let before = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(3))
    #expect(subscriber.packetsReceived(of: 0) - before >= 200)
    #expect(publisher.isConnected && room.closeReason(publisher) == nil)
  }

  @Test(arguments: [true, false])
  func
    `a peer that nominates once has media again a quarter of a second after its first check from elsewhere`(
      publishes: Bool
    ) throws
  {
    let room = try SimulationRoom()
    var ice = ControllingAgent.Configuration()
    ice.nominatesAgain = false
    let publisher = try room.join(at: Self.home, publishes: true, ice: ice)
    let subscriber = try room.join(at: Self.other, publishes: false, ice: ice)
    room.run(for: .seconds(2))
    let address = publishes ? Self.home : Self.other
    let moved = SocketAddress(ipv4: 198, 51, 100, 7, port: 1024)
    room.nat[address] = moved
    // Consent checks are six seconds apart at most.
    var checked: Instant?
    while checked == nil, room.now < Instant(nanoseconds: 20_000_000_000) {
      room.run(for: .milliseconds(10))
      if room.seen.contains(where: { $0.path.remote == moved && $0.isCheck }) { checked = room.now }
    }
    try #require(checked != nil)
    room.run(for: .milliseconds(240))
    let before = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(2))
    // 50 packets of sound and 20 pictures a second.
    #expect(subscriber.packetsReceived(of: 0) - before >= 140)
    #expect(room.sent(to: moved).contains { $0.isMedia })
    #expect(publisher.isConnected && room.closeReason(subscriber) == nil)
    #expect(room.journal.violations == [])
  }

  @Test(arguments: [1, 2])
  func `a peer that is long in connecting gets a picture as soon as it is there`(workers: Int) throws {
    let room = try SimulationRoom(workers: workers)
    let first = room.address(onWorker: 0, host: 20)
    let second = room.address(onWorker: workers - 1, host: 30)
    try room.join(at: first, publishes: true)
    room.run(for: .seconds(3))
    var heldBack: [SimulationRoom.Datagram] = []
    var isHolding = true
    room.passes = { datagram in
      guard isHolding, datagram.toServer, datagram.path.remote == second else { return true }
      heldBack.append(datagram)
      return false
    }
    let subscriber = try room.join(at: second, home: workers - 1, publishes: false) { $0.audioReceivers = 0 }
    room.run(for: .milliseconds(200))
    isHolding = false
    room.release(heldBack)
    // A round trip or two, the handshake, and the publisher's next frame.
    room.run(for: .milliseconds(150))
    #expect(subscriber.isConnected)
    #expect(subscriber.packetsReceived(of: 0) > 0)
  }

  @Test(arguments: [false, true])
  func `a peer that comes while a picture is muted sees nothing of what it showed before`(isHeld: Bool) throws
  {
    let room = try SimulationRoom(workers: 2)
    let publisher = try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    for worker in 0..<2 {
      try room.join(
        at: room.address(onWorker: worker, host: UInt8(30 + worker)), publishes: false
      ) { $0.audioReceivers = 0 }
    }
    room.run(for: .milliseconds(600))
    // The one that was there has a picture, so its history is at both workers, fresh.
    #expect(room.peers[1].packetsReceived(of: 0) > 0 && room.peers[2].packetsReceived(of: 0) > 0)
    if isHeld { room.server.bridge.post(.mute(TrackKey(peer: room.keys[publisher.number], index: 1), true)) }
    let late = try (0..<2).map { worker in
      let address = room.address(onWorker: worker, host: UInt8(40 + worker))
      return try room.join(at: address, publishes: false) {
        $0.audioReceivers = 0
        $0.videoReceivers = 1
      }
    }
    room.run(for: .milliseconds(300))
    for newcomer in late {
      #expect(newcomer.isConnected)
      #expect((newcomer.packetsReceived(of: 0) == 0) == isHeld)
    }
  }

  @Test func `DTLS from an address without a check gets no answer`() throws {
    let room = try SimulationRoom()
    var hello: [UInt8]?
    room.passes = { datagram in
      if datagram.isClientHello { hello = hello ?? datagram.bytes }
      return true
    }
    try room.join(at: Self.home, publishes: true)
    room.run(for: .seconds(1))
    room.inject(try #require(hello), from: Self.victim)
    room.run(for: .seconds(1))
    #expect(room.sent(to: Self.victim) == [])
    #expect(room.server.reports(now: room.now)[0].routing.unknownPath == 1)
  }

  @Test
  func `before it has answered a check an address gets nothing but STUN, at most three times its bytes`()
    throws
  {
    let room = try SimulationRoom()
    // The far end's answers never come: its address might be anybody's.
    room.passes = { !($0.toServer && $0.isAnswer) }
    let peer = try room.join(at: Self.home, publishes: true)
    room.run(for: .seconds(29))
    let came = room.seen.filter { $0.toServer }
    // It went as far as it could.
    #expect(came.contains { $0.isDTLS })
    let got = room.sent(to: Self.home)
    #expect(!got.isEmpty && got.allSatisfy { $0.isSTUN })
    #expect(
      got.reduce(0) { $0 + $1.bytes.count }
        <= 3 * came.filter { $0.isSTUN }.reduce(0) { $0 + $1.bytes.count })
    #expect(!peer.isConnected)
    room.run(for: .seconds(3))
    #expect(room.closeReason(peer) == .neverConnected)
  }

  @Test func `a flight that comes before our own check is answered is kept and used`() throws {
    let room = try SimulationRoom()
    var heldBack: [SimulationRoom.Datagram] = []
    var isHolding = true
    room.passes = { datagram in
      guard isHolding, !datagram.toServer, datagram.isCheck else { return true }
      heldBack.append(datagram)
      return false
    }
    let peer = try room.join(at: Self.home, publishes: true)
    room.run(for: .milliseconds(30))
    let hellos = room.seen.count { $0.isClientHello }
    #expect(hellos > 0)
    #expect(room.sent(to: Self.home).allSatisfy { $0.isSTUN })
    try #require(!heldBack.isEmpty)
    #expect(!peer.isConnected)

    isHolding = false
    room.release(heldBack)
    room.run(for: .milliseconds(15))
    #expect(peer.isConnected)
    #expect(room.seen.count { $0.isClientHello } == hellos)
  }

  @Test func `a publisher whose pair changes worker is not interrupted`() throws {
    let room = try SimulationRoom(workers: 2)
    let first = room.address(onWorker: 0, host: 20)
    let second = room.address(onWorker: 1, host: 20)
    let publisher = try room.join(at: first, home: 1, publishes: true)
    let subscriber = try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    room.run(for: .seconds(2))
    // The subscriber sees from the first key frame on.
    let missed = publisher.packetsPublished - subscriber.packetsReceived(of: 0)
    publisher.addAddress(second)
    room.own(second, by: publisher)
    room.run(for: .milliseconds(300))
    publisher.prefer(second, to: SimulationRoom.serverAddress)
    room.run(for: .seconds(2))
    publisher.stopPublishing()
    room.run(for: .milliseconds(100))

    let routing = room.server.reports(now: room.now).map(\.routing)
    #expect(routing[1].handedOver > 30)
    #expect(routing[0].takenOver == routing[1].handedOver)
    // Those under way at the first count have come since.
    #expect(publisher.packetsPublished - subscriber.packetsReceived(of: 0) <= missed)
    #expect(publisher.packetsPublished > 350)
    #expect(room.sent(to: second).contains { $0.isMedia })
    #expect(room.journal.violations == [])
  }
}
