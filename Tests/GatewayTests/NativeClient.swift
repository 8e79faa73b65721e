import AccessTokens
import Foundation
import Rooms
import Testing

@testable import Gateway

/// A client of the native door, in memory: one socket with its session, and what is heard on it, in order.
class NativeClient {
  let socket = TestSocket()
  /// Ends when the session knows that its socket is gone.
  let session: Task<Void, Never>
  private var heard: AsyncStream<String>.Iterator

  /// - Parameter token: of the request, if it comes with one.
  init(
    _ terms: SignallingTerms, _ rooms: any RoomService, tokens: ResumeTokens, intakes: Intakes = Intakes(),
    authorized token: AccessToken? = nil
  ) {
    heard = socket.sent.makeAsyncIterator()
    let connection = SignallingConnection(
      socket: socket, terms: terms, rooms: rooms, tokens: tokens, intakes: intakes)
    session = Task { await connection.run(authorized: token) }
  }

  /// The next message as it was sent; nil: none comes any more.
  func text() async -> String? { await heard.next() }

  /// The next message, as its fields.
  func next() async throws -> NSDictionary { try Self.fields(try #require(await text())) }

  /// The next message of that type, or an error; what else comes before is passed over. `end` where none comes.
  func next(_ type: String) async throws -> NSDictionary {
    while let text = await text() {
      let message = try Self.fields(text)
      let found = message["type"] as? String
      if found == type || found == "error" { return message }
    }
    return ["type": "end"]
  }

  /// The message with that id; what else comes before is passed over. `end` where none comes.
  func answer(to id: Int) async throws -> NSDictionary {
    while let text = await text() {
      let message = try Self.fields(text)
      if message["id"] as? Int == id { return message }
    }
    return ["type": "end"]
  }

  /// The next message after this one is said.
  func say(_ text: String) async throws -> NSDictionary {
    socket.say(text)
    return try await next()
  }

  func ended() async { await session.value }

  private static func fields(_ text: String) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
  }
}
