import Testing
import Wire

@Suite("RTP header, RFC 3550 §5.1", .timeLimit(.minutes(2)))
struct RTPHeaderTests {
  /// Version 2, padding, extension, two contributors; payload type 96 with marker.
  let full: [UInt8] = [
    0xB2, 0xE0, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8,
    0, 0, 0, 10, 0, 0, 0, 11,
    0xBE, 0xDE, 0, 1, 0x10, 0x37, 0, 0,
    0xAA, 0xBB, 0xCC, 0, 0, 3,
  ]

  func parse(_ bytes: [UInt8]) throws(RTPError) -> RTPHeader {
    try withBytes(bytes) { packet throws(RTPError) in try RTPHeader(packet) }
  }

  @Test func `every field and range is read`() throws {
    let header = try parse(full)
    #expect(header.marker)
    #expect(header.payloadType == 96)
    #expect(header.sequence == 0x1234)
    #expect(header.timestamp == 0x0102_0304)
    #expect(header.ssrc == 0x0506_0708)
    #expect(header.csrcCount == 2)
    #expect(header.headerSize == 28)
    #expect(header.payloadOffset == 28)
    #expect(header.extensionProfile == 0xBEDE)
    #expect(header.extensionOffset == 24)
    #expect(header.extensionSize == 4)
    #expect(header.payloadSize == 3)
    #expect(header.paddingSize == 3)
  }

  @Test func `a packet cut inside its header is refused with what was missing`() {
    for size in 0..<12 {
      #expect(throws: RTPError.tooShort(bytes: size)) { try parse(Array(full[..<size])) }
    }
    for size in 12..<20 {
      #expect(throws: RTPError.contributorsOverrun(count: 2, packet: size)) {
        try parse(Array(full[..<size]))
      }
    }
    for size in 20..<24 {
      #expect(throws: RTPError.extensionOverruns(offset: 20, words: 0, packet: size)) {
        try parse(Array(full[..<size]))
      }
    }
    for size in 24..<28 {
      #expect(throws: RTPError.extensionOverruns(offset: 20, words: 1, packet: size)) {
        try parse(Array(full[..<size]))
      }
    }
  }

  @Test(arguments: [0, 1, 3] as [UInt8]) func `another version is refused`(version: UInt8) {
    var bytes = full
    bytes[0] = bytes[0] & 0x3F | version << 6
    #expect(throws: RTPError.wrongVersion(version)) { try parse(bytes) }
  }

  @Test func `padding may take the whole payload but no more`() throws {
    var bytes = full
    bytes[bytes.count - 1] = 6
    #expect(try parse(bytes).payloadSize == 0)
    bytes[bytes.count - 1] = 7
    #expect(throws: RTPError.paddingOverruns(padding: 7, available: 6)) { try parse(bytes) }
    bytes[bytes.count - 1] = 0
    #expect(throws: RTPError.paddingCountZero) { try parse(bytes) }
    // No byte behind the header: what looks like a count is part of the extension.
    #expect(throws: RTPError.paddingOverruns(padding: 0, available: 0)) { try parse(Array(full[..<28])) }
  }

  @Test func `an extension that claims the largest length does not overflow`() {
    var bytes = full
    bytes[22] = 0xFF
    bytes[23] = 0xFF
    #expect(throws: RTPError.extensionOverruns(offset: 20, words: 65_535, packet: full.count)) {
      try parse(bytes)
    }
  }
}
