import Model
import Simulation
import Testing

@Suite("A network that loses, delays and forgets", .timeLimit(.minutes(2)))
struct NetworkEmulatorTests {
  private static let host = SocketAddress(ipv4: 10, 0, 0, 1, port: 1_000)
  private static let seenAs = SocketAddress(ipv4: 198, 51, 100, 1, port: 5_000)
  private static let server = SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882)
  private static let zero = Instant(nanoseconds: 0)
  private static let out = NetworkPath(remote: server, local: host)
  private static let back = NetworkPath(remote: seenAs, local: server)

  private static func network(
    up: LinkConditions = .good, down: LinkConditions = .good, seed: UInt64 = 1
  ) -> NetworkEmulator {
    var network = NetworkEmulator(random: .seeded(state: seed))
    let link = network.addLink(up: up, down: down)
    network.attach(host, as: seenAs, link: link)
    return network
  }

  /// Everything that arrives, with its time.
  private static func drain(_ network: inout NetworkEmulator) -> [(Instant, NetworkEmulator.Delivery)] {
    var all: [(Instant, NetworkEmulator.Delivery)] = []
    while network.deadline != .never {
      let now = network.deadline
      while let delivery = network.deliver(now: now) { all.append((now, delivery)) }
    }
    return all
  }

  @Test func `both ends see the outside address, the host its inside one`() throws {
    var network = Self.network()
    network.send([1], path: Self.out, now: Self.zero, tag: 7)
    network.send([2], path: Self.back, now: Self.zero)
    let all = Self.drain(&network)
    try #require(all.count == 2)
    #expect(all.allSatisfy { $0.0 == Instant(nanoseconds: 20_000_000) })
    #expect(all[0].1.path == NetworkPath(remote: Self.seenAs, local: Self.server))
    #expect(all[0].1.tag == 7 && all[0].1.link == -1)
    #expect(all[1].1.path == NetworkPath(remote: Self.server, local: Self.host))
    #expect(all[1].1.link == 0)
  }

  @Test func `nothing arrives before its time`() {
    var network = Self.network()
    network.send([1], path: Self.out, now: Self.zero)
    #expect(network.deliver(now: Instant(nanoseconds: 19_999_999)) == nil)
    #expect(network.deliver(now: Instant(nanoseconds: 20_000_000)) != nil)
    #expect(network.deadline == .never)
  }

  @Test func `a seed decides everything`() {
    func fate(_ seed: UInt64) -> [Int64] {
      let rough = LinkConditions(
        delay: 1_000_000, jitter: 9_000_000, loss: 0.1, duplication: 0.1, reordering: 0.1)
      var network = Self.network(up: rough, seed: seed)
      for index in 0..<300 {
        network.send(
          [UInt8(index & 255)], path: Self.out, now: Instant(nanoseconds: Int64(index) * 1_000_000))
      }
      return Self.drain(&network).map { $0.0.nanoseconds << 8 | Int64($0.1.bytes[0]) }
    }
    #expect(fate(5) == fate(5))
    #expect(fate(5) != fate(6))
  }

  @Test func `what is lost is known by its tag`() {
    var network = Self.network(up: LinkConditions(loss: 0.2), seed: 3)
    for tag in 1...1_000 as ClosedRange<UInt64> {
      network.send([0], path: Self.out, now: Self.zero, tag: tag)
    }
    let lost = Set(network.lostTags)
    #expect((150...250).contains(lost.count))
    let arrived = Set(Self.drain(&network).map(\.1.tag))
    #expect(arrived.isDisjoint(with: lost) && arrived.count + lost.count == 1_000)
  }

  @Test func `of two copies the second is called a repeat, whichever it is`() {
    var network = Self.network(up: LinkConditions(duplication: 0.5), seed: 4)
    for tag in 1...200 as ClosedRange<UInt64> {
      network.send([0], path: Self.out, now: Self.zero, tag: tag)
    }
    var seen: Set<UInt64> = []
    for (_, delivery) in Self.drain(&network) {
      #expect(delivery.isRepeat == !seen.insert(delivery.tag).inserted)
    }
    #expect(seen.count == 200)
    #expect((70...130).contains(network.counters.duplicated))
  }

  @Test func `jitter alone lets no datagram overtake`() {
    var network = Self.network(up: LinkConditions(jitter: 50_000_000), seed: 5)
    for index in 0..<200 {
      network.send(
        [UInt8(index)], path: Self.out, now: Instant(nanoseconds: Int64(index) * 1_000_000))
    }
    #expect(Self.drain(&network).map { $0.1.bytes[0] } == (0..<200).map { UInt8($0) })
  }

  @Test func `reordering lets some be overtaken`() {
    var network = Self.network(up: LinkConditions(reordering: 0.1, reorderingSpan: 20_000_000), seed: 6)
    for index in 0..<200 {
      network.send(
        [UInt8(index)], path: Self.out, now: Instant(nanoseconds: Int64(index) * 1_000_000))
    }
    let order = Self.drain(&network).map { $0.1.bytes[0] }
    #expect(order.count == 200 && order != order.sorted())
  }

  @Test func `a link with a rate makes wait, then drops`() {
    // 8 Mbit/s: a kilobyte takes a millisecond, and ten may wait.
    var network = Self.network(up: LinkConditions(delay: 0, rate: 8_000_000, queue: 10_000))
    let kilobyte = [UInt8](repeating: 0, count: 1_000)
    for tag in 1...15 as ClosedRange<UInt64> {
      network.send(kilobyte, path: Self.out, now: Self.zero, tag: tag)
    }
    #expect(network.lostTags == [11, 12, 13, 14, 15])
    #expect(Self.drain(&network).map { $0.0.nanoseconds } == (1...10).map { Int64($0) * 1_000_000 })
  }

  @Test func `after a rebinding the old address leads nowhere`() throws {
    var network = Self.network()
    network.send([1], path: Self.back, now: Self.zero, tag: 1)
    let elsewhere = Self.seenAs.with(port: 6_000)
    network.rebind(Self.host, to: elsewhere)
    network.send([2], path: Self.out, now: Self.zero)
    network.send([3], path: NetworkPath(remote: elsewhere, local: Self.server), now: Self.zero)
    let all = Self.drain(&network).map(\.1)
    try #require(all.map(\.bytes) == [[2], [3]])
    #expect(all[0].path.remote == elsewhere)
    #expect(all[1].path.local == Self.host)
    #expect(network.lostTags == [1])
  }

  @Test func `a link that is cut loses what is on its way, and works again afterwards`() {
    var network = Self.network()
    network.send([1], path: Self.back, now: Self.zero, tag: 1)
    network.setCut(0, true)
    network.send([2], path: Self.out, now: Self.zero, tag: 2)
    #expect(Self.drain(&network).isEmpty)
    network.setCut(0, false)
    network.send([3], path: Self.out, now: Self.zero, tag: 3)
    #expect(Self.drain(&network).map(\.1.tag) == [3])
    #expect(Set(network.lostTags) == [1, 2])
  }
}
