import ICE
import Model
import Peer
import RoostTesting
import Testing
import Transport

@testable import Engine

@Suite("Peers follow the socket that their datagrams come in at", .timeLimit(.minutes(2)))
struct SimulationMoveTests {
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

  @Test(arguments: ways)
  func `a publisher whose address has changed is soon where its media comes in, and nobody misses a thing`(
    way: Way
  )
    throws
  {
    let room = try SimulationRoom(workers: 3)
    let before = room.address(onWorker: way.first, host: 20)
    let publisher = try room.join(at: before, home: way.home, publishes: true)
    // Somebody at each worker, so that it is relayed to all, also from where it was.
    let subscribers = try (0..<3).map { worker in
      try room.join(at: room.address(onWorker: worker, host: UInt8(30 + worker)), publishes: false) {
        $0.audioReceivers = 1
        $0.videoReceivers = 1
      }
    }
    room.run(for: .seconds(3))
    #expect(total(room, \.handedOver) == 0)
    let moved = total(room, \.moved)
    room.nat[before] = room.address(onWorker: way.second, host: 77)
    room.run(for: .seconds(12))
    #expect(total(room, \.moved) == moved + 1)
    let handed = total(room, \.handedOver)
    #expect(handed > 40, "until it was there, its datagrams were handed over")
    let counts = subscribers.map { $0.packetsReceived(of: 0) }
    room.run(for: .seconds(4))
    #expect(total(room, \.handedOver) == handed)
    for (subscriber, count) in zip(subscribers, counts) {
      // 50 packets of sound and 20 pictures a second at least.
      #expect(subscriber.packetsReceived(of: 0) - count >= 270)
      #expect(room.closeReason(subscriber) == nil)
    }
    #expect(publisher.isConnected && room.journal.violations == [])

    // What is said to it by way of its home still finds it, and nothing is left of it afterwards.
    for key in room.keys { room.server.bridge.post(.close(key)) }
    room.run(for: .seconds(1))
    for report in room.server.reports(now: room.now) {
      #expect(report.peers == 0 && report.tracks == 0 && report.paths == 0 && report.timers == 0)
      #expect(report.homeRecords == 0 && report.fragments == 0 && report.movesUnderWay == 0)
    }
    #expect(room.events.count { $0.closed == .requested } == 4)
  }

  @Test(arguments: ways)
  func `commands that are on their way while a peer moves reach it in their order`(way: Way) throws {
    let room = try SimulationRoom(workers: 3)
    let before = room.address(onWorker: way.first, host: 20)
    try room.join(at: before, home: way.home, publishes: true)
    let subscriber = try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    let track = TrackKey(peer: room.keys[0], index: 0)
    room.run(for: .seconds(3))
    room.nat[before] = room.address(onWorker: way.second, host: 77)
    let moved = total(room, \.moved)
    // Every 10 ms a mute and its end, in pairs that stay pairs in whatever moment it moves.
    var turns = 0
    while total(room, \.moved) == moved, turns < 1_500 {
      for held in [true, false] { room.server.bridge.post(.mute(track, held)) }
      room.run(for: .milliseconds(10))
      turns += 1
    }
    #expect(turns < 1_500)
    room.run(for: .seconds(1))
    let count = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(2))
    #expect(subscriber.packetsReceived(of: 0) - count >= 130, "neither track is held")
    #expect(room.journal.violations == [])
  }

  @Test func `who comes back at once, or sends little, stays where it is`() throws {
    let room = try SimulationRoom(workers: 2)
    let before = room.address(onWorker: 0, host: 20)
    try room.join(at: before, publishes: true)
    let listener = room.address(onWorker: 0, host: 30)
    let subscriber = try room.join(at: listener, publishes: false)
    room.run(for: .seconds(3))
    let moved = total(room, \.moved)
    // The listener moves for good: what is sent to it leaves by its worker's own socket anyway.
    room.nat[listener] = room.address(onWorker: 1, host: 78)
    room.run(for: .seconds(10))
    #expect(total(room, \.moved) == moved)
    let count = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(2))
    #expect(subscriber.packetsReceived(of: 0) - count >= 130)
    #expect(room.journal.violations == [])
  }

  @Test func `a peer that goes from worker to worker again and again arrives each time`() throws {
    let room = try SimulationRoom(workers: 3)
    let before = room.address(onWorker: 0, host: 20)
    let publisher = try room.join(at: before, home: 1, publishes: true)
    let subscriber = try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    room.run(for: .seconds(2))
    let moved = total(room, \.moved)
    for turn in 0..<6 {
      room.nat[before] = room.address(onWorker: (turn + 1) % 3, host: UInt8(100 + turn))
      room.run(for: .seconds(12))
    }
    #expect(total(room, \.moved) == moved + 6)
    let count = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(2))
    #expect(subscriber.packetsReceived(of: 0) - count >= 130)
    #expect(publisher.isConnected && room.journal.violations == [])
  }

  /// Numbers that somebody should have got and did not, in any of his streams.
  private func gaps(_ peer: SyntheticPeer) -> Int { peer.numbersMissing.reduce(0, +) }

  @Test(arguments: ways)
  func `who is used from elsewhere than the first check came from goes there as soon as it is connected`(
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
    room.run(for: .seconds(1))
    #expect(checks > 0 && publisher.isConnected && subscriber.isConnected)
    let handed = total(room, \.handedOver)
    room.run(for: .seconds(3))
    #expect(total(room, \.handedOver) == handed, "nothing is handed over any more")
    #expect(gaps(publisher) == 0 && publisher.packetsReceived(of: 0) > 200)
    #expect(room.journal.violations == [])
  }

  @Test(arguments: ways)
  func `who is seen as well as sees goes to another worker, and gets every packet on the way`(way: Way) throws
  {
    let room = try SimulationRoom(workers: 3)
    // Sound, which nobody asks for again, from each worker.
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
    let moved = total(room, \.moved)
    room.nat[before] = room.address(onWorker: way.second, host: 77)
    // Some are lost on the way to where it was, until its next check tells.
    let handed = total(room, \.handedOver)
    for _ in 0..<1_000 where total(room, \.handedOver) < handed + 20 { room.run(for: .milliseconds(10)) }
    #expect(total(room, \.moved) == moved)
    room.run(for: .milliseconds(200))
    let counts = (gaps(traveller), gaps(listener))
    room.run(for: .seconds(11))
    #expect(total(room, \.moved) == moved + 1)
    let found = (gaps(traveller), gaps(listener))
    #expect(found == counts, "from \(counts) to \(found)")
    for publisher in 0..<3 { #expect(traveller.packetsReceived(of: publisher) > 500) }
    #expect(room.dropped(.sealRefused) == 0 && room.journal.violations == [])

    room.server.bridge.post(.close(room.keys[traveller.number]))
    room.run(for: .seconds(1))
    for report in room.server.reports(now: room.now) { #expect(report.movesUnderWay == 0) }
  }

  @Test func `who is expected at a worker and does not come leaves nothing there`() throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 0, host: 30), publishes: true)
    let before = room.address(onWorker: 0, host: 20)
    let traveller = try room.join(at: before, publishes: true) {
      $0.audioReceivers = 1
      $0.videoReceivers = 1
    }
    room.run(for: .seconds(3))
    func expected() -> Int { room.server.reports(now: room.now).reduce(0) { $0 + $1.movesUnderWay } }
    for leaves in [false, true] {
      room.nat[before] = room.address(onWorker: 1, host: leaves ? 78 : 77)
      var turns = 0
      while expected() == 0, turns < 2_000 {
        room.run(for: .milliseconds(10))
        turns += 1
      }
      #expect(turns < 2_000 && room.server.reports(now: room.now)[1].tracks == 2)
      // It goes back, or away.
      if leaves {
        room.server.bridge.post(.close(room.keys[traveller.number]))
      } else {
        room.nat[before] = nil
      }
      room.run(for: .seconds(4))
      #expect(expected() == 0 && room.server.reports(now: room.now)[1].tracks == 0)
    }
  }
}

@Suite("Paths of peers that have gone to another worker", .timeLimit(.minutes(2)))
struct DepartedPathsTests {
  private func path(_ number: Int) -> NetworkPath {
    SimulationRoom.path(
      from: SocketAddress(ipv4: 10, 0, UInt8(number >> 8), UInt8(number & 255), port: 5_000))
  }
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test func `a path leads after its peer for two seconds, from the last time that it went`() {
    var departed = DepartedPaths()
    let (first, second) = (PeerKey(home: 0, serial: 1), PeerKey(home: 1, serial: 2))
    #expect(departed.find(path(1), now: start) == nil)
    departed.note(path(1), of: first, now: start)
    #expect(departed.find(path(1), now: start + .milliseconds(1_999)) == first)
    #expect(departed.find(path(1), now: start + .seconds(2)) == nil)
    #expect(departed.find(path(2), now: start) == nil)
    // Another came by it, and went.
    departed.note(path(1), of: second, now: start + .seconds(1))
    departed.note(path(2), of: second, now: start + .milliseconds(2_500))
    #expect(departed.find(path(1), now: start + .milliseconds(2_900)) == second)
    departed.note(path(3), of: first, now: start + .seconds(4))
    #expect(departed.count == 2)
  }

  @Test func `however many go at once, the table keeps to its bound`() {
    var departed = DepartedPaths()
    for number in 0..<(DepartedPaths.limit + 100) {
      departed.note(path(number), of: PeerKey(home: 0, serial: UInt64(number + 1)), now: start)
    }
    #expect(departed.count == DepartedPaths.limit)
    #expect(departed.find(path(99), now: start) == nil && departed.find(path(100), now: start) != nil)
  }
}
