import Calls
import Model
import Push
import Testing

@testable import Gateway

@Suite("The longest token of a call in a push", .timeLimit(.minutes(1)))
struct LongTokenTests {
  /// - Parameter character: of the name. What stands twice as long in a token, since JSON escapes it, makes the longest ones; control characters would be longer still.
  @Test(arguments: PushDevice.Platform.allCases, ["a", "\"", "\u{1}", "é"])
  func `has room in a push of each platform, whatever the names are`(
    platform: PushDevice.Platform, character: String
  ) throws {
    let name = String(repeating: character, count: 256 / character.utf8.count)
    // An identity has no control characters, and nothing is as long in JSON as quotation marks then.
    let id = String(repeating: "\"", count: 128)
    let key = String(repeating: "K", count: 64)
    let tokens = CallTokens(keys: [key: String(repeating: "s", count: 64)], now: { 4_000_000_000 })
    let (call, ring) = (CallUUID(random: (1, 1)), CallUUID(random: (2, 2)))
    let room = "call-\(call.text)"
    let token = try #require(
      tokens.token(
        ringing: PersonID(id), name, DeviceID(id), until: 4_000_000_030_000, of: call, room: room, apiKey: key
      ))
    var pushed = PushNotice.Ring(
      room: room, tokens: [id: token], url: "wss://\(String(repeating: "h", count: 253))/v1/ws",
      expiresAt: WallTime(milliseconds: 4_000_000_030_000))
    pushed.isBusy = true
    pushed.head = PushNotice.Ring.Head(size: 1 << 52, root: String(repeating: "f", count: 64))
    let notice = PushNotice(
      ringId: ring.text, callId: call.text, callerId: id, callerName: name, media: "video",
      kind: .ring(pushed))
    let device = PushDevice(
      person: id, id: id, platform: platform, token: "t", topic: "", registeredAt: WallTime(milliseconds: 0))
    guard let payload = PushPayload(notice, for: device) else {
      Issue.record("no room for a token of \(token.utf8.count) bytes")
      return
    }
    #expect(payload.bytes.count <= PushPayload.limit(platform))
    let hasToken = String(decoding: payload.bytes, as: UTF8.self).contains(token)
    #expect(hasToken)
  }
}
