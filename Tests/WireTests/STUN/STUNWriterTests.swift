import Model
import Testing
import Wire

@Suite("Writing STUN", .timeLimit(.minutes(2)))
struct STUNWriterTests {
  private let transaction = STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

  private func write(
    _ messageClass: STUNClass, capacity: Int = 640, _ body: (inout STUNWriter) -> Void
  ) -> (bytes: [UInt8], overflowed: Bool) {
    var memory = [UInt8](repeating: 0xEE, count: capacity)
    let (count, overflowed) = memory.withUnsafeMutableBytes { memory in
      var writer = STUNWriter(memory, messageClass, transaction: transaction)
      body(&writer)
      return (writer.count, writer.overflowed)
    }
    return (Array(memory.prefix(count)), overflowed)
  }

  private func read(_ bytes: [UInt8]) throws -> STUNMessage {
    try #require(bytes.withUnsafeBytes { try? STUNMessage($0) })
  }

  @Test func `everything written is read back`() throws {
    let (bytes, overflowed) = write(.request) {
      $0.appendUsername(Array("there".utf8), Array("here".utf8))
      $0.append(.priority, 0x1234_5678 as UInt32)
      $0.append(.iceControlling, 0x0102_0304_0506_0708 as UInt64)
      $0.append(.useCandidate)
      $0.append(.nomination, 7 as UInt32)
      _ = $0.openIntegrity()
      $0.appendFingerprint()
    }
    #expect(!overflowed)
    let message = try read(bytes)
    #expect(message.username.map { String(decoding: bytes[$0], as: UTF8.self) } == "there:here")
    #expect(message.priority == 0x1234_5678)
    #expect(message.role == .controlling(tieBreaker: 0x0102_0304_0506_0708))
    #expect(message.useCandidate)
    #expect(message.nomination == 7)
    #expect(message.integrityOffset == bytes.count - 32)
    #expect(bytes.withUnsafeBytes { message.hasValidFingerprint(in: $0) })
  }

  @Test(arguments: ["192.0.2.1", "2001:db8:1234:5678:11:2233:4455:6677"])
  func `a mapped address survives, and is written as RFC 5769 has it`(host: String) throws {
    let address = try #require(SocketAddress(host: host, port: 32853))
    let (bytes, _) = write(.success) { $0.appendMapped(address) }
    #expect(try read(bytes).mappedAddress == address)
    let sample = address.isIPv4 ? STUNVectors.ipv4Response : STUNVectors.ipv6Response
    #expect(Array(bytes[20...]) == Array(sample[36..<(36 + bytes.count - 20)]))
  }

  @Test func `an error carries its code, its reason and the unknown attributes`() throws {
    let request = try read(
      [0, 1, 0, 8, 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 0, count: 12) + [0x7F, 1, 0, 0, 0x7F, 2, 0, 0])
    let (bytes, _) = write(.failure) {
      $0.appendError(420, "Unknown Attribute")
      $0.appendUnknown(of: request)
    }
    #expect(try read(bytes).errorCode == 420)
    #expect(Array(bytes.suffix(8)) == [0, 0x0A, 0, 4, 0x7F, 1, 0x7F, 2])
    #expect(String(decoding: bytes[28..<45], as: UTF8.self) == "Unknown Attribute")
  }

  @Test func `an attribute that doesn't fit is left out and reported, at every size of the buffer`() {
    let body: (inout STUNWriter) -> Void = {
      $0.appendUsername([1, 2, 3], [4])
      $0.append(.priority, 1 as UInt32)
      $0.appendMapped(SocketAddress(ipv4: 1, 2, 3, 4, port: 5))
      $0.appendError(487, "Role Conflict")
      _ = $0.openIntegrity()
      $0.appendFingerprint()
    }
    let whole = write(.request, body)
    #expect(!whole.overflowed)
    for capacity in 0..<whole.bytes.count {
      let part = write(.request, capacity: capacity, body)
      #expect(part.overflowed)
      #expect(part.bytes.count <= capacity)
    }
    #expect(write(.request, capacity: whole.bytes.count, body).bytes == whole.bytes)
  }

  @Test func `a user name beyond 513 bytes is not written`() {
    let half = [UInt8](repeating: 65, count: 256)
    #expect(!write(.request) { $0.appendUsername(half, half) }.overflowed)
    #expect(write(.request) { $0.appendUsername(half + [65], half) }.overflowed)
  }

  @Test func `padding is zero, whatever the memory held`() {
    let (bytes, _) = write(.request) { $0.appendUsername([65], [66, 67]) }
    #expect(bytes.count == 28)
    let (padded, _) = write(.request) { $0.appendUsername([65], [66, 67, 68]) }
    #expect(Array(padded.suffix(3)) == [0, 0, 0])
  }
}
