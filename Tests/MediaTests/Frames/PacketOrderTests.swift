import Media
import Model
import Testing

@Suite("Packets in order", .timeLimit(.minutes(1)))
struct PacketOrderTests {
  static func packet(_ sequence: Int64, at milliseconds: Int64, restart: UInt8 = 0, size: Int = 1)
    -> FramePacket
  {
    FramePacket(
      sequence: sequence, timestamp: 0, marker: false, format: .vp8, restart: restart,
      arrival: Instant(nanoseconds: milliseconds * 1_000_000), payload: [UInt8](repeating: 0, count: size))
  }

  /// What comes out: numbers, and losses as negative ones.
  static func drain(_ order: inout PacketOrder, at milliseconds: Int64?) -> [Int64] {
    let now = milliseconds.map { Instant(nanoseconds: $0 * 1_000_000) } ?? .never
    var found: [Int64] = []
    while let step = order.next(now: now) {
      switch step {
      case .packet(let packet): found.append(packet.sequence)
      case .lost(let count): found.append(-count)
      }
    }
    return found
  }

  @Test func `what overtook another waits for it, and is given up after its time`() {
    var order = PacketOrder(patience: .milliseconds(500))
    for (sequence, time) in [(10, 0), (12, 10), (11, 20), (14, 30)] as [(Int64, Int64)] {
      order.add(Self.packet(sequence, at: time))
    }
    #expect(Self.drain(&order, at: 30) == [10, 11, 12])
    #expect(Self.drain(&order, at: 529) == [])
    #expect(Self.drain(&order, at: 530) == [-1, 14])
    order.add(Self.packet(13, at: 540))
    #expect(order.late == 1)
    #expect(Self.drain(&order, at: nil) == [])
  }

  @Test func `what came twice comes out once`() {
    var order = PacketOrder(patience: .milliseconds(500))
    for sequence in [1, 3, 3, 2, 2, 1] as [Int64] { order.add(Self.packet(sequence, at: 0)) }
    #expect(Self.drain(&order, at: 0) == [1, 2, 3])
    #expect(order.late == 3)
  }

  @Test func `a source that starts over goes on without a loss`() {
    var order = PacketOrder(patience: .milliseconds(500))
    order.add(Self.packet(1, at: 0))
    order.add(Self.packet(70_000, at: 10, restart: 1))
    #expect(Self.drain(&order, at: 20) == [1])
    // What was overtaken may still come; more than that is not waited for.
    #expect(Self.drain(&order, at: 109) == [])
    #expect(Self.drain(&order, at: 110) == [70_000])
    order.add(Self.packet(70_002, at: 600, restart: 1))
    #expect(Self.drain(&order, at: nil) == [-1, 70_002])
  }

  @Test func `no more waits than its bounds, in packets and in bytes`() {
    var order = PacketOrder(patience: .seconds(1_000))
    order.add(Self.packet(0, at: 0))
    for sequence in 2...5_000 as ClosedRange<Int64> { order.add(Self.packet(sequence, at: 0)) }
    #expect(Self.drain(&order, at: 0).prefix(3) == [0, -1, 2])
    var large = PacketOrder(patience: .seconds(1_000))
    large.add(Self.packet(0, at: 0))
    for sequence in 2...200 as ClosedRange<Int64> { large.add(Self.packet(sequence, at: 0, size: 60_000)) }
    #expect(Self.drain(&large, at: 0).prefix(3) == [0, -1, 2])
  }
}
