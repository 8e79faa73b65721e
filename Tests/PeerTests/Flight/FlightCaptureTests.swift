import Model
import Testing

@testable import Peer

@Suite("Captures of flight recorders", .timeLimit(.minutes(1)))
struct FlightCaptureTests {
  private static let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000))

  @Test func `a capture has true addresses, headers without payload, and decisions in words`() throws {
    let memory = FlightMemory()
    var ring = FlightRing()
    FlightRingTests.note(&ring, 7, at: Instant(nanoseconds: 5), memory)
    let v6 = NetworkPath(
      remote: SocketAddress(high: 0x2001_0DB8_0000_0000, low: 1, port: 9),
      local: SocketAddress(high: 0x2001_0DB8_0000_0000, low: 2, port: 10))
    let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9]
    report.withUnsafeBytes {
      ring.note(rtcp: $0, v6, isInbound: true, now: Instant(nanoseconds: 6), memory)
    }
    ring.note(.paused(slot: 3), now: Instant(nanoseconds: 7), memory)
    ring.note(.pathSelected, path: v6, now: Instant(nanoseconds: 8), memory)
    let file = FlightRingTests.recording(ring).capture(title: "PA_1", epoch: Self.epoch)
    let capture = try #require(CaptureReader(file))
    #expect(capture.sections == 1 && capture.interfaces == [101, 252] && capture.packets.count == 4)
    let rtp = capture.packets[0]
    #expect(rtp.isInbound == false && rtp.bytes.count == 40 && rtp.size == 1_140)
    #expect(rtp.nanoseconds.distance(to: 1_700_000_000_000_000_005).magnitude <= 1)
    #expect(rtp.bytes[0] == 0x45 && Array(rtp.bytes[12..<20]) == [203, 0, 113, 1, 192, 0, 2, 0])
    #expect(Array(rtp.bytes[20..<24]) == [0x1E, 0xCA, 0x03, 0xE8], "ports 7882 to 1000")
    // The header's checksum: all words together are all ones.
    var sum: UInt32 = 0
    for place in stride(from: 0, to: 20, by: 2) {
      sum += UInt32(rtp.bytes[place]) * 256
      sum += UInt32(rtp.bytes[place + 1])
    }
    #expect(sum % 65_536 + sum / 65_536 == 0xFFFF)
    #expect(Array(rtp.bytes[28...]) == [0x80, 96, 0, 7, 0, 0, 0, 5, 0, 0, 0, 7])
    let rtcp = capture.packets[1]
    #expect(rtcp.isInbound == true && rtcp.bytes[0] >> 4 == 6 && Array(rtcp.bytes.suffix(8)) == report)
    #expect(capture.packets[2].interface == 1 && capture.packets[2].comment == "slot 3 is paused: bandwidth")
    #expect(capture.packets[3].comment == "media goes: \(v6.local) to \(v6.remote)")
    #expect(
      CaptureReader(FlightRecording.none.capture(title: "-", epoch: Self.epoch))?.packets.isEmpty == true)
  }

  @Test(arguments: 1...10) func `whatever is noted, the file reads, in the order of time`(seed: Int) throws {
    var random = RandomSource.seeded(state: UInt64(seed))
    let memory = FlightMemory(limit: FlightMemory.blockSize * (1 + Int(random.next() % 4)))
    var ring = FlightRing()
    var now: Int64 = 1
    for _ in 0..<Int(random.next() % 3_000) {
      now += Int64(random.next() % 30_000_000)
      let at = Instant(nanoseconds: now)
      let bytes = (0..<Int(random.next() % 1_500)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let path = FlightRingTests.path(Int(random.next() % 70))
      let isInbound = random.next() % 2 == 0
      bytes.withUnsafeBytes { raw in
        switch random.next() % 4 {
        case 0: ring.note(rtp: raw, size: raw.count, path, isInbound: isInbound, now: at, memory)
        case 1: ring.note(rtcp: raw, path, isInbound: isInbound, now: at, memory)
        case 2: ring.note(setup: raw, path, isInbound: isInbound, now: at, memory)
        default: ring.note(.target(Double(random.next() % 10_000_000)), now: at, memory)
        }
      }
    }
    let file = FlightRingTests.recording(ring, at: Instant(nanoseconds: now)).capture(
      title: "-", epoch: Self.epoch)
    let packets = try #require(CaptureReader(file)).packets
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.nanoseconds <= $1.nanoseconds })
    let oldest =
      packets.first.map { $0.nanoseconds.distance(to: packets[packets.count - 1].nanoseconds) } ?? 0
    #expect(oldest <= 60_000_000_001)
  }
}
