import Testing
import Wire

@Suite("Redundant audio, RFC 2198 §3", .timeLimit(.minutes(2)))
struct REDPayloadTests {
  func parse(_ bytes: [UInt8]) throws(REDError) -> REDPayload {
    try withBytes(bytes) { payload throws(REDError) in try REDPayload(payload) }
  }

  /// Two older blocks of two and three bytes, then one of four.
  let three: [UInt8] = [0xEF, 0x1E, 0x00, 0x02, 0xEF, 0x0F, 0x00, 0x03, 0x6F, 1, 1, 2, 2, 2, 3, 3, 3, 3]

  @Test func `blocks are found by their headers`() throws {
    let payload = try parse(three)
    #expect(payload.payloadType == 111)
    #expect(payload.olderBlocks == 2)
    #expect(payload.primaryOffset == 14)
    #expect(Array(three[payload.primaryOffset...]) == [3, 3, 3, 3])
  }

  @Test func `the newest block may come alone, or be empty`() throws {
    #expect(try parse([0x6F, 9]).primaryOffset == 1)
    #expect(try parse([0x6F]).primaryOffset == 1)
  }

  @Test func `all blocks get another payload type and nothing else changes`() throws {
    var bytes = three
    bytes.withUnsafeMutableBytes { REDPayload.rewrite($0, olderBlocks: 2, payloadType: 96) }
    #expect(bytes == [0xE0, 0x1E, 0x00, 0x02, 0xE0, 0x0F, 0x00, 0x03, 0x60] + three[9...])
    var short: [UInt8] = [0xEF, 0, 0, 0]
    short.withUnsafeMutableBytes { REDPayload.rewrite($0, olderBlocks: 1, payloadType: 96) }
    #expect(short == [0xEF, 0, 0, 0])
  }

  @Test func `lengths that lie are refused`() {
    #expect(throws: REDError.empty) { try parse([]) }
    for count in [1, 4, 5, 8] {
      #expect(throws: REDError.headersOverrun(size: count)) { try parse(Array(three[..<count])) }
    }
    #expect(throws: REDError.blocksOverrun(bytes: 14, size: 13)) { try parse(Array(three[..<13])) }
  }

  @Test func `two codecs in one packet are refused`() {
    #expect(throws: REDError.mixed(111, 0)) { try parse([0xEF, 0, 0, 1, 0x00, 1, 2]) }
  }

  @Test func `more older blocks than anybody needs are refused`() {
    let header: [UInt8] = [0xEF, 0, 0, 0]
    #expect(throws: REDError.tooManyBlocks) {
      try parse(Array(repeatElement(header, count: 32).joined()) + [0x6F, 1])
    }
    #expect(throws: Never.self) { try parse(Array(repeatElement(header, count: 31).joined()) + [0x6F, 1]) }
  }
}
