import Testing
import Wire

@Suite("Packets of Opus, RFC 6716 §3", .timeLimit(.minutes(1)))
struct OpusPacketTests {
  @Test func `each configuration has its length of frames`() throws {
    // Table 2, in samples at 48 kHz.
    let (silk, both, celt) = ([480, 960, 1_920, 2_880], [480, 960], [120, 240, 480, 960])
    let lengths = [silk, silk, silk, both, both, celt, celt, celt, celt].flatMap { $0 }
    #expect(lengths.count == 32)
    for (configuration, length) in lengths.enumerated() {
      let head = UInt8(configuration) << 3
      #expect(try OpusPacket([head, 1]).samples == length)
      #expect(try OpusPacket([head | 2, 1]).samples == 2 * length)
      #expect(try OpusPacket([head | 4, 1]).isStereo)
    }
  }

  @Test func `frames that a byte counts are counted, and bounded at 120 ms`() throws {
    #expect(try OpusPacket([0xFB, 6]).samples == 5_760)
    #expect(throws: OpusError.tooLong(samples: 6_720)) { try OpusPacket([0xFB, 7]) }
    #expect(throws: OpusError.noFrames) { try OpusPacket([0xFB, 0x40]) }
    #expect(throws: OpusError.noFrames) { try OpusPacket([0xFB]) }
    #expect(throws: OpusError.empty) { try OpusPacket([UInt8]()) }
  }

  @Test func `silence is coded as what came before it, and lasts as long as it says`() throws {
    for configuration in 0..<32 as Range<UInt8> {
      for most in stride(from: 120, through: 5_760, by: 120) {
        let (bytes, samples) = OpusPacket.silence(after: configuration << 3 | 4 | 1, most: most)
        let packet = try OpusPacket(bytes)
        #expect(packet.samples == samples && samples <= most && samples > 0)
        #expect(packet.isStereo && bytes.count <= 2)
        if OpusPacket.frameSize(configuration << 3) <= most { #expect(bytes[0] >> 3 == configuration) }
      }
    }
    #expect(OpusPacket.silence(after: 0xF8, most: 960).bytes == [0xF8])
    #expect(OpusPacket.silence(after: 0xF8, most: 5_760).bytes == [0xFB, 6])
  }
}
