import Model
import Testing
import Wire

@Suite("RTCP messages, written and read", .timeLimit(.minutes(2)))
struct RTCPMessageTests {
  let sources = FeedbackSources(sender: 0x0102_0304, media: 0x0506_0708)
  let sourceBytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

  /// What one call appends; nil where the writer refuses.
  func write(capacity: Int = 1_200, _ body: (inout RTCPWriter) -> Int?) -> [UInt8]? {
    written(capacity: capacity) { buffer in
      var writer = RTCPWriter(into: buffer)
      guard let size = body(&writer) else {
        #expect(writer.size == 0)
        return nil
      }
      #expect(writer.size == size)
      return size
    }
  }

  /// Checks that the smallest buffer that takes the message is as large as the message.
  func writeTightly(_ body: (inout RTCPWriter) -> Int?) throws -> [UInt8] {
    let roomy = write(body)
    let bytes = try #require(roomy)
    #expect(bytes.count % 4 == 0)
    for capacity in 0..<bytes.count {
      let refused = write(capacity: capacity, body)
      #expect(refused == nil)
    }
    let tight = write(capacity: bytes.count, body)
    #expect(tight == bytes)
    return bytes
  }

  @Test func `a sender report with blocks is as RFC 3550 draws it`() throws {
    let report = SenderReport(
      ssrc: 0x0102_0304, ntp: NTPTime(rawValue: 0x1112_1314_2122_2324), rtpTimestamp: 0x3132_3334,
      packetCount: 5,
      octetCount: 0xFFFF_FFFF)
    let block = ReportBlock(
      ssrc: 0x0506_0708, fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_FFFE, jitter: 9,
      lastSenderReport: 0x1314_2122, delaySinceLastSenderReport: 0x0001_8000)
    let bytes = try #require(
      written(capacity: 76) { buffer in
        var writer = RTCPWriter(into: buffer)
        let sizes = [writer.append(report), writer.append(block), writer.append(ReportBlock(ssrc: 8))]
        #expect(sizes == [28, 24, 24])
        return writer.append(block) == nil ? writer.size : nil
      })
    #expect(
      Array(bytes[..<52]) == [
        0x82, 200, 0, 18, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34,
        0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF,
        5, 6, 7, 8, 64, 0xFF, 0xFF, 0xFE, 0, 1, 0xFF, 0xFE, 0, 0, 0, 9, 0x13, 0x14, 0x21, 0x22, 0, 1, 0x80, 0,
      ])
    try first(bytes) { packet throws(RTCPError) in
      #expect(try SenderReport(packet) == report)
      let blocks = try ReportBlocks(packet)
      #expect(blocks.count == 2)
      #expect(blocks[0] == block)
      #expect(blocks[1] == ReportBlock(ssrc: 8))
      #expect(blocks[2] == nil && blocks[-1] == nil)
    }
  }

  @Test(
    arguments: [
      (Int32.max, 0x7F_FFFF), (0x7F_FFFF, 0x7F_FFFF), (-0x80_0000, -0x80_0000), (Int32.min, -0x80_0000),
      (-1, -1),
    ] as [(Int32, Int32)])
  func `cumulative loss is clamped to 24 bits and keeps its sign`(lost: Int32, wanted: Int32) throws {
    let bytes = try #require(
      written { buffer in
        var writer = RTCPWriter(into: buffer)
        writer.append(ReceiverReport(ssrc: 1))
        writer.append(ReportBlock(ssrc: 2, fractionLost: 255, cumulativeLost: lost))
        return writer.size
      })
    let block = try first(bytes) { packet throws(RTCPError) in try ReportBlocks(packet)[0] }
    #expect(block?.cumulativeLost == wanted)
    #expect(block?.fractionLost == 255)
  }

  @Test func `a compound is written packet by packet and stops where the room ends`() throws {
    let lost: [UInt16] = [7]
    let bytes = try #require(
      written(capacity: 8 + 24 + 16 + 16) { buffer in
        var writer = RTCPWriter(into: buffer)
        writer.append(ReceiverReport(ssrc: 1))
        writer.append(ReportBlock(ssrc: 2))
        writer.append(cname: "roost", ssrc: 1)
        writer.append(nack: lost.span, sources)
        let beyond = writer.append(pictureLoss: sources)
        #expect(beyond == nil)
        return writer.size
      })
    let (found, error) = packets(bytes)
    #expect(error == nil)
    #expect(found.map(\.type) == [201, 202, 205])
    #expect(found.map(\.body.count) == [28, 12, 12])
  }

  @Test func `blocks go to a report only, and 31 at most`() {
    let bytes = written { buffer in
      var writer = RTCPWriter(into: buffer)
      let orphan = writer.append(ReportBlock(ssrc: 1))
      writer.append(ReceiverReport(ssrc: 1))
      for index in 0..<31 { writer.append(ReportBlock(ssrc: UInt32(index))) }
      let full = writer.size
      let beyond = writer.append(ReportBlock(ssrc: 1))
      writer.append(cname: "a", ssrc: 1)
      let late = writer.append(ReportBlock(ssrc: 1))
      #expect(orphan == nil && beyond == nil && late == nil)
      return full
    }
    #expect(bytes?.count == 8 + 31 * 24)
    #expect(bytes?.first == 0x9F)
  }

  @Test func `a report that counts more blocks than it has is refused`() {
    let bytes: [UInt8] = [0x82, 201, 0, 7] + Array(repeating: 0, count: 28)
    #expect(throws: RTCPError.bodyTooShort(type: 201, needs: 52, size: 28)) {
      try first(bytes) { packet throws(RTCPError) in try ReportBlocks(packet).count }
    }
    #expect(throws: RTCPError.bodyTooShort(type: 200, needs: 24, size: 20)) {
      try first([0x80, 200, 0, 5] + Array(repeating: 0, count: 20)) { packet throws(RTCPError) in
        try SenderReport(packet)
      }
    }
  }

  @Test(arguments: 1...9) func `a CNAME is ended by one to four zero bytes`(length: Int) throws {
    let name = String(repeating: "n", count: length)
    let bytes = try writeTightly { $0.append(cname: name, ssrc: 7) }
    #expect(bytes.count == 8 + (2 + length) / 4 * 4 + 4)
    #expect(bytes.last == 0)
    try first(bytes) { packet throws(RTCPError) in
      var reader = try CNAMEReader(packet)
      let found = try reader.next()
      #expect(found?.ssrc == 7)
      #expect(found?.text == name)
      let more = try reader.next()
      #expect(more == nil)
    }
  }

  @Test(arguments: 0...9) func `what follows a CNAME is found behind its zero bytes`(length: Int) throws {
    let name = String(repeating: "n", count: length)
    let chunk: [UInt8] = [0, 0, 0, 7, 1, UInt8(length)] + Array(name.utf8)
    let padded = chunk + Array(repeating: 0, count: 4 - chunk.count % 4)
    let second: [UInt8] = [0, 0, 0, 8, 1, 1, 65, 0]
    let words = UInt8((padded.count + second.count) / 4)
    try first([0x82, 202, 0, words] + padded + second) { packet throws(RTCPError) in
      var reader = try CNAMEReader(packet)
      var found: [String] = []
      while let next = try reader.next() { found.append("\(next.ssrc) \(next.text ?? "?")") }
      #expect(found == ["7 \(name)", "8 A"])
    }
  }

  @Test func `CNAMEs are found between other items and chunks without one`() throws {
    let bytes: [UInt8] = [
      0x83, 202, 0, 9,
      0, 0, 0, 1, 2, 1, 65, 0,  // NAME alone
      0, 0, 0, 2, 6, 2, 65, 66, 1, 2, 67, 68, 1, 1, 69, 0,  // TOOL, CNAME, a second CNAME
      0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0,  // an empty CNAME, more zero bytes than needed
    ]
    try first(bytes) { packet throws(RTCPError) in
      var reader = try CNAMEReader(packet)
      let name = try reader.next()
      #expect(name?.ssrc == 2 && name?.text == "CD")
      let empty = try reader.next()
      #expect(empty?.ssrc == 3 && empty?.text == "")
      let end = try reader.next()
      #expect(end == nil)
    }
  }

  @Test(
    arguments: [
      ([0x81, 202, 0, 0], 0), ([0x81, 202, 0, 1, 0, 0, 0, 1], 4),
      ([0x81, 202, 0, 2, 0, 0, 0, 1, 1, 3, 65, 66], 4),
      ([0x81, 202, 0, 2, 0, 0, 0, 1, 1, 2, 65, 66], 8), ([0x81, 202, 0, 2, 0, 0, 0, 1, 1, 1, 65, 1], 7),
      ([0x82, 202, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0], 8),
    ] as [([UInt8], Int)])
  func `an item or chunk that runs out of the packet is refused`(bytes: [UInt8], offset: Int) {
    #expect(throws: RTCPError.itemOverruns(offset: offset)) {
      try first(bytes) { packet throws(RTCPError) in
        var reader = try CNAMEReader(packet)
        while try reader.next() != nil {}
      }
    }
  }

  @Test func `a name that is no text has none, an unusable one is not written`() throws {
    let bytes: [UInt8] = [0x81, 202, 0, 3, 0, 0, 0, 1, 1, 2, 0xC3, 0x28, 0, 0, 0, 0]
    try first(bytes) { packet throws(RTCPError) in
      var reader = try CNAMEReader(packet)
      let name = try reader.next()
      #expect(name?.bytes.count == 2)
      #expect(name?.text == nil)
    }
    #expect(write { $0.append(cname: "", ssrc: 1) } == nil)
    #expect(write { $0.append(cname: String(repeating: "ä", count: 128), ssrc: 1) } == nil)
  }

  @Test func `goodbye names its sources`() throws {
    let sources: [UInt32] = [1, 0xFFFF_FFFF]
    let bytes = try writeTightly { $0.append(goodbye: sources.span) }
    #expect(bytes == [0x82, 203, 0, 2, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
    try first(bytes) { packet throws(RTCPError) in
      let goodbye = try Goodbye(packet)
      #expect(goodbye.count == 2)
      #expect(goodbye[1] == 0xFFFF_FFFF)
      #expect(goodbye[2] == nil)
    }
    #expect(throws: RTCPError.bodyTooShort(type: 203, needs: 8, size: 4)) {
      try first([0x82, 203, 0, 1, 0, 0, 0, 1]) { packet throws(RTCPError) in try Goodbye(packet).count }
    }
    let many = [UInt32](repeating: 1, count: 32)
    let refused = write { $0.append(goodbye: many.span) }
    #expect(refused == nil)
  }

  @Test func `lost packets are paired across the wrap`() throws {
    let lost: [UInt16] = [65_530, 65_531, 10, 27, 43, 44]
    let bytes = try writeTightly { $0.append(nack: lost.span, sources) }
    #expect(
      bytes == [0x81, 205, 0, 5] + sourceBytes + [
        0xFF, 0xFA, 0x80, 0x01, 0, 27, 0x80, 0, 0, 44, 0, 0,
      ])
    #expect(try read(nack: bytes) == [65_530, 65_531, 10, 27, 43, 44])
  }

  func write(nack sequences: [UInt16]) -> [UInt8]? {
    write { $0.append(nack: sequences.span, sources) }
  }

  func read(nack bytes: [UInt8]) throws -> [UInt16] {
    try first(bytes) { packet throws(RTCPError) in
      var reader = try NACKReader(packet)
      #expect(reader.sources == sources)
      var found: [UInt16] = []
      while let sequence = reader.next() { found.append(sequence) }
      return found
    }
  }

  @Test func `a NACK list comes back whole, whatever its order`() throws {
    var random = SplitMix(state: 3)
    for _ in 0..<300 {
      let base = UInt16.random(in: 0...65_535, using: &random)
      let offsets = Set(
        (0..<Int.random(in: 1...60, using: &random)).map { _ in UInt16.random(in: 0...400, using: &random) })
      let sorted = offsets.sorted().map { base &+ $0 }
      #expect(try read(nack: try #require(write(nack: sorted))) == sorted)
      let shuffled = sorted.shuffled(using: &random)
      let back = try read(nack: try #require(write(nack: shuffled)))
      #expect(Set(back) == Set(sorted))
    }
    #expect(write(nack: []) == nil)
  }

  @Test func `a NACK without a pair is refused`() {
    #expect(throws: RTCPError.bodyTooShort(type: 205, needs: 12, size: 8)) {
      try first([0x81, 205, 0, 2] + sourceBytes) { packet throws(RTCPError) in _ = try NACKReader(packet) }
    }
  }

  @Test func `key frames are asked for in both ways`() throws {
    let pictureLoss = try writeTightly { $0.append(pictureLoss: sources) }
    #expect(pictureLoss == [0x81, 206, 0, 2] + sourceBytes)
    #expect(
      try first(pictureLoss) { packet throws(RTCPError) in try PictureLossIndication(packet).sources }
        == sources)

    let entry = FullIntraRequest.Entry(ssrc: 0x0506_0708, sequence: 200)
    let bytes = try writeTightly { $0.append(fullIntraRequest: entry, sender: 0x0102_0304) }
    #expect(bytes == [0x84, 206, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 200, 0, 0, 0])
    try first(bytes) { packet throws(RTCPError) in
      let request = try FullIntraRequest(packet)
      #expect(request.count == 1)
      #expect(request[0] == entry)
      #expect(request[1] == nil)
    }
    #expect(throws: RTCPError.bodyTooShort(type: 206, needs: 16, size: 12)) {
      try first([0x84, 206, 0, 3] + sourceBytes + [0, 0, 0, 0]) { packet throws(RTCPError) in
        try FullIntraRequest(packet).count
      }
    }
  }

  @Test(
    arguments: [
      (0, 0), (0x3_FFFF, 0x3_FFFF), (0x4_0000, 0x4_0000), (1_234_567, 1_234_560),
      (.max, 0xFFFF_C000_0000_0000),
    ] as [(UInt64, UInt64)])
  func `an estimate keeps 18 significant bits`(bitrate: UInt64, wanted: UInt64) throws {
    let streams: [UInt32] = [7, 8]
    let bytes = try writeTightly { $0.append(estimate: bitrate, for: streams.span, sender: 9) }
    try first(bytes) { packet throws(RTCPError) in
      let estimate = try ReceiverEstimate(packet)
      #expect(estimate.bitrate == wanted)
      #expect(estimate.sources == FeedbackSources(sender: 9, media: 0))
      #expect(estimate.count == 2 && estimate[1] == 8 && estimate[2] == nil)
    }
  }

  @Test func `an estimate beyond 64 bits, with missing streams or of another name is refused`() {
    let head: [UInt8] = [0x8F, 206, 0, 5] + sourceBytes
    for (tail, error) in [
      (
        [82, 69, 77, 66, 1, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1], .bitrateOverflows(exponent: 63, mantissa: 0x3_FFFF)
      ),
      ([82, 69, 77, 66, 2, 0, 0, 1, 0, 0, 0, 1], .bodyTooShort(type: 206, needs: 24, size: 20)),
      ([82, 69, 77, 67, 1, 0, 0, 1, 0, 0, 0, 1], .unknownApplication(name: 0x5245_4D43)),
    ] as [([UInt8], RTCPError)] {
      #expect(throws: error) {
        try first(head + tail) { packet throws(RTCPError) in try ReceiverEstimate(packet).count }
      }
    }
  }
}
