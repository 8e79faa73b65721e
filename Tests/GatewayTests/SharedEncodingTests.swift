import AccessTokens
import Model
import Rooms
import Synchronization
import Testing

@testable import Gateway

@Suite("What many hear is encoded once", .timeLimit(.minutes(1)))
struct SharedEncodingTests {
  @Test func `text is made by the first who asks, whichever thread asks`() async {
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

  @Test func `an event is one text for all who hear it`() async throws {
    let house = try House()
    var listeners: [AsyncStream<RoomMessage>.Iterator] = []
    for number in 0..<6 {
      let joined = try await LiveRooms(house.directory).join(
        JoinRequest(
          room: "demo", identity: "p\(number)", attributes: [:], grants: .join("demo"),
          remote: SocketAddress(ipv4: 127, 0, 0, 1, port: 1)))
      listeners.append(joined.messages.makeAsyncIterator())
    }
    _ = try await house.enter("zoe")
    var storages: Set<UInt> = []
    for index in listeners.indices {
      storages.insert(try #require(await storage(ofEventNaming: "zoe", in: &listeners[index])))
    }
    #expect(storages.count == 1, "every recipient has a text of its own")
  }

  /// Where the text of the next event that contains the word lies in memory.
  private func storage(
    ofEventNaming word: String, in messages: inout AsyncStream<RoomMessage>.Iterator
  ) async -> UInt? {
    while let message = await messages.next(isolation: nil) {
      guard case .shared(var text) = message, text.contains(word) else { continue }
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
