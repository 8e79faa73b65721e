import Foundation
import KeyLog
import Model
import Storage
import Testing

@testable import KeyDirectory

@Suite("The cost of a proof", .timeLimit(.minutes(5)))
struct KeyFigureTests {
  /// Leaves; `make accept` has 100,000.
  private static let leaves =
    ProcessInfo.processInfo.environment["ROOST_KEY_LEAVES"].flatMap { Int($0) } ?? 20_000
  private static let devices = 4

  /// Fills the log as if all had come one after the other, in a few large transactions.
  private func fill(_ log: TestLog) async throws {
    var tree = try #require(MerkleTree())
    var hashes: [MerkleNode: MerkleHash] = [:]
    let key = try DeviceKey.random()
    for start in stride(from: 0, to: Self.leaves, by: 10_000) {
      let range = start..<min(start + 10_000, Self.leaves)
      var (people, entries, nodes) = ([KeyOwner](), [(KeyOwner, KeyEntry)](), [[SQLValue]]())
      for leaf in range {
        if leaf % Self.devices == 0 { people.append(KeyOwner(new: "person \(leaf / Self.devices)")) }
        let owner = people[people.count - 1]
        let entry = KeyEntry(
          leaf: leaf, device: "device \(leaf % Self.devices)", key: key, time: TestLog.time, of: owner)
        entries.append((owner, entry))
        for (node, hash) in tree.append(entry.id.hash, read: { hashes[$0]! }) ?? [] {
          hashes[node] = hash
          nodes.append([.integer(StoredTree.number(of: node)), .bytes(hash.bytes)])
        }
      }
      let (size, rows) = (tree.size, (people, entries, nodes))
      try await log.store.write(bytes: 0) { transaction throws(StoreError) in
        try transaction.run(
          "INSERT INTO key_people (person, salt) VALUES ($1, $2)",
          each: rows.0.map { [.bytes(of: $0.person), .bytes($0.salt)] })
        try transaction.run(
          """
          INSERT INTO key_entries (person, device, leaf, algorithm, public_key, time)
          VALUES ($1, $2, $3, 1, $4, $5)
          """,
          each: rows.1.map { owner, entry in
            [
              .bytes(of: owner.person), .bytes(of: entry.device), .integer(entry.leaf), .bytes(key.bytes),
              .integer(entry.time.milliseconds),
            ]
          })
        try transaction.run(
          "INSERT INTO current_keys (person, device, leaf) VALUES ($1, $2, $3)",
          each: rows.1.map { [.bytes(of: $0.person), .bytes(of: $1.device), .integer($1.leaf)] })
        try transaction.run("INSERT INTO key_nodes (node, hash) VALUES ($1, $2)", each: rows.2)
        try transaction.run("UPDATE key_log SET size = $1", [.integer(size)])
      }
    }
  }

  private func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
  /// Where nothing else had the machine.
  private func quarter(_ times: [Duration]) -> Duration { times.sorted()[times.count / 4] }

  private func milliseconds(_ time: Duration) -> String {
    let tenths = time.components.attoseconds / 10_000_000_000_000 + time.components.seconds * 100_000
    return "\(tenths / 100).\(tenths % 100 < 10 ? "0" : "")\(tenths % 100) ms"
  }

  @Test(arguments: Place.allCases)
  func `proofs of a large log come within five milliseconds, and an append writes a few hashes`(place: Place)
    async throws
  {
    let log = try await TestLog(place)
    try await fill(log)
    var client = log.client
    try client.take(try await log.head(), nil)
    #expect(client.size == Self.leaves)
    let old = client.size / 3
    var (answers, consistencies, appends) = ([Duration](), [Duration](), [Duration]())
    for number in 0..<60 {
      let person = "person \((number * 7_919) % (Self.leaves / Self.devices))"
      let begin = ContinuousClock.now
      let answer = try await log.keys(person, from: old)
      answers.append(.now - begin)
      #expect(answer.keys.count == Self.devices)
      for proven in answer.keys {
        try client.check(proven, of: person, salt: try #require(answer.salt), in: answer.head)
      }
      let asked = ContinuousClock.now
      _ = try await log.directory.consistency(from: old + number, to: client.size).get()
      consistencies.append(.now - asked)
    }
    let before = try await log.rows("SELECT count(*) FROM key_nodes")
    for number in 0..<20 {
      let key = try DeviceKey.random()
      let begin = ContinuousClock.now
      let receipt = try await log.put("another", "device \(number % 16)", key)
      appends.append(.now - begin)
      let path = try await log.directory.consistency(from: client.size, to: receipt.head.size).get()
      try client.take(receipt.head, path)
      try client.check(receipt.proven, of: "another", salt: receipt.salt, in: receipt.head)
    }
    let after = try await log.rows("SELECT count(*) FROM key_nodes")
    guard case .integer(let few)? = before.first?.first, case .integer(let more)? = after.first?.first else {
      Issue.record("there are no hashes")
      return
    }
    #expect(more - few <= 60)
    print(
      "figure: keys, \(Self.leaves) leaves, \(place): a person's \(Self.devices) keys and their proofs \(milliseconds(median(answers))), "
        + "consistency \(milliseconds(median(consistencies))), append \(milliseconds(median(appends)))")
    #expect(quarter(answers) < .milliseconds(5) && quarter(consistencies) < .milliseconds(5))
    await log.close()
  }
}
