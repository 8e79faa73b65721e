import ICE
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport

@testable import Engine

@Suite("What comes in at another worker's socket is handed over", .timeLimit(.minutes(2)))
struct SimulationHandOverTests {
  struct Way: CustomTestStringConvertible, Sendable {
    var home: Int
    var first: Int
    var second: Int
    var testDescription: String { "home \(home), from \(first) to \(second)" }
  }

  static let ways = (0..<3).flatMap { home in
    [(0, 1), (1, 2), (2, 0)].map { Way(home: home, first: $0.0, second: $0.1) }
  }

  private func total(_ room: SimulationRoom, _ value: (RoutingCounters) -> UInt64) -> UInt64 {
    room.server.reports(now: room.now).reduce(0) { $0 + value($1.routing) }
  }

  /// Numbers that a peer should have got and did not, in any of its streams.
  private func gaps(_ peer: SyntheticPeer) -> Int { peer.numbersMissing.reduce(0, +) }

  @Test(arguments: ways)
  func `a peer whose address has changed stays at its worker, and no packet is missed on either way`(
    way: Way
  ) throws {
    let room = try SimulationRoom(workers: 3)
    // Sound, which is never asked for again, from each worker.
    for worker in 0..<3 {
      try room.join(at: room.address(onWorker: worker, host: UInt8(30 + worker)), publishes: true) {
        $0.publishesVideo = worker == 0
      }
    }
    let before = room.address(onWorker: way.first, host: 20)
    let traveller = try room.join(at: before, home: way.home, publishes: true) {
      $0.audioReceivers = 3
      $0.videoReceivers = 1
    }
    let listener = try room.join(at: room.address(onWorker: way.first, host: 40), publishes: false)
    room.run(for: .seconds(3))
    #expect(total(room, \.handedOver) == 0)
    let peers = room.server.reports(now: room.now).map(\.peers)
    let adopted = total(room, \.adopted)
    room.nat[before] = room.address(onWorker: way.second, host: 77)
    // Some are lost on the way to where it was, until its next check tells.
    for _ in 0..<1_000 where total(room, \.handedOver) < 20 { room.run(for: .milliseconds(10)) }
    room.run(for: .milliseconds(200))
    let counts = (gaps(traveller), gaps(listener))
    let received = listener.packetsReceived(of: traveller.number)
    let handed = total(room, \.handedOver)
    room.run(for: .seconds(10))
    let found = (gaps(traveller), gaps(listener))
    // What was missed before may be sent again yet.
    #expect(found.0 <= counts.0 && found.1 <= counts.1, "from \(counts) to \(found)")
    // 50 packets of sound and 20 pictures a second at least, each handed over.
    #expect(listener.packetsReceived(of: traveller.number) - received >= 680)
    #expect(total(room, \.handedOver) - handed >= 680)
    for publisher in 0..<3 { #expect(traveller.packetsReceived(of: publisher) > 500) }
    #expect(room.server.reports(now: room.now).map(\.peers) == peers && total(room, \.adopted) == adopted)
    #expect(room.dropped(.sealRefused) == 0 && room.journal.violations == [])

    // What is said to it by way of its home still finds it, and nothing is left of it afterwards.
    for key in room.keys { room.server.bridge.post(.close(key)) }
    room.run(for: .seconds(1))
    for report in room.server.reports(now: room.now) {
      #expect(report.peers == 0 && report.tracks == 0 && report.paths == 0 && report.timers == 0)
      #expect(report.homeRecords == 0 && report.fragments == 0)
    }
    #expect(room.events.count { $0.closed == .requested } == 5)
  }

  @Test func `a peer whose address changes again and again is followed by what is handed over`() throws {
    let room = try SimulationRoom(workers: 3)
    let before = room.address(onWorker: 0, host: 20)
    let publisher = try room.join(at: before, home: 1, publishes: true)
    let subscriber = try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    room.run(for: .seconds(2))
    for turn in 0..<6 {
      room.nat[before] = room.address(onWorker: (turn + 1) % 3, host: UInt8(100 + turn))
      room.run(for: .seconds(8))
    }
    let count = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(2))
    #expect(subscriber.packetsReceived(of: 0) - count >= 130)
    #expect(publisher.isConnected && room.journal.violations == [])
  }

  @Test(arguments: ways)
  func `a peer whose first check came from elsewhere than all that follows is connected and served`(
    way: Way
  ) throws {
    let room = try SimulationRoom(workers: 3)
    let subscriber = try room.join(at: room.address(onWorker: way.first, host: 30), publishes: true)
    let before = room.address(onWorker: way.first, host: 20)
    let after = room.address(onWorker: way.second, host: 77)
    // Its first check takes another way than all that follows.
    var checks = 0
    room.passes = { datagram in
      guard datagram.toServer, datagram.isCheck, datagram.path.remote == before else { return true }
      checks += 1
      room.nat[before] = after
      return true
    }
    let publisher = try room.join(at: before, home: way.home, publishes: true) {
      $0.audioReceivers = 1
      $0.videoReceivers = 1
    }
    room.run(for: .seconds(4))
    #expect(checks > 0 && publisher.isConnected && subscriber.isConnected)
    #expect(gaps(publisher) == 0 && publisher.packetsReceived(of: 0) > 200)
    #expect(room.journal.violations == [])
  }
}
