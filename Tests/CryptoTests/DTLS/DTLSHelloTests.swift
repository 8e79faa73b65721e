import Crypto
import Testing

@Suite("Whose ClientHello it is", .timeLimit(.minutes(5)))
struct DTLSHelloTests {
  /// Fragments of one message in one record: offset and size each.
  private func record(
    _ pieces: [(offset: Int, size: Int)], length: Int = 200, first: UInt8 = 0, type: UInt8 = 1,
    isEncrypted: Bool = false
  ) -> [UInt8] {
    var payload: [UInt8] = []
    for piece in pieces {
      payload += [type] + three(length) + [0, 0] + three(piece.offset) + three(piece.size)
      payload += (0..<max(0, piece.size)).map { UInt8(truncatingIfNeeded: piece.offset + $0) &+ first }
    }
    let epoch: UInt8 = isEncrypted ? 1 : 0
    return [
      22, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 1, UInt8(payload.count >> 8), UInt8(payload.count & 255),
    ]
      + payload
  }
  private func three(_ value: Int) -> [UInt8] {
    [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
  private func hello(_ bytes: [UInt8]) -> DTLSHello? { bytes.withUnsafeBytes { DTLSHello($0) } }
  private func isSound(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { DTLSRecord.hasSoundFragments($0) }
  }

  @Test func `fragments of one message belong together, in any order`() throws {
    var known = try #require(hello(record([(100, 100)])))
    #expect(known.random == nil)
    for piece in [(0, 100), (50, 60), (0, 200), (0, 33), (199, 1)] {
      let other = try #require(hello(record([(piece.0, piece.1)])))
      let belongs = known.admits(other)
      #expect(belongs, "\(piece)")
    }
    #expect(known.random != nil)
  }

  @Test func `another length or other random bytes are another's`() throws {
    var known = try #require(hello(record([(0, 100)])))
    for other in [
      record([(0, 100)], length: 201), record([(100, 50)], length: 199), record([(0, 100)], first: 1),
      record([(0, 34)], first: 128),
    ] {
      let fragment = try #require(hello(other))
      let belongs = known.admits(fragment)
      #expect(!belongs)
    }
    // What comes after them is still known.
    let again = try #require(hello(record([(0, 200)])))
    let belongs = known.admits(again)
    #expect(belongs)
  }

  @Test func `what is no ClientHello is none`() {
    #expect(hello(record([(0, 100)], type: 2)) == nil)
    #expect(hello(record([(0, 100)], isEncrypted: true)) == nil)
    #expect(hello([]) == nil)
    let whole = record([(0, 200)])
    for size in whole.indices { #expect(hello(Array(whole[..<size])) == nil) }
  }

  @Test func `fragments lie within their record and their message`() {
    #expect(isSound(record([(0, 200)])))
    #expect(isSound(record([(0, 100), (60, 80), (120, 80)])), "they may overlap")
    #expect(isSound(record([(0, 0)], length: 0, type: 14)), "a message may be empty")
    #expect(!isSound(record([(150, 51)])))
    #expect(!isSound(record([(0, 100), (50, 0)])))
    #expect(!isSound(record([(0, 100)], length: 40_000)))
    var long = record([(0, 100)])
    long[24] = 200
    #expect(!isSound(long), "beyond the record")
    #expect(!isSound([22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 1, 2, 3]), "a head that is cut")
    #expect(!isSound(record([(0, 200)]) + record([(150, 51)])), "in whichever record")
    // What is encrypted can't be looked into.
    #expect(isSound(record([(150, 51)], isEncrypted: true)))
  }
}
