import Model
import Simulation
import Testing

@Suite("A link with two ends", .timeLimit(.minutes(2)))
struct EmulatedLinkTests {
  private static func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Everything that arrives in a direction, with its time in milliseconds.
  private static func drain(
    _ link: inout EmulatedLink, _ direction: EmulatedLink.Direction
  ) -> [(time: Int64, bytes: [UInt8])] {
    var all: [(Int64, [UInt8])] = []
    while link.deadline != .never {
      let now = link.deadline
      while let bytes = link.deliver(direction, now: now) { all.append((now.nanoseconds / 1_000_000, bytes)) }
    }
    return all
  }

  @Test func `each direction has its own conditions and its own counts`() {
    var link = EmulatedLink(
      down: LinkConditions(delay: 30_000_000), up: LinkConditions(delay: 5_000_000), random: .seeded(state: 1)
    )
    link.take([1, 2, 3], .down, now: Self.at(0))
    link.take([4], .up, now: Self.at(0))
    #expect(link.deliver(.down, now: Self.at(29)) == nil)
    #expect(link.deliver(.up, now: Self.at(5)) == [4])
    #expect(link.deliver(.up, now: Self.at(50)) == nil)
    #expect(link.deliver(.down, now: Self.at(31)) == [1, 2, 3])
    #expect(link.deadline == .never)
    let down = link.counts(.down)
    let up = link.counts(.up)
    #expect(down.packets == 1 && down.bytes == 3 && down.delivered == 1 && down.deliveredBytes == 3)
    #expect(down.late == 1_000_000)
    #expect(up.packets == 1 && up.bytes == 1 && up.late == 0)
  }

  @Test(arguments: [UInt64](1...20))
  func `a direction carries its rate and drops what its queue has no room for`(
    seed: UInt64
  ) {
    var random = RandomSource.seeded(state: seed)
    let rate = Int64.random(in: 100_000...30_000_000, using: &random)
    let size = Int.random(in: 100...1_500, using: &random)
    let queue = Int.random(in: 1_500...60_000, using: &random)
    var link = EmulatedLink(
      down: LinkConditions(delay: 0, rate: rate, queue: queue), up: .good, random: random)
    // Twice the rate for two seconds.
    let gap = Int64(size) * 8_000_000_000 / (2 * rate)
    for index in 0..<(2_000_000_000 / gap) {
      link.take([UInt8](repeating: 7, count: size), .down, now: Instant(nanoseconds: index * gap))
    }
    var bytes = 0
    var last: Int64 = 0
    while link.deadline != .never {
      last = link.deadline.nanoseconds
      while let packet = link.deliver(.down, now: Instant(nanoseconds: last)) { bytes += packet.count }
    }
    let carried = Double(bytes) * 8_000_000_000 / Double(last)
    #expect(abs(carried / Double(rate) - 1) < 0.02, "\(carried) of \(rate)")
    #expect(last - 2_000_000_000 <= Int64(queue + 1_500) * 8_000_000_000 / rate)
    let counts = link.counts(.down)
    #expect(counts.overflowed > 0 && counts.delivered + counts.overflowed == counts.packets)
  }

  @Test func `a rate that is raised is not busy as long as the old one would be`() {
    var link = EmulatedLink(
      down: LinkConditions(delay: 0, rate: 80_000, queue: 10_000), up: .good, random: .seeded(state: 1))
    // A second's worth.
    for _ in 0..<10 { link.take([UInt8](repeating: 0, count: 1_000), .down, now: Self.at(0)) }
    link.setConditions(.down, LinkConditions(delay: 0, rate: 8_000_000, queue: 10_000), now: Self.at(100))
    // 9,000 bytes are 9 ms of the new rate.
    for time in 110..<120 { link.take([1], .down, now: Self.at(Int64(time))) }
    #expect(link.counts(.down).overflowed == 0)
    #expect(Self.drain(&link, .down).count == 20)
  }

  @Test func `a rate that is lowered lets what waits arrive at its time, and no packet overtakes`() {
    var link = EmulatedLink(
      down: LinkConditions(delay: 0, rate: 8_000_000, queue: 10_000), up: .good, random: .seeded(state: 1))
    for _ in 0..<10 { link.take([UInt8](repeating: 0, count: 1_000), .down, now: Self.at(0)) }
    link.setConditions(.down, LinkConditions(delay: 0, rate: 80_000, queue: 10_000), now: Self.at(0))
    link.take([UInt8](repeating: 1, count: 1_000), .down, now: Self.at(1))
    let all = Self.drain(&link, .down)
    #expect(all.map(\.bytes[0]) == [UInt8](repeating: 0, count: 10) + [1])
    #expect(all[9].time == 10 && all[10].time == 110)
  }

  @Test func `one seed loses the same packets, and each direction its own`() {
    func arrived(_ seed: UInt64, _ direction: EmulatedLink.Direction) -> [UInt8] {
      let lossy = LinkConditions(delay: 0, loss: 0.3)
      var link = EmulatedLink(down: lossy, up: lossy, random: .seeded(state: seed))
      for index in 0..<200 { link.take([UInt8(index)], direction, now: Self.at(Int64(index))) }
      return Self.drain(&link, direction).map(\.bytes[0])
    }
    #expect(arrived(5, .down) == arrived(5, .down))
    #expect(arrived(5, .down) != arrived(6, .down))
    #expect(arrived(5, .down) != arrived(5, .up))
    #expect((100..<180).contains(arrived(5, .down).count))
  }
}
