import AccessTokens
import Model
import Rooms
import Signalling
import Synchronization
import Testing

@testable import Gateway

@Suite("What many hear is encoded once", .timeLimit(.minutes(1)))
struct SharedEncodingTests {
  @Test func `the first caller makes the text, on whichever thread`() async {
    let shared = SharedText()
    let made = Counter()
    let texts = await withTaskGroup(of: String.self) { group in
      for _ in 0..<60 {
        group.addTask {
          shared.text {
            made.increase()
            return "one"
          }
        }
      }
      return await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts == ["one"])
    #expect(made.value == 1)
  }

  @Test func `an event is one text for all recipients`() async throws {
    let house = try House()
    var listeners: [AsyncStream<ParticipantNotice>.Iterator] = []
    for number in 0..<6 {
      let joined = try await house.directory.join(
        JoinRequest(
          room: "demo", identity: "p\(number)", attributes: [:], grants: .join("demo"),
          remote: SocketAddress(ipv4: 127, 0, 0, 1, port: 1)))
      listeners.append(joined.notices.makeAsyncIterator())
    }
    _ = try await house.enter("zoe")
    var storages: Set<UInt> = []
    for index in listeners.indices {
      storages.insert(try #require(await storage(ofEventNaming: "zoe", in: &listeners[index])))
    }
    #expect(storages.count == 1, "every recipient has a text of its own")
  }

  @Test func `a participant is one text for all newcomers, until something of it changes`() async throws {
    let house = try House()
    let zoe = try await house.enter("zoe") { $0.canUpdateOwnMetadata = true }
    let before = try await others(in: house, seenBy: ["a", "b"])
    #expect(before[0].storage == before[1].storage, "each who comes has it encoded")
    #expect(try await zoe.verdict("update", #""metadata":"fresh""#) == "ok")
    _ = try await zoe.offer([.audio])
    let after = try await others(in: house, seenBy: ["c", "d"])
    #expect(after[0].storage == after[1].storage && after[0].storage != before[0].storage)
    #expect(after[0].text.contains("fresh") && after[0].text.contains("TR_"))
    #expect(!before[0].text.contains("fresh"))
  }

  /// What each who comes hears of the first who is in, and where that lies in memory.
  private func others(
    in house: House, seenBy identities: [String]
  ) async throws -> [(text: String, storage: UInt)] {
    var found: [(String, UInt)] = []
    for identity in identities {
      let joined = try await house.directory.join(
        JoinRequest(
          room: "demo", identity: identity, attributes: [:], grants: .join("demo"),
          remote: SocketAddress(ipv4: 127, 0, 0, 1, port: 1))
      ).joined
      guard case .json(var text)? = ServerMessage.Joined(joined).participants.first else {
        Issue.record("it is made for each")
        continue
      }
      found.append((text, text.withUTF8 { UInt(bitPattern: $0.baseAddress) }))
    }
    return found
  }

  @Test func `what was missed is the same text as what the others heard`() async throws {
    let house = try House()
    var sessions: [any RoomParticipant] = []
    for identity in ["here", "away"] {
      sessions.append(
        try await house.directory.join(
          JoinRequest(
            room: "demo", identity: identity, attributes: [:], grants: .join("demo"),
            remote: SocketAddress(ipv4: 127, 0, 0, 1, port: 1))))
    }
    await sessions[1].absent()
    _ = try await house.enter("zoe")
    var here = sessions[0].notices.makeAsyncIterator()
    let heard = try #require(await storage(ofEventNaming: "zoe", in: &here))
    try await sessions[1].present(after: 0)
    var away = sessions[1].notices.makeAsyncIterator()
    while let message = await away.next() {
      guard case .resumed(let state) = message else { continue }
      var text = try #require(state.missed.first { $0.text.contains("zoe") }).text
      #expect(text.withUTF8 { UInt(bitPattern: $0.baseAddress) } == heard)
      return
    }
    Issue.record("it has not come back")
  }

  /// Where the text of the next event that contains the word lies in memory.
  private func storage(
    ofEventNaming word: String, in messages: inout AsyncStream<ParticipantNotice>.Iterator
  ) async -> UInt? {
    while let message = await messages.next(isolation: nil) {
      guard case .event(let event) = message, event.text.contains(word) else { continue }
      var text = event.text
      return text.withUTF8 { UInt(bitPattern: $0.baseAddress) }
    }
    return nil
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func increase() { count.withLock { $0 += 1 } }
}
