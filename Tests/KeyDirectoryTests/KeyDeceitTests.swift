import Foundation
import KeyDirectory
import KeyLog
import Model
import Storage
import TestStores
import Testing

/// What a client sees of a server that has its log's key and yet says something else than before.
@Suite("A log of keys that deceives", .timeLimit(.minutes(2)))
struct KeyDeceitTests {
  @Test func `shows two trees, and is seen by those who compare heads`() async throws {
    let places = [temporaryDirectory(), temporaryDirectory()]
    let common = try await TestLog(.directory(places[0]))
    for number in 0..<11 { try await common.put("person \(number)", "phone") }
    var ada = common.client
    try ada.take(try await common.head(), nil)
    var bob = ada
    await common.close()
    try FileManager.default.copyItem(atPath: places[0], toPath: places[1])
    let (one, other) = (try await TestLog(.directory(places[0])), try await TestLog(.directory(places[1])))
    try await one.put("eve", "phone")
    try await other.put("eve", "phone")
    // Each goes on by itself without a contradiction.
    try ada.take(try await one.keys("eve", from: ada.size), of: "eve")
    try bob.take(try await other.keys("eve", from: bob.size), of: "eve")
    // A ring has the caller's head.
    var (callee, caller) = (bob, try await one.head())
    #expect(throws: ClientMemory.Refusal.forked) { try callee.take(caller, []) }
    for _ in 0..<9 { try await one.put("fay", "phone") }
    caller = try await one.head()
    let path = try await one.directory.consistency(from: callee.size, to: caller.size).get()
    #expect(throws: ClientMemory.Refusal.forked) { try callee.take(caller, path) }
    #expect(throws: ClientMemory.Refusal.forked) { try callee.take(caller, nil) }
    try ada.take(caller, path)
    await one.close()
    await other.close()
  }

  @Test(arguments: Place.allCases)
  func `is rolled back, and is seen by who has the later head`(place: Place) async throws {
    let log = try await TestLog(place)
    for number in 0..<12 { try await log.put("person \(number)", "phone") }
    var client = log.client
    try client.take(try await log.head(), nil)
    // As a backup of before has it.
    for number in 9..<12 {
      try await log.directory.erase("person \(number)")
      for level in 0...3 {
        let index = number >> level
        guard (index + 1) << level > 9 else { continue }
        try await log.run(
          "DELETE FROM key_nodes WHERE node = $1", [.integer(index << (level + 1) | (1 << level - 1))])
      }
    }
    try await log.run("UPDATE key_log SET size = 9")
    let answer = try await log.directory.currentKeys(of: "person 1", from: client.size, at: TestLog.time)
    #expect(answer == .failure(.noSuchHead(asked: 12, size: 9)))
    let rolled = try await log.head()
    #expect(throws: ClientMemory.Refusal.rolledBack) { try client.take(rolled, nil) }
    // And it stays seen, however far the log grows again.
    for number in 0..<3 { try await log.put("another \(number)", "phone") }
    let regrown = try await log.head()
    #expect(throws: ClientMemory.Refusal.forked) { try client.take(regrown, []) }
    try await log.put("another", "phone")
    let grown = try await log.keys("person 1", from: client.size)
    #expect(throws: ClientMemory.Refusal.forked) { try client.take(grown, of: "person 1") }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `has a leaf written over, and is seen with the first proof`(place: Place) async throws {
    let log = try await TestLog(place)
    for number in 0..<13 { try await log.put("person \(number)", "phone") }
    var client = log.client
    let honest = try await log.keys("person 5")
    try client.take(honest, of: "person 5")
    // The key alone: the directory itself sees it.
    let forged = try DeviceKey.random()
    try await log.run("UPDATE key_entries SET public_key = $1 WHERE leaf = 5", [.bytes(forged.bytes)])
    let error = await #expect(throws: StoreError.self) { try await log.keys("person 5") }
    #expect(error?.reason == "unreadable")
    // The leaf's hash as well: no path leads from it to the root.
    let salt = try #require(honest.salt)
    let leaf = ClientMemory.leaf(
      device: "phone", key: forged, time: TestLog.time, of: "person 5", salt: salt)
    try await log.run(
      "UPDATE key_nodes SET hash = $1 WHERE node = 10", [.bytes(MerkleHash(leaf: leaf).bytes)])
    let answer = try await log.keys("person 5", from: client.size)
    #expect(answer.keys.map(\.entry.key) == [forged])
    #expect(throws: ClientMemory.Refusal.notIncluded) { try client.take(answer, of: "person 5") }
    // Everything above it as well: it is another tree.
    try await log.rewriteNodes()
    let whole = try await log.keys("person 5", from: client.size)
    #expect(throws: ClientMemory.Refusal.forked) { try client.take(whole, of: "person 5") }
    var stranger = log.client
    try stranger.take(whole, of: "person 5")
    #expect(throws: ClientMemory.Refusal.forked) { try stranger.take(answer, of: "person 5") }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `takes an entry out, and is seen by those who keep heads`(place: Place) async throws {
    let log = try await TestLog(place)
    for number in 0..<6 { try await log.put("person \(number)", "phone") }
    var client = log.client
    try client.take(try await log.head(), nil)
    // The last is gone, and another comes to its place.
    try await log.directory.erase("person 5")
    try await log.run("DELETE FROM key_nodes WHERE node IN (9, 10)")
    try await log.run("UPDATE key_log SET size = 5")
    try await log.put("person 9", "phone")
    let answer = try await log.keys("person 9", from: 6)
    #expect(answer.head.size == 6)
    #expect(throws: ClientMemory.Refusal.forked) { try client.take(answer, of: "person 9") }
    await log.close()
  }
}

extension TestLog {
  /// Makes every node from the leaves that are there.
  fileprivate func rewriteNodes() async throws {
    var hashes: [MerkleNode: MerkleHash] = [:]
    var tree = MerkleTree()!
    let size = try await head().size
    for leaf in 0..<size {
      let found = try await rows("SELECT hash FROM key_nodes WHERE node = $1", [.integer(2 * leaf)])
      guard case .bytes(let bytes)? = found.first?.first, let hash = MerkleHash(bytes) else { return }
      for (node, hash) in tree.append(hash, read: { hashes[$0]! }) ?? [] { hashes[node] = hash }
    }
    for (node, hash) in hashes {
      let number = node.index << (node.level + 1) | (1 << node.level - 1)
      try await run("UPDATE key_nodes SET hash = $1 WHERE node = $2", [.bytes(hash.bytes), .integer(number)])
    }
  }
}
