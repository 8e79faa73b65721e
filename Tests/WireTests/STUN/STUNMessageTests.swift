import Model
import Testing
import Wire

@Suite("STUN messages, RFC 8489 and RFC 5769", .timeLimit(.minutes(2)))
struct STUNMessageTests {
  private func parse(_ bytes: [UInt8]) throws(STUNError) -> STUNMessage {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(STUNError) in try STUNMessage(bytes) }
    }
    return try result.get()
  }

  /// A Binding request with the attributes given, without padding of its own.
  private func message(type: [UInt8] = [0, 1], _ attributes: [UInt8]...) -> [UInt8] {
    let body = attributes.flatMap { $0 }
    return type + [UInt8(body.count >> 8), UInt8(body.count & 255), 0x21, 0x12, 0xA4, 0x42]
      + (1...12).map { UInt8($0) } + body
  }

  // MARK: RFC 5769

  @Test func `the sample request is read`() throws {
    let message = try parse(STUNVectors.request)
    #expect(message.messageClass == .request)
    #expect(message.method == STUNMessage.binding)
    #expect(message.transaction == STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE))
    #expect(message.priority == 0x6E00_01FF)
    #expect(message.role == .controlled(tieBreaker: 0x932F_F9B1_5126_3B36))
    let username = try #require(message.username)
    #expect(String(decoding: STUNVectors.request[username], as: UTF8.self) == "evtj:h6vY")
    #expect(message.integrityOffset == 76)
    #expect(!message.useCandidate)
    #expect(message.unknownCount == 0)
  }

  @Test(arguments: [
    (STUNVectors.ipv4Response, "192.0.2.1"),
    (STUNVectors.ipv6Response, "2001:db8:1234:5678:11:2233:4455:6677"),
  ])
  func `the sample responses name the mapped address`(bytes: [UInt8], host: String) throws {
    let message = try parse(bytes)
    #expect(message.messageClass == .success)
    #expect(message.mappedAddress == SocketAddress(host: host, port: 32853))
  }

  @Test(arguments: [STUNVectors.request, STUNVectors.ipv4Response, STUNVectors.ipv6Response])
  func `the fingerprints of the samples hold, and no longer after any change of a bit`(bytes: [UInt8]) throws
  {
    let message = try parse(bytes)
    #expect(bytes.withUnsafeBytes { message.hasValidFingerprint(in: $0) })
    for bit in 0..<(bytes.count * 8) {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      guard let message = try? parse(changed) else { continue }
      #expect(!changed.withUnsafeBytes { message.hasValidFingerprint(in: $0) }, "bit \(bit)")
    }
  }

  @Test func `CRC-32 has its check value`() {
    #expect(Array("123456789".utf8).withUnsafeBytes { CRC32.of($0) } == 0xCBF4_3926)
    #expect([UInt8]().withUnsafeBytes { CRC32.of($0) } == 0)
  }

  // MARK: What is refused

  @Test func `a datagram cut anywhere is refused`() {
    for size in 0..<STUNVectors.request.count {
      #expect(throws: STUNError.self) { try parse(Array(STUNVectors.request.prefix(size))) }
    }
    #expect(throws: STUNError.tooShort(bytes: 19)) { try parse(Array(STUNVectors.request.prefix(19))) }
  }

  @Test func `DTLS, RTP and other cookies are refused`() {
    var bytes = message()
    bytes[0] = 0x80
    #expect(throws: STUNError.notSTUN(firstByte: 0x80)) { try parse(bytes) }
    bytes = message()
    bytes[7] = 0x43
    #expect(throws: STUNError.wrongCookie(0x2112_A443)) { try parse(bytes) }
  }

  @Test func `a length that isn't a multiple of four, or not the datagram's, is refused`() {
    var bytes = message([1, 2, 3])
    #expect(throws: STUNError.wrongLength(field: 3, datagram: 23)) { try parse(bytes) }
    bytes = message() + [0, 0, 0, 0]
    #expect(throws: STUNError.wrongLength(field: 0, datagram: 24)) { try parse(bytes) }
  }

  @Test(arguments: [1, 4, 5, 0xFFFC, 0xFFFD, 0xFFFF])
  func `an attribute that reaches beyond the message is refused`(length: Int) {
    let bytes = message([0x80, 0x22, UInt8(length >> 8), UInt8(length & 255)])
    #expect(throws: STUNError.attributeOverruns(type: 0x8022, offset: 20)) { try parse(bytes) }
  }

  @Test(
    arguments: [
      [0, 0x24, 0, 3, 1, 2, 3, 0], [0, 0x25, 0, 1, 0, 0, 0, 0], [0x80, 0x2A, 0, 4, 1, 2, 3, 4],
      [0x80, 0x29, 0, 0], [0, 6, 0, 0], [0, 8, 0, 4, 1, 2, 3, 4], [0x80, 0x28, 0, 0], [0xC0, 1, 0, 0],
      [0, 9, 0, 3, 0, 0, 4, 0], [0, 0x20, 0, 4, 0, 1, 0, 0],
    ] as [[UInt8]])
  func `a known attribute of the wrong size is refused`(attribute: [UInt8]) {
    let type = UInt16(attribute[0]) << 8 | UInt16(attribute[1])
    let expected = STUNError.wrongAttributeLength(type: type, offset: 20, length: Int(attribute[3]))
    #expect(throws: expected) { try parse(message(attribute)) }
  }

  @Test func `an IPv6 address in four bytes, and a third family, are refused`() {
    #expect(throws: STUNError.wrongAttributeLength(type: 0x20, offset: 20, length: 8)) {
      try parse(message([0, 0x20, 0, 8, 0, 2, 0, 0, 1, 2, 3, 4]))
    }
    #expect(throws: STUNError.unknownFamily(3, offset: 20)) {
      try parse(message([0, 0x20, 0, 8, 0, 3, 0, 0, 1, 2, 3, 4]))
    }
  }

  @Test(arguments: [(2, 0), (7, 0), (4, 100)] as [(UInt8, UInt8)])
  func `an error code outside 300 to 699 is refused`(hundreds: UInt8, number: UInt8) {
    #expect(throws: STUNError.wrongErrorCode(class: hundreds, number: number, offset: 20)) {
      try parse(message([0, 9, 0, 4, 0, 0, hundreds, number]))
    }
  }

  @Test func `nothing may follow FINGERPRINT`() {
    #expect(throws: STUNError.attributeAfterFingerprint(offset: 28)) {
      try parse(message([0x80, 0x28, 0, 4, 0, 0, 0, 0], [0, 0x25, 0, 0]))
    }
  }

  @Test func `a user name of 514 bytes is refused, one of 513 is not`() throws {
    let long = [0, 6, 2, 2] + [UInt8](repeating: 65, count: 514) + [0, 0]
    #expect(throws: STUNError.wrongAttributeLength(type: 6, offset: 20, length: 514)) {
      try parse(message(long))
    }
    let fits = [0, 6, 2, 1] + [UInt8](repeating: 65, count: 513) + [0, 0, 0]
    #expect(try parse(message(fits)).username?.count == 513)
  }

  // MARK: What counts

  @Test func `of an attribute that comes twice the first counts`() throws {
    let read = try parse(
      message(
        [0, 0x24, 0, 4, 0, 0, 0, 1], [0, 0x24, 0, 4, 0, 0, 0, 2], [0xC0, 1, 0, 4, 0, 0, 0, 3],
        [0xC0, 1, 0, 0]))
    #expect(read.priority == 1)
    #expect(read.nomination == 3)
  }

  @Test func `after MESSAGE-INTEGRITY only FINGERPRINT counts`() throws {
    let integrity: [UInt8] = [0, 8, 0, 20] + Array(repeating: 9, count: 20)
    let read = try parse(
      message(
        integrity, [0, 0x25, 0, 0], [0, 0x24, 0, 1, 0, 0, 0, 0], [0, 0x7F, 0, 0], integrity,
        [0x80, 0x28, 0, 4, 0, 0, 0, 0]))
    #expect(!read.useCandidate)
    #expect(read.priority == nil)
    #expect(read.unknownCount == 0)
    #expect(read.integrityOffset == 20)
    #expect(read.fingerprintOffset != nil)
  }

  @Test func `attributes that we would have to understand are listed, others skipped`() throws {
    let required: [UInt8] = (0..<10).flatMap { (low: UInt8) -> [UInt8] in [0x7F, low, 0, 0] }
    let read = try parse(message(required, [0x80, 0x99, 0, 1, 7, 0, 0, 0], [0, 0x1C, 0, 4, 1, 2, 3, 4]))
    #expect(read.unknownCount == 10)
    #expect((0..<8).map { read.unknown[$0] } == (0..<8).map { 0x7F00 + $0 })
  }

  @Test func `class and method are distinguished in every combination of bits`() throws {
    for messageClass in STUNClass.allCases {
      let kind = UInt16(messageClass.rawValue)
      for method: UInt16 in [0, 1, 0xF, 0x10, 0x7F, 0x80, 0xFFF] {
        let type =
          (method & 0xF) | (method & 0x70) << 1 | (method & 0xF80) << 2 | (kind & 1) << 4 | (kind & 2) << 7
        let header = try parse(message(type: [UInt8(type >> 8), UInt8(type & 255)])).header
        #expect(header.messageClass == messageClass)
        #expect(header.method == method)
      }
    }
  }

  @Test func `random bytes after a valid header never trap`() {
    var random = RandomSource.seeded(state: 11)
    var read = 0
    for _ in 0..<20_000 {
      let words = Int.random(in: 0...30, using: &random)
      var body = (0..<words * 4).map { _ in UInt8.random(in: 0...255, using: &random) }
      // Types and lengths that occur make the walk go further than the first attribute.
      for start in stride(from: 0, to: body.count, by: 8) {
        body[start] = [0, 0x80, 0xC0].randomElement(using: &random)!
        body[start + 1] = [1, 6, 8, 9, 0x20, 0x24, 0x25, 0x28, 0x29].randomElement(using: &random)!
        body[start + 2] = 0
        body[start + 3] = [0, 4, 4, 8, 20].randomElement(using: &random)!
      }
      let bytes = message(body)
      if (try? parse(bytes)) != nil { read += 1 }
      _ = bytes.withUnsafeBytes { STUNPeek.localUfrag(in: $0) }
    }
    #expect(read > 100)
  }
}

@Suite("Peeking at a check", .timeLimit(.minutes(2)))
struct STUNPeekTests {
  private func peek(_ bytes: [UInt8]) -> String? {
    bytes.withUnsafeBytes { bytes in
      STUNPeek.localUfrag(in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
  }

  @Test func `the receiver's fragment is what stands before the colon`() {
    #expect(peek(STUNVectors.request) == "evtj")
  }

  @Test func `answers, other methods and names without a fragment have none`() {
    #expect(peek(STUNVectors.ipv4Response) == nil)
    var bytes = STUNVectors.request
    bytes[1] = 2
    #expect(peek(bytes) == nil)
    for name in ["evtjXh6vY", ":vtjXh6vY"] {
      bytes = STUNVectors.request
      bytes.replaceSubrange(64..<73, with: name.utf8)
      #expect(peek(bytes) == nil)
    }
    #expect(peek([]) == nil)
  }
}
