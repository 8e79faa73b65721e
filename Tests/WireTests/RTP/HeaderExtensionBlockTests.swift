import Testing
import Wire

@Suite("Header extension block laid out ahead, RFC 8285", .timeLimit(.minutes(2)))
struct HeaderExtensionBlockTests {
  /// A packet of `count` bytes of 0xFF whose header is written with `body`; nil if `body` says so.
  private func packet(
    _ count: Int, csrcCount: Int = 0, form: HeaderExtensionForm = .oneByte,
    _ body: (consuming RTPWriter) -> Int?
  ) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0xFF, count: count)
    let size = bytes.withUnsafeMutableBytes { buffer -> Int? in
      guard
        let writer = RTPWriter(
          into: buffer, marker: true, payloadType: 100, sequence: 7, timestamp: 8, ssrc: 9,
          csrcCount: csrcCount, form: form)
      else { return nil }
      return body(writer)
    }
    return size.map { Array(bytes[..<$0]) }
  }

  @Test(arguments: [
    (HeaderExtensionForm.oneByte, "0"), (.oneByte, "0123456789abcdef"), (.twoByte, "0123456789abcdef0"),
    (.twoByte, String(repeating: "m", count: 32)),
  ])
  func `a header with it is the header that the writer makes of the same elements`(
    form: HeaderExtensionForm, text: String
  ) throws {
    let mid = try #require(MIDBytes(text))
    let append: (inout RTPWriter) -> Void = { writer in
      writer.append(id: 4, mid)
      _ = writer.appendZeros(id: 2, size: 1)
    }
    let block = HeaderExtensionBlock(form: form, append)
    for csrcCount in [0, 1, 15] {
      let written = packet(200, csrcCount: csrcCount, form: form) { writer in
        var writer = writer
        append(&writer)
        return writer.finish()
      }
      let prepared = packet(200, csrcCount: csrcCount, form: form) { $0.finish(with: block) }
      #expect(written != nil)
      #expect(written == prepared)
    }
  }

  @Test func `without elements no block is announced`() throws {
    let header = try #require(packet(200) { $0.finish(with: HeaderExtensionBlock()) })
    #expect(header.count == RTPHeader.fixedSize)
    #expect(header[0] == 0x80)
    let empty = HeaderExtensionBlock(form: .oneByte) { _ in }
    #expect(empty.size == 0)
  }

  @Test func `an element that doesn't fit is left out and the others stay`() throws {
    let long = [UInt8](repeating: 1, count: 60)
    let block = HeaderExtensionBlock(form: .twoByte) { writer in
      writer.append(id: 1, 0x0203)
      _ = long.withUnsafeBytes { writer.append(id: 2, $0.baseAddress!, size: 60) }
    }
    let header = try #require(packet(200) { $0.finish(with: block) })
    #expect(header[12...] == [0x10, 0x00, 0x00, 0x01, 0x01, 0x02, 0x02, 0x03])
  }

  @Test func `nothing is written beyond the buffer`() throws {
    let block = HeaderExtensionBlock(form: .oneByte) { $0.append(id: 3, 0xABCD) }
    var bytes = [UInt8](repeating: 0xFF, count: 100)
    for room in RTPHeader.fixedSize...80 {
      let size = bytes.withUnsafeMutableBytes { buffer -> Int? in
        guard
          let writer = RTPWriter(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), marker: false, payloadType: 0,
            sequence: 0, timestamp: 0, ssrc: 0)
        else { return nil }
        return writer.finish(with: block)
      }
      #expect((size != nil) == (room >= RTPHeader.fixedSize + HeaderExtensionBlock.capacity))
      #expect(bytes[room...].allSatisfy { $0 == 0xFF })
    }
  }
}
