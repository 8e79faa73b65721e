import Foundation
import HTTPServer
import Model
import Testing

@testable import Gateway

/// The text of errors about a message, and the field that they name.
@Suite("Errors about messages, as the client reads them", .timeLimit(.minutes(2)))
struct SignallingErrorTests {
  static let long = String(repeating: "x", count: 21_852)

  @Test(arguments: [
    (#""type":"mute","track":"TR_1""#, "muted is missing"), (#""type":"offer""#, "sdp is missing"),
    (#""type":"update","name":"\#(long.prefix(129))""#, "name is too long; it has at most 128"),
    (#""type":"data","payload":"\#(long)""#, "payload is too long; it has at most 21848"),
    (#""type":"mute","track":"TR_1","muted":"yes""#, "muted is not true or false"),
    (#""type":"subscribe","track":7"#, "track is not a string"),
    (#""type":"offer","sdp":"v=0","tracks":[{"mid":4}]"#, "tracks.mid is not a string"),
  ])
  func `an error says whether a field is missing, too long with its bound, or of the wrong type`(
    fields: String, message: String
  ) async throws {
    let client = SignallingSessionTests.Client()
    _ = try await client.join()
    let error = try await client.ask(#"{\#(fields),"id":1}"#)
    #expect(
      error == ["type": "error", "code": "bad-message", "message": message, "retry": "never", "id": 1])
    #expect(try await client.ask(#"{"type":"ping"}"#) == ["type": "pong"])
  }

  @Test(arguments: [("7", "microphone", "tracks.mid"), ("0", "hologram", "tracks.source")])
  func `an offer with an unknown mid or source is refused with the field's name`(
    mid: String, source: String, field: String
  ) async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let refused = try await ada.offer([.audio], source: source, mid: mid)
    #expect(refused["type"] as? String == "error" && refused["code"] as? String == "bad-message")
    let message = try #require(refused["message"] as? String)
    #expect(message.hasPrefix(field), "\(message)")
    #expect(await house.ask(.get, "/v1/rooms/demo")["tracks"] == 0 as NSNumber)
    // The refused offer changes nothing for the next one.
    #expect(try await ada.publish(.audio, as: "microphone").hasPrefix("TR_"))
  }
}
