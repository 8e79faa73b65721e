import Testing
import Wire

@Suite("AV1 payloads, RTP specification §4.4", .timeLimit(.minutes(2)))
struct AV1PayloadTests {
  func parse(_ bytes: [UInt8]) throws(AV1Error) -> AV1Payload {
    try withBytes(bytes) { payload throws(AV1Error) in try AV1Payload(payload) }
  }

  @Test func `a coded video sequence begins where N says so`() throws {
    // Two elements: a sequence header with its length, and the frame.
    let first = try parse([0x28, 0x03, 0x08, 0x00, 0x00, 0x30, 0x10])
    #expect(first.startsKeyFrame && first.startsFrame)
    #expect(try !parse([0x20, 0x03, 0x08, 0x00, 0x00, 0x30, 0x10]).startsKeyFrame)
  }

  @Test func `frames and frame headers begin a frame, tiles don't`() throws {
    #expect(try parse([0x10, 0x30, 0x10]).startsFrame)
    #expect(try parse([0x10, 0x18, 0x10]).startsFrame)
    #expect(try !parse([0x10, 0x20, 0x10]).startsFrame)
  }

  @Test func `what continues an element begins nothing`() throws {
    let rest = try parse([0x90, 0x30, 0x10])
    #expect(!rest.startsFrame && !rest.startsKeyFrame)
  }

  @Test func `an unsaid number of elements gives each its length`() throws {
    #expect(try parse([0x00, 0x02, 0x30, 0x10]).startsFrame)
    #expect(try parse([0x00, 0x82, 0x00, 0x30, 0x10]).startsFrame)
  }

  @Test func `contradictions and cuts are refused`() {
    #expect(throws: AV1Error.empty) { try parse([]) }
    #expect(throws: AV1Error.contradiction) { try parse([0x98, 0x30]) }
    #expect(throws: AV1Error.truncated(offset: 1, size: 1)) { try parse([0x10]) }
    #expect(throws: AV1Error.truncated(offset: 1, size: 2)) { try parse([0x00, 0x01]) }
    #expect(throws: AV1Error.truncated(offset: 1, size: 3)) { try parse([0x00, 0x02, 0x30]) }
    #expect(throws: AV1Error.truncated(offset: 1, size: 3)) { try parse([0x00, 0x00, 0x30]) }
    #expect(throws: AV1Error.truncated(offset: 1, size: 7)) {
      try parse([0x00, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00])
    }
  }
}
