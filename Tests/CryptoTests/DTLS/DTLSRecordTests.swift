import Crypto
import Model
import Testing

/// A record with these header fields.
private func record(
  _ type: UInt8, version: UInt16 = 0xFEFD, epoch: UInt16 = 0, length: UInt16? = nil, _ payload: [UInt8] = []
) -> [UInt8] {
  [type] + bigEndian(version) + bigEndian(epoch) + [0, 0, 0, 0, 0, 5]
    + bigEndian(length ?? UInt16(payload.count)) + payload
}

private func looksLikeRecords(_ datagram: [UInt8]) -> Bool {
  datagram.withUnsafeBytes { DTLSRecord.looksLikeRecords($0) }
}

private func isClientHello(_ datagram: [UInt8]) -> Bool {
  datagram.withUnsafeBytes { DTLSRecord.isClientHello($0) }
}

@Suite("DTLS records, RFC 6347 section 4.1", .timeLimit(.minutes(5)))
struct DTLSRecordTests {
  @Test func `a header is read as it stands`() throws {
    let bytes = record(22, epoch: 3, [1, 2, 3])
    let read = try #require(bytes.withUnsafeBytes { DTLSRecord($0, at: 0) })
    #expect(read.type == .handshake && read.epoch == 3 && read.sequence == 5 && read.payload == 13..<16)
  }

  @Test func `a datagram cut anywhere is none`() {
    let bytes = record(20, [1]) + record(22, epoch: 1, [UInt8](repeating: 9, count: 40))
    #expect(looksLikeRecords(bytes))
    for size in bytes.indices where size != 14 { #expect(!looksLikeRecords(Array(bytes[..<size]))) }
  }

  @Test func `other types, versions and lengths are none`() {
    for type in 0...255 as ClosedRange<UInt8> {
      #expect(looksLikeRecords(record(type, [0])) == (20...25).contains(type))
    }
    for version: UInt16 in [0x0303, 0xFEFC, 0xFEFE, 0xFFFF, 0x0100] {
      #expect(!looksLikeRecords(record(22, version: version, [0])))
    }
    #expect(looksLikeRecords(record(22, version: 0xFEFF, [0])))
    #expect(!looksLikeRecords(record(22, length: 2, [0])))
    #expect(!looksLikeRecords(record(22, length: .max, [0])))
    #expect(!looksLikeRecords(record(22, [0]) + [0]))
    #expect(!looksLikeRecords(record(22, [UInt8](repeating: 0, count: DTLSRecord.payloadLimit + 1))))
    #expect(looksLikeRecords(record(22, [UInt8](repeating: 0, count: DTLSRecord.payloadLimit))))
  }

  @Test func `a ClientHello is a first message in clear`() {
    let hello = [1] + [UInt8](repeating: 0, count: 11)
    #expect(isClientHello(record(22, hello)))
    #expect(!isClientHello(record(22, epoch: 1, hello)))
    #expect(!isClientHello(record(23, hello)))
    #expect(!isClientHello(record(22, [2] + hello.dropFirst())))
    #expect(!isClientHello(record(22, Array(hello.dropLast()))))
    #expect(!isClientHello([]))
  }

  @Test func `an offset outside the datagram finds no record`() {
    let bytes = record(22, [1])
    bytes.withUnsafeBytes { datagram in
      for offset in [-1, 1, 14, 15, 1_000, Int.max, Int.min] {
        #expect(DTLSRecord(datagram, at: offset) == nil)
      }
    }
  }
}

@Suite("DTLS after the handshake", .timeLimit(.minutes(5)))
struct DTLSAssociationTests {
  private static func associations() throws -> (client: DTLSAssociation, server: DTLSAssociation) {
    let pair = try Pair()
    Pair.run([pair])
    return (try #require(pair.client.association), try #require(pair.server.association))
  }

  private let now = Instant(nanoseconds: 1_000_000_000)
  private let finished = record(22, epoch: 1, [UInt8](repeating: 1, count: 40))

  private func answer(
    _ association: inout DTLSAssociation, _ datagram: [UInt8], after span: Duration = .zero
  ) -> DTLSAssociation.LateAnswer {
    datagram.withUnsafeBytes { association.answerToLate($0, now: now + span) }
  }

  @Test func `a repeated Finished gets the last flight, at most every 50 ms`() throws {
    var server = try Self.associations().server
    #expect(!server.lastFlight.isEmpty)
    #expect(answer(&server, finished) == .repeatLastFlight)
    #expect(answer(&server, finished, after: .milliseconds(49)) == .ignore(.tooSoon))
    #expect(answer(&server, finished, after: .milliseconds(50)) == .repeatLastFlight)
    // Together with what came before it in the same datagram.
    let flight = record(22, [11] + [UInt8](repeating: 0, count: 20)) + record(20, [1]) + finished
    #expect(answer(&server, flight, after: .milliseconds(200)) == .repeatLastFlight)
  }

  @Test func `the last flight is ChangeCipherSpec and Finished`() throws {
    let flight = try Self.associations().server.lastFlight.joined()
    var types: [DTLSRecord.ContentType] = []
    Array(flight).withUnsafeBytes { bytes in
      var offset = 0
      while let record = DTLSRecord(bytes, at: offset) {
        types.append(record.type)
        offset = record.payload.upperBound
      }
    }
    #expect(types == [.changeCipherSpec, .handshake])
  }

  @Test func `a client has nothing to repeat`() throws {
    var client = try Self.associations().client
    #expect(client.lastFlight.isEmpty)
    #expect(answer(&client, finished) == .ignore(.nothingToRepeat))
  }

  @Test func `a late ClientHello starts nothing`() throws {
    var server = try Self.associations().server
    let hello = record(22, version: 0xFEFF, [1] + [UInt8](repeating: 0, count: 60))
    for span in 0..<3 { #expect(answer(&server, hello, after: .seconds(span)) == .ignore(.clientHello)) }
  }

  @Test func `everything else is ignored with its reason`() throws {
    var server = try Self.associations().server
    #expect(answer(&server, []) == .ignore(.notDTLS))
    #expect(answer(&server, [22, 1, 2]) == .ignore(.notDTLS))
    #expect(answer(&server, record(21, epoch: 1, [1, 0])) == .ignore(.alert))
    #expect(answer(&server, record(21, [2, 40])) == .ignore(.alert))
    #expect(answer(&server, record(23, epoch: 1, [1])) == .ignore(.applicationData))
    #expect(answer(&server, record(20, [1])) == .ignore(.other))
    #expect(
      answer(&server, record(22, [11] + [UInt8](repeating: 0, count: 11))) == .ignore(.handshakeInClear))
  }

  @Test func `it is the same after its state went through bytes`() throws {
    var (client, server) = try Self.associations()
    _ = answer(&server, finished)
    for association in [client, server] {
      var writer = StateWriter()
      association.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      #expect(try DTLSAssociation(from: &reader) == association)
      try reader.finish()
      for size in writer.bytes.indices {
        #expect(throws: StateError.self) {
          var reader = StateReader(Array(writer.bytes[..<size]))
          _ = try DTLSAssociation(from: &reader)
        }
      }
    }
    #expect(answer(&server, finished, after: .milliseconds(10)) == .ignore(.tooSoon))
    _ = answer(&client, finished)
  }

  @Test func `keys never show in a description`() throws {
    let server = try Self.associations().server
    #expect("\(server.localKeys)" == "SRTPKeys(AEAD_AES_128_GCM)")
  }
}
