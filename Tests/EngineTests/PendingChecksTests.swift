import ICE
import Model
import Simulation
import SyntheticPeers
import Testing

@testable import Engine

@Suite("Checks waiting for their home", .timeLimit(.minutes(2)))
struct PendingChecksTests {
  static let home = SocketAddress(ipv4: 192, 0, 2, 10, port: 40_000)
  let start = Instant(nanoseconds: 0)
  let ufrags = (0..<100).map { UfragKey("a01" + String("00000000000\($0)".suffix(12)))! }

  func path(_ port: Int) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, 1, port: UInt16(port)),
      local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
  }

  @Test func `a path asks once, and again after the home had its time`() {
    var pending = PendingChecks()
    #expect(pending.begin(path(1), ufrags[0], now: start, limit: 10) == .asks)
    #expect(pending.begin(path(1), ufrags[0], now: start + .milliseconds(499), limit: 10) == .repeated)
    #expect(pending.begin(path(1), ufrags[0], now: start + .milliseconds(500), limit: 10) == .asks)
    #expect(pending.count == 1)
    pending.end(path(1))
    #expect(pending.count == 0)
    #expect(pending.begin(path(1), ufrags[0], now: start + .milliseconds(501), limit: 10) == .asks)
  }

  @Test func `the table is bounded, and those that got no answer make room`() {
    var pending = PendingChecks()
    for number in 0..<10 {
      let at = start + .milliseconds(number * 10)
      #expect(pending.begin(path(number), ufrags[number], now: at, limit: 10) == .asks)
    }
    #expect(pending.begin(path(10), ufrags[10], now: start + .milliseconds(100), limit: 10) == .full)
    #expect(pending.begin(path(10), ufrags[10], now: start + .milliseconds(505), limit: 10) == .asks)
    #expect(pending.count == 10)
  }

  @Test func `one peer has eight places, which come back with time or with an answer`() {
    var pending = PendingChecks()
    for port in 0..<1_000 {
      let isFirst = port < PendingChecks.perFragment
      #expect(
        pending.begin(path(port), ufrags[0], now: start, limit: 256) == (isFirst ? .asks : .fragmentFull))
    }
    #expect(pending.count == PendingChecks.perFragment)
    #expect(pending.begin(path(1), ufrags[1], now: start, limit: 256) == .asks)
    pending.end(path(0))
    #expect(pending.begin(path(2_000), ufrags[0], now: start, limit: 256) == .asks)
    #expect(pending.begin(path(2_001), ufrags[0], now: start, limit: 256) == .fragmentFull)
    #expect(pending.begin(path(2_001), ufrags[0], now: start + .milliseconds(500), limit: 256) == .asks)
  }

  @Test func `a check forged from a peer's address doesn't keep that peer from asking for its own`() {
    var pending = PendingChecks()
    #expect(pending.begin(path(1), ufrags[0], now: start, limit: 256) == .asks)
    #expect(pending.begin(path(1), ufrags[1], now: start, limit: 256) == .asks)
    pending.end(path(1))
    #expect(pending.count == 0)
  }

  @Test func `through random questions and answers it counts what it has`() {
    var pending = PendingChecks()
    var random = RandomSource.seeded(state: 11)
    var now = start
    for _ in 0..<20_000 {
      now = now + .milliseconds(Int64(random.next() % 20))
      let path = path(Int(random.next() % 40))
      switch random.next() % 8 {
      case 0: pending.end(path)
      case 1: pending.expire(now: now)
      default: _ = pending.begin(path, ufrags[Int(random.next() % 6)], now: now, limit: 30)
      }
      #expect(pending.count <= 30)
    }
    pending.expire(now: now + .seconds(1))
    #expect(pending.count == 0)
    for port in 0..<PendingChecks.perFragment {
      #expect(pending.begin(path(port), ufrags[0], now: now, limit: 30) == .asks)
    }
  }

  /// Two workers: the attacker has seen a check of a peer that is at home, and knows its fragment.
  @Test func `checks forged for one peer leave another's adoption alone`() throws {
    let room = try SimulationRoom(workers: 2)
    var known: [UInt8]?
    room.passes = { datagram in
      if datagram.toServer, datagram.isCheck, datagram.path.remote == Self.home {
        known = known ?? datagram.bytes
      }
      return true
    }
    let victim = try room.join(at: Self.home, publishes: true)
    room.run(for: .seconds(1))
    #expect(victim.isConnected)
    var check = try #require(known)
    // Its integrity is no good, which only the peer's own worker finds out.
    check[check.count - 12] ^= 1
    // Wherever the victim is, half of the forged addresses come in at the other worker.
    for port in 0..<2_000 as Range<UInt16> {
      room.inject(check, from: SocketAddress(ipv4: 198, 51, 100, 66, port: 1_000 + port))
    }
    room.run(for: .milliseconds(2))
    let before = room.server.reports(now: room.now)
    #expect(before.allSatisfy { $0.pendingChecks <= PendingChecks.perFragment })
    #expect(before.reduce(0) { $0 + $1.routing.checksOfOnePeer } > 800)

    let newcomer = try room.join(at: room.address(onWorker: 1, host: 30), home: 0, publishes: false)
    room.run(for: .milliseconds(300))
    #expect(newcomer.isConnected)
    #expect(newcomer.packetsReceived(of: 0) > 0)
    let after = room.server.reports(now: room.now)
    #expect(
      after[0].routing.adopted + after[1].routing.adopted > before[0].routing.adopted
        + before[1].routing.adopted)
    #expect(after.allSatisfy { $0.routing.checksDropped == 0 })
    #expect(victim.isConnected && room.closeReason(victim) == nil)
  }
}
