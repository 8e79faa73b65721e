import Testing
import Wire

@Suite("Retransmission, RFC 4588", .timeLimit(.minutes(2)))
struct RTXTests {
  /// Extension block, two bytes of payload, two of padding.
  let original: [UInt8] = [
    0xB0, 0xE0, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, 0xBE, 0xDE, 0, 1, 0x10, 0x37, 0, 0, 0xAA, 0xBB, 0, 2,
  ]

  func encapsulate(_ bytes: [UInt8], capacity: Int) throws(RTPError) -> [UInt8]? {
    try withBytes(bytes) { packet throws(RTPError) in
      let header = try RTPHeader(packet)
      return written(capacity: capacity) {
        RTX.encapsulate(packet, header, into: $0, payloadType: 97, sequence: 0x5678, ssrc: 0x0A0B_0C0D)
      }
    }
  }

  @Test func `the original sequence number precedes the payload and padding is gone`() throws {
    #expect(
      try encapsulate(original, capacity: 24) == [
        0x90, 0xE1, 0x56, 0x78, 1, 2, 3, 4, 10, 11, 12, 13, 0xBE, 0xDE, 0, 1, 0x10, 0x37, 0, 0, 0x12, 0x34,
        0xAA, 0xBB,
      ])
    #expect(try encapsulate(original, capacity: 23) == nil)
  }

  @Test func `decapsulating restores the packet two bytes in, without its padding`() throws {
    let rtx = try #require(try encapsulate(original, capacity: 24))
    var bytes = rtx
    let start = try bytes.withUnsafeMutableBytes { packet in
      let header = try RTPHeader(UnsafeRawBufferPointer(packet))
      #expect(RTX.originalSequence(of: UnsafeRawBufferPointer(packet), header) == 0x1234)
      return RTX.decapsulate(packet, header, payloadType: 96, ssrc: 0x0506_0708)
    }
    #expect(start == 2)
    #expect(Array(bytes[2...]) == [0x90] + original[1..<22])
  }

  @Test(arguments: [0, 1]) func `a retransmission of padding alone holds no packet`(payload: Int) throws {
    var bytes: [UInt8] =
      [0xA0, 97, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1] + Array(repeating: 9, count: payload) + [0, 2]
    let before = bytes
    let start = try bytes.withUnsafeMutableBytes { packet in
      let header = try RTPHeader(UnsafeRawBufferPointer(packet))
      return RTX.decapsulate(packet, header, payloadType: 96, ssrc: 2)
    }
    #expect(start == nil)
    #expect(bytes == before)
  }
}

@Suite("Extending sequence numbers", .timeLimit(.minutes(2)))
struct SequenceExtenderTests {
  @Test func `the value nearest to the highest is taken, across wraps`() {
    var extender = SequenceExtender()
    #expect(extender.highest == nil)
    #expect(extender.extend(65_534) == 65_534)
    #expect(extender.extend(1) == 65_537)
    #expect(extender.extend(65_535) == 65_535)
    #expect(extender.highest == 65_537)
    #expect(extender.extend(2) == 65_538)
  }

  @Test func `numbers before the first are negative, not far ahead`() {
    var extender = SequenceExtender()
    #expect(extender.extend(3) == 3)
    #expect(extender.extend(65_535) == -1)
    #expect(extender.highest == 3)
  }

  @Test func `half the circle away is behind, a step less is ahead`() {
    var extender = SequenceExtender(highest: 100_000)
    #expect(extender.peek(UInt16(truncatingIfNeeded: 100_000 + 32_768)) == 100_000 - 32_768)
    #expect(extender.extend(UInt16(truncatingIfNeeded: 100_000 + 32_767)) == 132_767)
  }

  @Test func `timestamps wrap the same way`() {
    var extender = TimestampExtender()
    #expect(extender.extend(0xFFFF_FF00) == 0xFFFF_FF00)
    #expect(extender.extend(0x0000_0100) == 0x1_0000_0100)
    #expect(extender.peek(0xFFFF_FFFF) == 0xFFFF_FFFF)
    #expect(extender.extend(0x8000_00FF) == 0x1_8000_00FF)
  }
}
