import Media
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing

@testable import Engine

@Suite("Samples and mutes", .timeLimit(.minutes(2)))
struct SimulationSamplesTests {
  private static let home = SimulationAddressTests.home
  private static let other = SimulationAddressTests.other

  private static func key(_ room: SimulationRoom, _ index: UInt16) -> TrackKey {
    TrackKey(peer: room.keys[0], index: index)
  }

  private static func level(_ room: SimulationRoom, _ index: UInt16) -> TrackLevel? {
    room.server.bridge.levels().first { $0.key == key(room, index) }?.value
  }

  @Test func `every track that flows has a level, and every peer a quality, also where a peer was adopted`()
    throws
  {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 1), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), home: 0, publishes: false)
    room.run(for: .seconds(4))
    let voice = try #require(Self.level(room, 0))
    #expect(voice.attenuation != nil && room.now - voice.lastPacket < .milliseconds(150))
    let picture = try #require(Self.level(room, 1))
    #expect(picture.attenuation == nil && room.now - picture.lastPacket < .milliseconds(150))
    let qualities = Dictionary(
      uniqueKeysWithValues: room.server.bridge.qualities().map { ($0.key, $0.value) })
    #expect(Set(qualities.keys) == Set(room.keys))
    for quality in qualities.values {
      #expect(quality.loss == 0 && quality.roundTrip < .milliseconds(101))
      #expect(room.now - quality.lastHeard < .seconds(8))
    }
    for key in room.keys { room.server.bridge.post(.close(key)) }
    room.run(for: .milliseconds(10))
    #expect(room.server.bridge.levels().isEmpty && room.server.bridge.qualities().isEmpty)
  }

  @Test(arguments: [0, 1], [false, true])
  func
    `a publisher's reports say what its worst listener loses, near or far, alone or not, and what was lost in all stays true`(
      worker: Int, isAlone: Bool
    ) throws
  {
    let room = try SimulationRoom(workers: 2)
    let listener = room.address(onWorker: worker, host: 2)
    var isLossy = false
    var count = 0
    room.passes = { datagram in
      guard isLossy, datagram.isMedia, !datagram.toServer, datagram.path.local == listener else {
        return true
      }
      count += 1
      return count % 5 != 0
    }
    let publisher = try room.join(at: room.address(onWorker: 0, host: 1), publishes: true) {
      $0.publishesVideo = false
    }
    if !isAlone {
      try room.join(at: room.address(onWorker: 0, host: 3), publishes: false) { $0.videoReceivers = 0 }
    }
    try room.join(at: listener, publishes: false) { $0.videoReceivers = 0 }
    func said() -> Double { Double(publisher.reportedLoss.max() ?? 0) / 256 }
    room.run(for: .seconds(4))
    #expect(said() == 0)
    isLossy = true
    room.run(for: .seconds(12))
    #expect((0.15...0.26).contains(said()))
    #expect(publisher.reportedLost.allSatisfy { $0 == 0 } && !publisher.reportedLost.isEmpty)
    isLossy = false
    room.run(for: .seconds(25))
    #expect(said() < 0.01)
  }

  @Test func `loss on the way in, and on the way out, shows within seconds and is forgotten again`() throws {
    let room = try SimulationRoom()
    var lossy: (toServer: Bool, owner: SocketAddress)?
    var count = 0
    room.passes = { datagram in
      guard datagram.isMedia, let lossy, datagram.toServer == lossy.toServer,
        (datagram.toServer ? datagram.path.remote : datagram.path.local) == lossy.owner
      else { return true }
      count += 1
      return count % 4 != 0
    }
    func loss(_ number: Int) -> Double {
      room.server.bridge.qualities().first { $0.key == room.keys[number] }.map {
        Double($0.value.loss) / 655.35
      } ?? -1
    }
    // Sound alone, of which nothing is sent again.
    try room.join(at: Self.home, publishes: true) { $0.publishesVideo = false }
    try room.join(at: Self.other, publishes: false) { $0.videoReceivers = 0 }
    room.run(for: .seconds(3))
    #expect(loss(0) == 0 && loss(1) == 0)
    lossy = (false, Self.other)
    room.run(for: .seconds(15))
    #expect((20...30).contains(loss(1)) && loss(0) == 0)
    lossy = (true, Self.home)
    room.run(for: .seconds(25))
    #expect(
      (20...30).contains(loss(0)) && loss(1) < 2, "what the publisher's path lost is not the subscriber's")
    lossy = nil
    room.run(for: .seconds(25))
    #expect(loss(1) < 1 && loss(0) < 1)
  }

  @Test
  func
    `a muted track reaches no subscriber, and goes on without a gap, whatever peer was replaced meanwhile`()
    throws
  {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: Self.home, home: 0, publishes: true)
    try room.join(at: Self.other, home: 1, publishes: false)
    room.run(for: .seconds(2))
    for index in [0, 1] as [UInt16] { room.server.bridge.post(.mute(Self.key(room, index), true)) }
    room.run(for: .milliseconds(100))
    let before = Self.media(room)
    #expect(before.keys.count >= 2)
    #expect(room.server.rebuild(room.keys[0], now: room.now))
    room.run(for: .seconds(2))
    #expect(Self.media(room) == before)
    #expect(room.dropped(.trackMuted) > 100)
    #expect(try #require(Self.level(room, 0)).lastPacket < room.now + .seconds(-1))

    for index in [0, 1] as [UInt16] { room.server.bridge.post(.mute(Self.key(room, index), false)) }
    room.run(for: .seconds(2))
    let after = Self.media(room)
    for (ssrc, numbers) in before {
      let all = try #require(after[ssrc])
      #expect(all.count > numbers.count + 50)
      #expect(zip(all, all.dropFirst()).allSatisfy { $1 == $0 &+ 1 }, "a gap in \(ssrc)")
    }
    // Muted twice, or what isn't there: nothing.
    room.server.bridge.post(.mute(TrackKey(peer: room.keys[0], index: 99), true))
    room.server.bridge.post(.mute(TrackKey(peer: PeerKey(home: 1, serial: 77), index: 0), true))
    room.run(for: .milliseconds(100))
  }

  /// Sequence numbers of all media that reached the second peer, by SSRC, as the packets' heads have them.
  private static func media(_ room: SimulationRoom) -> [UInt32: [UInt16]] {
    var numbers: [UInt32: [UInt16]] = [:]
    for datagram in room.sent(to: other) where datagram.isMedia {
      let bytes = datagram.bytes
      guard bytes.count > 12, !(192...223).contains(bytes[1]) else { continue }
      let ssrc = bytes[8...11].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      numbers[ssrc, default: []].append(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
    }
    return numbers
  }
}
