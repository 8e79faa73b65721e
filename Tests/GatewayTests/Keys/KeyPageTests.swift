import CallDesk
import Foundation
import HTTPServer
import TestScripts
import Testing

@testable import Gateway

/// The examples of docs/keys.md: each has the members that the door answers with, and its proofs and signatures hold.
@Suite("The page of the log of keys", .timeLimit(.minutes(1)))
struct KeyPageTests {
  /// The JSON of the page, in its order.
  private static func examples() throws -> [NSDictionary] {
    let page = try String(contentsOf: Script.root.appending(path: "docs/keys.md"), encoding: .utf8)
    return try page.components(separatedBy: "```json\n").dropFirst().map { part in
      let text = part.components(separatedBy: "\n```").first ?? ""
      return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }
  }

  private static func names(_ value: Any?) -> Set<String> {
    Set((value as? NSDictionary)?.allKeys.compactMap { $0 as? String } ?? [])
  }

  @Test func `every example holds by the key of the last`() throws {
    let examples = try Self.examples()
    #expect(examples.count == 9)
    let log = try KeyReader.bytes(try #require(examples.last), "key")
    var reader = KeyReader(log: log)
    for answer in examples[1...5] { try reader.entries(of: answer) }
    #expect(try reader.entries(of: examples[5]).count == 2)
    try reader.take(try #require(examples[1]["head"] as? NSDictionary))
    try reader.take(
      try #require(examples[4]["head"] as? NSDictionary),
      consistency: examples[4]["consistency"] as? [String])
    #expect(reader.size == 2)
    reader = KeyReader(log: log)
    try reader.take(try #require(examples[3]["head"] as? NSDictionary))
    try reader.take(examples[6], consistency: examples[7]["consistency"] as? [String])
    #expect(reader.size == 2)
  }

  @Test func `every example has the members of a real answer`() async throws {
    let calls = try await CallHouse()
    let examples = try Self.examples()
    let key = try KeyReader.text(examples[0], "key")
    #expect(Self.names(examples[0]) == ["device", "algorithm", "key"])
    let put = try await calls.put("ada", key: key)
    #expect(put.status == 201)
    let before = await calls.ask(.get, "/v1/keys/ada?head=0", by: "bob")
    let deleted = await calls.ask(.delete, "/v1/keys/ada/phone", by: "ada")
    let after = await calls.ask(.get, "/v1/keys/ada?head=1", by: "bob")
    let history = await calls.ask(.get, "/v1/keys/ada/history", by: "ada")
    let head = await calls.ask(.get, "/v1/keys/head", by: "bob")
    let consistency = await calls.ask(.get, "/v1/keys/consistency?from=1&to=2", by: "bob")
    let log = await calls.ask(.get, "/v1/keys/log", by: "bob")
    let answers = [put, deleted, before, after, history, head, consistency, log]
    for (example, answer) in zip(examples.dropFirst(), answers) {
      #expect(Self.names(example) == Self.names(answer.json), "\(answer.text)")
      for name in ["entry", "head"] { #expect(Self.names(example[name]) == Self.names(answer[name])) }
      for name in ["keys", "items"] {
        let (said, given) = (
          example[name] as? [NSDictionary] ?? [], answer.json[name] as? [NSDictionary] ?? []
        )
        #expect(said.map { Self.names($0) } == given.map { Self.names($0) })
      }
    }
    // What doesn't depend on chance is the very same.
    #expect(examples[8]["algorithm"] as? String == log["algorithm"] as? String)
    #expect((put["entry"] as? NSDictionary)?["key"] as? String == key)
  }
}
