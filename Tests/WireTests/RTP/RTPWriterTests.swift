import Testing
import Wire

@Suite("Writing RTP headers", .timeLimit(.minutes(2)))
struct RTPWriterTests {
  func append(_ writer: inout RTPWriter, _ id: UInt8, _ data: [UInt8]) -> Bool {
    withBytes(data + [0]) { writer.append(id: id, $0.baseAddress!, size: data.count) }
  }

  func header(
    capacity: Int = 200, csrcs: Int = 0, form: HeaderExtensionForm = .oneByte, _ elements: [(UInt8, [UInt8])]
  ) -> (bytes: [UInt8]?, accepted: [Bool]) {
    var accepted: [Bool] = []
    let bytes = written(capacity: capacity) { buffer in
      guard
        var writer = RTPWriter(
          into: buffer, marker: true, payloadType: 111, sequence: 0xFFFE, timestamp: 0x0102_0304,
          ssrc: 0xA0B0_C0D0, csrcCount: csrcs, form: form)
      else { return nil }
      for index in 0..<csrcs { writer.setContributor(index, ssrc: UInt32(index)) }
      for (id, data) in elements {
        accepted.append(append(&writer, id, data))
      }
      return writer.finish()
    }
    return (bytes, accepted)
  }

  @Test func `the fixed header is as RFC 3550 draws it`() {
    #expect(header([]).bytes == [0x80, 0xEF, 0xFF, 0xFE, 1, 2, 3, 4, 0xA0, 0xB0, 0xC0, 0xD0])
  }

  @Test func `one-byte elements are packed and padded to a word`() {
    let (bytes, _) = header([(1, [7]), (14, [8, 9])])
    #expect(bytes?[0] == 0x90)
    #expect(bytes.map { Array($0[12...]) } == [0xBE, 0xDE, 0, 2, 0x10, 7, 0xE1, 8, 9, 0, 0, 0])
  }

  @Test func `two-byte elements stand behind contributors`() {
    let (bytes, _) = header(csrcs: 2, form: .twoByte, [(1, []), (200, [8, 9])])
    #expect(bytes?[0] == 0x92)
    #expect(
      bytes.map { Array($0[12...]) } == [0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0, 0, 2, 1, 0, 200, 2, 8, 9, 0, 0])
  }

  @Test func `an element that the form cannot hold is refused and leaves no trace`() {
    let (bytes, accepted) = header([(15, [1]), (0, [1]), (1, []), (1, Array(repeating: 0, count: 17))])
    #expect(accepted == [false, false, false, false])
    #expect(bytes?.count == 12)
    #expect(
      header(form: .twoByte, [(0, [1]), (1, Array(repeating: 0, count: 256))]).accepted == [false, false])
  }

  @Test func `the form turns to two bytes for large ids, long and empty elements`() {
    for (id, size, wanted) in [
      (14, 16, .oneByte), (15, 1, .twoByte), (1, 17, .twoByte), (1, 0, .twoByte), (0, 1, .twoByte),
    ] as [(UInt8, Int, HeaderExtensionForm)] {
      var form = HeaderExtensionForm.oneByte
      form.admit(id: id, size: size)
      form.admit(id: 1, size: 1)
      #expect(form == wanted)
    }
  }

  @Test(arguments: 0..<26) func `a buffer too small is refused before it is overrun`(capacity: Int) {
    let (bytes, accepted) = header(capacity: capacity, [(1, [7]), (2, [8, 9])])
    if capacity < 12 {
      #expect(bytes == nil)
    } else {
      // Four bytes of block and a word for the first element; the second begins in it and needs one more.
      #expect(accepted == [capacity >= 20, capacity >= 24])
      #expect(bytes?.count == (capacity >= 24 ? 24 : capacity >= 20 ? 20 : 12))
    }
  }

  @Test func `what is written is what is read, for random elements`() throws {
    var random = SplitMix(state: 7)
    for _ in 0..<500 {
      let form: HeaderExtensionForm = Bool.random(using: &random) ? .oneByte : .twoByte
      let elements: [(UInt8, [UInt8])] = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        form == .oneByte
          ? (
            .random(in: 1...14, using: &random),
            (0..<Int.random(in: 1...16, using: &random)).map { UInt8($0) }
          )
          : (
            .random(in: 1...255, using: &random),
            (0..<Int.random(in: 0...40, using: &random)).map { UInt8($0) }
          )
      }
      let csrcs = Int.random(in: 0...15, using: &random)
      let (bytes, accepted) = header(capacity: 500, csrcs: csrcs, form: form, elements)
      #expect(!accepted.contains(false))
      try withBytes(try #require(bytes)) { packet in
        let header = try RTPHeader(packet)
        #expect(header.headerSize == packet.count && header.csrcCount == csrcs)
        var reader = HeaderExtensionReader(packet, header)
        for (id, data) in elements {
          let next = reader.next()
          let element = try #require(next)
          #expect(element.id == id)
          #expect(Array(packet[element.offset..<element.offset + element.size]) == data)
        }
        let last = reader.next()
        #expect(last == nil && reader.ending == .complete)
      }
    }
  }
}

/// SplitMix64, so that a failing round can be repeated.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
