import Media
import Model
import Testing

@Suite("Sound out of packets", .timeLimit(.minutes(1)))
struct SoundAssemblerTests {
  static func packet(_ number: Int, _ payload: [UInt8], red: Bool = true, restart: UInt8 = 0) -> FramePacket {
    FramePacket(
      sequence: Int64(number), timestamp: UInt32(truncatingIfNeeded: number * 960 - 1_000), marker: false,
      format: red ? .red : .opus, primaryFormat: .opus, restart: restart,
      arrival: Instant(nanoseconds: 0), payload: payload)
  }

  /// A packet with those of two before it.
  static func redundant(_ number: UInt8) -> FramePacket {
    let heads: [UInt8] = [0xEF, 0x1E, 0x00, 0x02, 0xEF, 0x0F, 0x00, 0x02, 0x6F]
    return packet(
      Int(number), heads + [0xF8, number - 2, 0xF8, number - 1, 0xF8, number])
  }

  static func numbers(_ frames: [EncodedFrame]) -> [UInt8] { frames.map { $0.bytes[1] } }

  @Test func `of redundant packets that all come each frame comes once`() {
    var assembler = SoundAssembler()
    var frames: [EncodedFrame] = []
    for number in 2..<10 as Range<UInt8> { assembler.add(Self.redundant(number), into: &frames) }
    #expect(Self.numbers(frames) == Array(2..<10))
    #expect(frames.allSatisfy { $0.samples == 960 && $0.format == .opus })
  }

  @Test func `older blocks stand in for two packets that were lost, of three the oldest is missing`() {
    var assembler = SoundAssembler()
    var frames: [EncodedFrame] = []
    assembler.add(Self.redundant(5), into: &frames)
    assembler.lose()
    assembler.add(Self.redundant(8), into: &frames)
    #expect(Self.numbers(frames) == [5, 6, 7, 8])
    assembler.lose()
    assembler.add(Self.redundant(12), into: &frames)
    #expect(Self.numbers(frames) == [5, 6, 7, 8, 10, 11, 12])
    for (frame, next) in zip(frames, frames.dropFirst()) {
      #expect(next.timestamp &- frame.timestamp == UInt32(next.bytes[1] - frame.bytes[1]) * 960)
    }
  }

  @Test func `what is no packet of its codec is left out`() {
    var assembler = SoundAssembler()
    var frames: [EncodedFrame] = []
    assembler.add(Self.packet(1, [0xFB], red: false), into: &frames)
    assembler.add(Self.packet(2, [0xFB, 63], red: false), into: &frames)
    assembler.add(Self.packet(3, [0xEF, 0, 0], red: true), into: &frames)
    #expect(frames.isEmpty)
  }
}
