import Foundation
import KeyLog
import Model
import TestProofs
import TestScripts
import Testing

@testable import KeyDirectory

/// The vectors of docs/keys.md, which were made by a program that knows nothing of this one.
@Suite("The bytes of the log of keys", .timeLimit(.minutes(1)))
struct KeyVectorTests {
  private static let owner = KeyOwner(person: "ada", salt: Array(0..<32))
  private static let basePoint = hex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
      + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
  private static let person = "d38e9a441a6a7ed3fba4b9808b92b3c728339227761385835f5970707c797181"
  private static let device = "33120b7632ad81ca209cec54226c2906741a1be43b32c30db0b4df8e9da951c9"
  private static let root = "12c1abb7761cdfd8692d092df91064cd4caaeaae00c433ea129206476a2398cf"
  private static let logKey =
    "3059301306072a8648ce3d020106082a8648ce3d03010703420004"
    + "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
  private static let signature =
    "449902d0d17044bbd592dd2a375c673b5b695cdfbcd24a5784d9e4bdbcb9edba"
    + "07fd2e8aeaadf9140cc233920df96cd99df4f3c578d1e348f431b525a171fdf6"
  private static let ids = [
    "7eaaab232435bdf36783b1dd1eafd940550ab78c755858bbda7aef498f018575",
    "a4af06ade22fa2ff22c0f8493a69bd29b734e06ab6941600987f2a674b5d9092",
  ]

  private static func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func `a key and its revocation are these leaves`() throws {
    let key = try DeviceKey(.p256, Self.basePoint)
    let times = [1_790_000_000_123, 1_790_000_060_456].map { WallTime(milliseconds: $0) }
    let leaves = [
      Self.hex("0101000001a0c4506c7b" + Self.person + Self.device + "010041") + Self.basePoint,
      Self.hex("0102000001a0c4515828" + Self.person + Self.device + "000000"),
    ]
    #expect(leaves.map(\.count) == [142, 77])
    for (place, key) in [key, nil].enumerated() {
      let bytes = KeyEntry.leafBytes(of: Self.owner, device: "phone", key: key, time: times[place])
      #expect(bytes == leaves[place])
      let entry = KeyEntry(leaf: place, device: "phone", key: key, time: times[place], of: Self.owner)
      #expect(entry.id.text == Self.ids[place] && KeyID(Self.ids[place]) == entry.id)
      // What a client makes of it by itself is the same.
      let leaf = ClientMemory.leaf(
        device: "phone", key: key, time: times[place], of: "ada", salt: Self.owner.salt)
      #expect(leaf == leaves[place])
    }
  }

  @Test func `the log of both has this head, signed by this key`() throws {
    let hashes = try Self.ids.map { try #require(MerkleHash(Self.hex($0))) }
    let root = MerkleHash(left: hashes[0], right: hashes[1])
    #expect(root.bytes == Self.hex(Self.root))
    let message = SignedHead.message(size: 2, root: root, time: WallTime(milliseconds: 1_790_000_061_000))
    #expect(
      message == Self.hex("726f6f73742d6b65792d6c6f672d76310000000000000002000001a0c4515a48" + Self.root))
    let (key, signature) = (Self.hex(Self.logKey), Self.hex(Self.signature))
    #expect(SignatureVerifier.holds(signature, of: message, by: key))
    for place in message.indices {
      var changed = message
      changed[place] ^= 1
      #expect(!SignatureVerifier.holds(signature, of: changed, by: key))
    }
    let head = SignedHead(
      size: 2, root: root, time: WallTime(milliseconds: 1_790_000_061_000), signature: signature)
    var client = ClientMemory(logKey: key)
    try client.take(head, nil)
  }

  @Test func `the page has these very bytes`() throws {
    let page = try String(contentsOf: Script.root.appending(path: "docs/keys.md"), encoding: .utf8)
    let vectors = [
      Self.person, Self.device, Self.root, Self.logKey, Self.signature,
      "0101000001a0c4506c7b" + Self.person + Self.device + "010041"
        + Self.basePoint.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
      "0102000001a0c4515828" + Self.person + Self.device + "000000",
      "726f6f73742d6b65792d6c6f672d76310000000000000002000001a0c4515a48" + Self.root,
    ]
    for vector in vectors + Self.ids { #expect(page.contains("`\(vector)`"), "\(vector)") }
    for algorithm in KeyAlgorithm.allCases {
      #expect(page.contains("| \(algorithm.rawValue) | `\(algorithm.name)` |"), "\(algorithm)")
    }
  }

  @Test func `an id has one spelling`() {
    #expect(KeyID(Self.ids[0])?.text == Self.ids[0] && "\(KeyID(Self.ids[0])!)" == Self.ids[0])
    let id = Self.ids[0]
    let (start, end) = (String(id.dropLast()), String(id.dropFirst()))
    for text in ["", id.uppercased(), start, id + "0", " " + start, "g" + end, "é" + start.dropLast()] {
      #expect(KeyID(text) == nil, "\(text)")
    }
  }

  @Test func `places in the tree have numbers of their own, in order`() {
    var numbers: Set<Int64> = []
    for level in 0...10 {
      for index in 0..<(1_024 >> level) {
        let number = StoredTree.number(of: MerkleNode(level: level, index: index))
        #expect(numbers.insert(number).inserted)
        guard level > 0 else {
          #expect(number == Int64(index) * 2)
          continue
        }
        // Between those of both halves.
        let below = [2 * index, 2 * index + 1].map {
          StoredTree.number(of: MerkleNode(level: level - 1, index: $0))
        }
        #expect(below[0] < number && number < below[1])
      }
    }
    #expect(StoredTree.number(of: MerkleNode(level: 48, index: 0)) == 1 << 48 - 1)
    #expect(StoredTree.number(of: MerkleNode(level: 0, index: MerkleTree.mostLeaves - 1)) == 1 << 49 - 2)
  }
}
