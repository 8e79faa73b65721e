import Calls
import Foundation
import Logging
import Storage
import Synchronization
import TestStores
import Testing

@testable import CallDesk

@Suite("What the log never has of calls", .timeLimit(.minutes(1)))
struct CallLogTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
    var log: Log { Log(level: .debug) { line in self.all.withLock { $0.append(line) } } }
  }

  /// What stands in a ciphertext, a snapshot, an event of a session, a payload, a token and metadata, and nowhere else.
  private static let words = ["aardvark", "badger", "civet", "dormouse", "ermine", "ferret"]

  /// Asks for all that has one of the words in it; what fails is of no interest.
  private func askAll(_ call: CallUUID, _ session: CallUUID, _ test: TestDesk) async throws {
    let (ada, words) = (TestDesk.caller("ada"), Self.words)
    let keys = try await test.wrap(words[0], for: "bob")
    _ = try? await test.desk.changeKey(keys, to: 1, of: call, by: ada)
    _ = try? await test.desk.callKey(of: call, for: PersonID("bob"), device: DeviceID("bob1"))
    let data = { (word: String) in Array("\"\(word)\"".utf8) }
    _ = try? await test.desk.startSession(session, in: call, experience: "story", by: ada)
    _ = try? await test.desk.append(
      TestDesk.uuid(), type: "page", data: data(words[2]), to: session, in: call, by: ada)
    try? await test.desk.keepSnapshot(
      SharedSnapshot(seq: 1, people: [], state: data(words[1])), of: session, in: call, by: ada)
    _ = try? await test.desk.snapshot(of: session, in: call, for: ada.person)
    _ = try? await test.desk.signal(
      CallDesk.Signal(id: TestDesk.uuid(), to: PersonID("bob"), kind: "offer", payload: words[3]), in: call,
      by: ada)
    _ = try? await test.desk.register(
      Device(DeviceID("phone"), platform: .webhook, topic: "", token: words[4]), by: ada)
    _ = try? await test.desk.change(call, CallChange(metadata: words[5]), by: ada)
    _ = try? await test.desk.events(of: PersonID("bob"), after: 0, limit: 200)
    _ = try? await test.desk.devices(of: ada.person)
  }

  @Test(arguments: StoreKind.allCases)
  func `no payload, ciphertext, snapshot, event or token is written, also where the database fails`(
    kind: StoreKind
  ) async throws {
    let lines = Lines()
    try await TestDesk.with(kind, log: lines.log) { test in
      try await test.publishEach("bob")
      let entry = try await test.startEncrypted(Self.words[0], by: "ada", "bob")
      let (call, session) = (entry.call.state.id, TestDesk.uuid())
      _ = try await test.desk.join(call, by: TestDesk.caller("bob"))
      try await askAll(call, session, test)
      // All of it is there.
      #expect(try await test.desk.snapshot(of: session, in: call, for: PersonID("ada")).seq == 1)
      #expect(try await test.unwrapped(call, "bob") == Self.words[0])
      try await test.store.setCallsAway(true)
      try await askAll(call, session, test)
      try await test.store.setCallsAway(false)
      // Rows that no one of ours has written.
      for statement in [
        "UPDATE devices SET platform = 'pigeon'", "UPDATE shared_sessions SET state = shared_sessions.call",
        "UPDATE calls SET state = request",
      ] as [SQLStatement] {
        // Where a column takes no such value the database says so.
        _ = try? await test.store.write(bytes: 1) { transaction throws(StoreError) in
          try transaction.run(statement)
        }
        try await askAll(call, session, test)
      }
      await test.desk.tidy()
      await test.pass(60_000)
    }
    let written = lines.all.withLock { $0 }
    #expect(!written.isEmpty)
    for word in Self.words {
      let forms = [word, Data(word.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")]
      #expect(!written.contains { line in forms.contains { line.contains($0) } }, "\(word): \(written)")
    }
  }
}
