import Crypto
import ICE
import Model
import Testing
import Wire

@Suite("Credentials", .timeLimit(.minutes(2)))
struct CredentialsTests {
  private func worker(_ ufrag: String) -> Int? {
    Array(ufrag.utf8).withUnsafeBytes { ICECredentials.homeWorker(ofUfrag: $0) }
  }

  @Test func `a fragment names its worker`() {
    var random = RandomSource.seeded(state: 1)
    for home in 0...255 {
      let credentials = ICECredentials.generate(homeWorker: home, random: &random)
      #expect(credentials.ufrag.utf8.count == 15)
      #expect(credentials.password.utf8.count == 24)
      #expect(worker(credentials.ufrag) == home)
      #expect(
        (credentials.ufrag + credentials.password).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }
  }

  @Test func `two never have the same credentials`() {
    var random = RandomSource.system
    let made = (0..<200).map { _ in ICECredentials.generate(homeWorker: 7, random: &random) }
    #expect(Set(made.map(\.ufrag)).count == 200)
    #expect(Set(made.map(\.password)).count == 200)
  }

  @Test(arguments: [
    "", "a", "a0", "b01ABCDEFGHIJKL", "a0gABCDEFGHIJKL", "aA1ABCDEFGHIJKL", "a01ABCDEFGHIJK",
    "a01ABCDEFGHIJKLM",
  ])
  func `a fragment of another making names none`(ufrag: String) {
    #expect(worker(ufrag) == nil)
  }

  @Test func `a check's receiver is found in the datagram without verifying anything`() {
    let peer = HandmadePeer()
    let found = peer.check(password: "wrong").withUnsafeBytes { bytes -> Int? in
      guard let range = STUNPeek.localUfrag(in: bytes) else { return nil }
      return ICECredentials.homeWorker(ofUfrag: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    #expect(found == 1)
  }

  @Test func `priorities are those of RFC 8445`() {
    #expect(ICEPriority.candidate(.host, localPreference: 65535) == 2_130_706_431)
    #expect(ICEPriority.candidate(.peerReflexive, localPreference: 65535) == 1_862_270_975)
    #expect(ICEPriority.pair(controlling: 2, controlled: 1) == 1 << 32 + 5)
    #expect(ICEPriority.pair(controlling: 1, controlled: 2) == 1 << 32 + 4)
    #expect(ICEPriority.pair(controlling: .max, controlled: .max) == 0xFFFF_FFFF << 32 + 0x1_FFFF_FFFE)
  }
}

@Suite("MESSAGE-INTEGRITY, RFC 5769", .timeLimit(.minutes(2)))
struct IntegrityVectorTests {
  private let password = "VOkJxbRl1RmTxUk/WvJxBt"

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// §2.1. Its sender is controlled, which a server's agent answers with 487, once it found the seal right.
  private var request: [UInt8] {
    bytes(
      """
      000100582112a442b7e7a701bc34d686fa87dfae 802200105354554e207465737420636c69656e74
      002400046e0001ff 80290008932ff9b151263b36 000600096576746a3a68367659202020
      000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004e57a3bcf
      """)
  }

  private func outcome(ufrag: String, password: String) -> STUNOutcome {
    let now = Instant(nanoseconds: 0)
    var agent = ServerAgent(local: ICECredentials(ufrag: ufrag, password: password), now: now)
    var random = RandomSource.seeded(state: 1)
    var output = ICEOutput()
    return request.withUnsafeBytes {
      agent.receive($0, path: HandmadePeer.path(1), now: now, random: &random, output: &output)
    }
  }

  @Test func `the sample request is sealed as we would have it`() {
    #expect(outcome(ufrag: "evtj", password: password) == .refused(code: 487))
    #expect(outcome(ufrag: "evtj", password: password + "x") == .ignored(.badIntegrity))
    #expect(outcome(ufrag: "h6vY", password: password) == .ignored(.unknownUfrag))
  }

  @Test(arguments: [
    // §2.2 and §2.3.
    """
    0101003c2112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220
    002000080001a147e112a643 000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004c07d4c96
    """,
    """
    010100482112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220
    002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9
    00080014a382954e4be67bf11784c97c8292c275bfe3ed41 80280004c8fb0b4c
    """,
  ])
  func `the sample responses are sealed as we would have it`(sample: String) throws {
    let response = bytes(sample)
    let message = try #require(response.withUnsafeBytes { try? STUNMessage($0) })
    let offset = try #require(message.integrityOffset)
    // FINGERPRINT follows and isn't counted: eight bytes less than the length says.
    var covered = Array(response[..<offset])
    covered[3] -= 8
    let code = HMAC.code(.sha1, key: Array(password.utf8), message: covered)
    #expect(Array(response[(offset + 4)..<(offset + 24)]) == code)
  }
}
