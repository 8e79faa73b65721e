import Crypto
import Foundation
import KeyLog
import TestProofs
import Testing

/// A client of the log of keys, which has nothing of it but JSON and docs/keys.md: it makes leaves and the bytes of heads by itself.
struct KeyReader {
  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// The log's public key, pinned.
  let log: [UInt8]
  private(set) var size = 0
  private(set) var root = MerkleHash.empty

  init(log: [UInt8]) { self.log = log }

  /// Takes a head, which follows the last one.
  mutating func take(_ head: NSDictionary, consistency: [String]? = nil) throws {
    let (newSize, newRoot) = try checkHead(head)
    guard newSize >= size else { throw Refusal("rolled back") }
    let path = try consistency.map { try $0.map(Self.hash) }
    if size > 0, newSize > size {
      guard let path, ProofVerifier.extends(root, oldSize: size, path: path, size: newSize, root: newRoot)
      else { throw Refusal("not consistent") }
    } else if newSize == size, newRoot != root {
      throw Refusal("forked")
    }
    (size, root) = (newSize, newRoot)
  }

  /// That a head is the log's word.
  @discardableResult
  func checkHead(_ head: NSDictionary) throws -> (size: Int, root: MerkleHash) {
    let size = try Self.number(head, "size")
    let root = try Self.hash(Self.text(head, "root"))
    var message = Array("roost-key-log-v1".utf8)
    message += Self.bigEndian(UInt64(size), 8)
    message += Self.bigEndian(UInt64(try Self.time(head)), 8)
    message += root.bytes
    let signature = try Self.bytes(head, "signature")
    guard SignatureVerifier.holds(signature, of: message, by: log) else { throw Refusal("bad signature") }
    return (size, root)
  }

  /// That an entry is in the tree of a head.
  func check(_ entry: NSDictionary, of person: String, salt: [UInt8], in head: NSDictionary) throws {
    let hashed = MerkleHash(leaf: try Self.leaf(entry, of: person, salt: salt))
    guard try Self.hash(Self.text(entry, "id")) == hashed else { throw Refusal("another id") }
    let path = try (entry["path"] as? [String] ?? []).map(Self.hash)
    let (size, root) = try checkHead(head)
    guard
      ProofVerifier.includes(
        hashed, at: try Self.number(entry, "leaf"), path: path, size: size, root: root)
    else { throw Refusal("not included") }
  }

  /// Checks an answer that has a person's entries under any of the names that there are.
  /// - Returns: the entries.
  @discardableResult
  func entries(of answer: NSDictionary) throws -> [NSDictionary] {
    let head = answer["head"] as? NSDictionary ?? [:]
    try checkHead(head)
    var entries = answer["keys"] as? [NSDictionary] ?? answer["items"] as? [NSDictionary] ?? []
    if let entry = answer["entry"] as? NSDictionary { entries.append(entry) }
    for entry in entries {
      try check(
        entry, of: Self.text(answer, "person"), salt: Self.bytes(answer, "salt"), in: head)
    }
    return entries
  }

  private static func leaf(_ entry: NSDictionary, of person: String, salt: [UInt8]) throws -> [UInt8] {
    let key = entry["key"] == nil ? [] : try bytes(entry, "key")
    var leaf: [UInt8] = [1, key.isEmpty ? 2 : 1]
    leaf += bigEndian(UInt64(try time(entry)), 8)
    for name in [person, try text(entry, "device")] { leaf += SHA256.digest(salt + Array(name.utf8)) }
    switch entry["algorithm"] as? String {
    case "p256": leaf.append(1)
    case "rsa-oaep-256": leaf.append(2)
    default: leaf.append(0)
    }
    return leaf + bigEndian(UInt64(key.count), 2) + key
  }

  // MARK: - JSON

  static func text(_ value: NSDictionary, _ name: String) throws -> String {
    guard let text = value[name] as? String else { throw Refusal("no \(name)") }
    return text
  }

  static func bytes(_ value: NSDictionary, _ name: String) throws -> [UInt8] {
    guard let data = Data(base64Encoded: try text(value, name)) else { throw Refusal("\(name): no base64") }
    return Array(data)
  }

  static func number(_ value: NSDictionary, _ name: String) throws -> Int {
    guard let number = value[name] as? Int else { throw Refusal("no \(name)") }
    return number
  }

  static func hash(_ text: String) throws -> MerkleHash {
    let digits = text.compactMap(\.hexDigitValue)
    let bytes = stride(from: 0, to: digits.count & ~1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    guard text.utf8.count == 64, let hash = MerkleHash(bytes) else { throw Refusal("no hash") }
    return hash
  }

  /// Milliseconds since 1970.
  private static func time(_ value: NSDictionary) throws -> Int64 {
    let text = try text(value, "time")
    let parts = text.dropLast().split(separator: ".")
    guard text.hasSuffix("Z"), parts.count == 2, let rest = Int64(parts[1]), parts[1].count == 3,
      let date = ISO8601DateFormatter().date(from: String(parts[0]) + "Z")
    else { throw Refusal("no time") }
    return Int64(date.timeIntervalSince1970) * 1_000 + rest
  }

  private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
  }
}
