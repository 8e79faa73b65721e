import Testing
import Wire

@Suite("H.264 payloads, RFC 6184 §5", .timeLimit(.minutes(2)))
struct H264PayloadTests {
  func parse(_ bytes: [UInt8]) throws(H264Error) -> H264Payload {
    try withBytes(bytes) { payload throws(H264Error) in try H264Payload(payload) }
  }

  @Test func `parameter sets begin a key frame, alone or in an aggregate`() throws {
    let alone = try parse([0x67, 0x42, 0xE0, 0x1F])
    #expect(alone.startsKeyFrame && alone.startsFrame && !alone.isDiscardable)
    let aggregate = try parse([0x78, 0x00, 0x03, 0x67, 0x42, 0xE0, 0x00, 0x02, 0x68, 0xCE])
    #expect(aggregate.startsKeyFrame && aggregate.startsFrame)
  }

  @Test func `an IDR picture without its parameter sets is no place to begin`() throws {
    #expect(try !parse([0x65, 0x88, 0x84]).startsKeyFrame)
    #expect(try !parse([0x7C, 0x85, 0x88]).startsKeyFrame)
    #expect(try !parse([0x68, 0xCE]).startsKeyFrame)
  }

  @Test func `the first slice of a picture begins a frame, its others don't`() throws {
    #expect(try parse([0x41, 0x9A, 0x01]).startsFrame)
    #expect(try !parse([0x41, 0x4A, 0x01]).startsFrame)
    #expect(try parse([0x09, 0xF0]).startsFrame)
  }

  @Test func `only a unit's first fragment begins anything`() throws {
    #expect(try parse([0x7C, 0x81, 0x9A]).startsFrame)
    #expect(try !parse([0x7C, 0x01, 0x9A]).startsFrame)
    #expect(try !parse([0x7C, 0x41, 0x9A]).startsFrame)
    #expect(try parse([0x7C, 0x87, 0x42]).startsKeyFrame)
    #expect(try !parse([0x7C, 0x07, 0x42]).startsKeyFrame)
  }

  @Test func `a frame that none refers to may be left out`() throws {
    #expect(try parse([0x01, 0x9A]).isDiscardable)
    #expect(try parse([0x1C, 0x81, 0x9A]).isDiscardable)
    #expect(try !parse([0x21, 0x9A]).isDiscardable)
    #expect(try !parse([0x18, 0x00, 0x01, 0x06, 0x00, 0x02, 0x41, 0x9A]).isDiscardable)
  }

  @Test func `what neither mode has is refused`() {
    #expect(throws: H264Error.empty) { try parse([]) }
    #expect(throws: H264Error.forbiddenBit) { try parse([0xE7, 0x42]) }
    for type: UInt8 in [0, 25, 26, 27, 29, 30, 31] {
      #expect(throws: H264Error.unknownType(type)) { try parse([0x60 | type, 1, 2, 3]) }
    }
  }

  @Test func `aggregates and fragments that are cut are refused`() {
    #expect(throws: H264Error.truncated(offset: 1, size: 1)) { try parse([0x78]) }
    #expect(throws: H264Error.truncated(offset: 1, size: 3)) { try parse([0x78, 0x00, 0x03]) }
    #expect(throws: H264Error.truncated(offset: 3, size: 5)) { try parse([0x78, 0x00, 0x03, 0x67, 0x42]) }
    #expect(throws: H264Error.truncated(offset: 3, size: 4)) { try parse([0x78, 0x00, 0x00, 0x67]) }
    #expect(throws: H264Error.truncated(offset: 4, size: 5)) { try parse([0x78, 0x00, 0x01, 0x67, 0x00]) }
    #expect(throws: H264Error.truncated(offset: 1, size: 2)) { try parse([0x7C, 0x85]) }
  }
}
