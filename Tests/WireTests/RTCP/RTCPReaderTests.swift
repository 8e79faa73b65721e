import Testing
import Wire

/// The packets of a compound, as far as they are good, and the error that ended the walk.
func packets(_ bytes: [UInt8]) -> (found: [(type: UInt8, format: UInt8, body: [UInt8])], error: RTCPError?) {
  withBytes(bytes) { compound in
    var reader = RTCPReader(compound)
    var found: [(UInt8, UInt8, [UInt8])] = []
    do throws(RTCPError) {
      while let packet = try reader.next() { found.append((packet.type, packet.format, Array(packet.body))) }
      return (found, nil)
    } catch {
      return (found, error)
    }
  }
}

/// Parses the first packet of a compound.
func first<R>(_ bytes: [UInt8], _ body: (RTCPPacket) throws(RTCPError) -> R) throws -> R {
  try withBytes(bytes) { compound in
    var reader = RTCPReader(compound)
    let packet = try reader.next()
    return try body(try #require(packet))
  }
}

@Suite("RTCP compounds, RFC 3550 §6.1", .timeLimit(.minutes(2)))
struct RTCPReaderTests {
  let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 1]
  let pictureLoss: [UInt8] = [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]

  @Test func `each packet comes with its body, a reduced-size compound too`() {
    let (found, error) = packets(report + pictureLoss)
    #expect(error == nil)
    #expect(found.map(\.type) == [201, 206])
    #expect(found.map(\.format) == [0, 1])
    #expect(found.map(\.body) == [[0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 2]])
    #expect(packets(pictureLoss).found.count == 1)
    #expect(packets([]).found.isEmpty && packets([]).error == nil)
  }

  @Test func `a compound cut anywhere keeps the packets before the cut`() {
    let whole = report + pictureLoss
    for size in 1..<whole.count where size != report.count {
      let (found, error) = packets(Array(whole[..<size]))
      #expect(found.count == (size < report.count ? 0 : 1))
      let start = size < report.count ? 0 : report.count
      let available = size - start
      #expect(
        error
          == (available < 4
            ? .truncated(offset: start, available: available)
            : .lengthOverruns(offset: start, size: start == 0 ? 8 : 12, available: available)))
    }
  }

  @Test(arguments: [0, 1, 3] as [UInt8]) func `another version ends the walk`(version: UInt8) {
    let (found, error) = packets(report + [version << 6] + pictureLoss[1...])
    #expect(found.count == 1)
    #expect(error == .wrongVersion(offset: 8, version: version))
  }

  @Test func `padding is taken off the last packet and refused before`() {
    let padded: [UInt8] = [0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4]
    #expect(packets(report + padded).found.last?.body.count == 8)
    #expect(packets(padded + report).error == .paddingNotLast(offset: 0))
  }

  @Test(arguments: [0, 13, 255] as [UInt8]) func `padding that counts nothing or too much is refused`(
    count: UInt8
  ) {
    let padded: [UInt8] = [0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, count]
    #expect(packets(padded).error == .wrongPadding(offset: 0, padding: Int(count), available: 12))
    #expect(packets([0xA0, 203, 0, 0]).error == .wrongPadding(offset: 0, padding: 0, available: 0))
  }

  @Test func `after an error there is nothing more`() throws {
    try withBytes([0x00, 201, 0, 0] + report) { compound in
      var reader = RTCPReader(compound)
      #expect(throws: RTCPError.self) { _ = try reader.next() }
      let next = try reader.next()
      #expect(next == nil)
    }
  }

  @Test func `kinds follow from type and format`() throws {
    for (head, kind) in [
      ([0x80, 200], .senderReport), ([0x9F, 201], .receiverReport), ([0x81, 202], .sourceDescription),
      ([0x81, 203], .goodbye), ([0x80, 204], .other), ([0x81, 205], .nack),
      ([0x8F, 205], .transportFeedback), ([0x8B, 205], .congestionFeedback),
      ([0x83, 205], .other), ([0x81, 206], .pictureLoss), ([0x84, 206], .fullIntraRequest),
      ([0x8F, 206], .applicationFeedback), ([0x82, 206], .other), ([0x80, 207], .extendedReport),
    ] as [([UInt8], RTCPKind)] {
      #expect(try first(head + [0, 0]) { $0.kind } == kind)
    }
  }

  @Test func `RTCP is distinguished from RTP by its second byte`() {
    for byte in UInt8.min...UInt8.max {
      #expect(withBytes([0x80, byte]) { RTCPPacket.matches($0) } == (192...223).contains(byte))
    }
    #expect(!withBytes([0x80]) { RTCPPacket.matches($0) })
  }

  @Test func `no parser takes another's packet`() throws {
    let bytes: [UInt8] = [0x80, 204, 0, 5] + Array(repeating: 0, count: 20)
    try first(bytes) { packet in
      let wrong = RTCPError.wrongKind(type: 204, format: 0)
      #expect(throws: wrong) { try SenderReport(packet) }
      #expect(throws: wrong) { try ReceiverReport(packet) }
      #expect(throws: wrong) { _ = try ReportBlocks(packet) }
      #expect(throws: wrong) { _ = try CNAMEReader(packet) }
      #expect(throws: wrong) { _ = try Goodbye(packet) }
      #expect(throws: wrong) { _ = try NACKReader(packet) }
      #expect(throws: wrong) { try PictureLossIndication(packet) }
      #expect(throws: wrong) { _ = try FullIntraRequest(packet) }
      #expect(throws: wrong) { _ = try ReceiverEstimate(packet) }
      #expect(throws: wrong) { _ = try TransportFeedback(packet) }
    }
  }
}
