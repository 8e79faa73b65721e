import Rooms
import Testing

@testable import Gateway

@Suite("Messages of the native protocol", .timeLimit(.minutes(2)))
struct ClientMessageTests {
  @Test(arguments: [
    ("", ClientMessageError.notJSON), ("null", .notJSON), ("{", .notJSON), ("7", .notJSON),
    (String(repeating: "[", count: 100_000), .notJSON),
    ("{}", .field("type", id: nil)), (#"{"type":7,"id":1}"#, .field("type", id: .number(1))),
    (#"{"type":"ping","id":""}"#, .field("id", id: nil)),
    (#"{"type":"ping","id":1.5}"#, .field("id", id: nil)),
    (#"{"type":"ping","id":{}}"#, .field("id", id: nil)),
    (#"{"type":"ping","id":"\#(String(repeating: "x", count: 65))"}"#, .field("id", id: nil)),
    (#"{"type":"auth"}"#, .field("token", id: nil)),
    (#"{"type":"auth","token":{}}"#, .field("token", id: nil)),
    (#"{"type":"offer","sdp":""}"#, .field("sdp", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":{}}"#, .field("tracks", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[7]}"#, .field("tracks", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{}]}"#, .field("tracks.mid", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{"mid":"0"},{"mid":"0"}]}"#, .field("tracks.mid", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{"mid":"0","source":1}]}"#, .field("tracks.source", id: nil)),
    (
      #"{"type":"offer","sdp":"x","tracks":[\#(String(repeating: #"{"mid":"0"},"#, count: 64)){"mid":"1"}]}"#,
      .field("tracks", id: nil)
    ),
    (#"{"type":"candidate","mid":"0"}"#, .field("candidate", id: nil)),
    (#"{"type":"candidate","candidate":"c","mid":0}"#, .field("mid", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{"mid":"0","muted":"yes"}]}"#, .field("tracks.muted", id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{"mid":"0","name":"a\u0007"}]}"#, .field("tracks.name", id: nil)),
    (#"{"type":"subscribe","id":1}"#, .field("track", id: .number(1))),
    (#"{"type":"subscribe","track":""}"#, .field("track", id: nil)),
    (#"{"type":"subscribe","track":"\#(String(repeating: "x", count: 65))"}"#, .field("track", id: nil)),
    (#"{"type":"subscribe","track":"t","mid":7}"#, .field("mid", id: nil)),
    (#"{"type":"subscribe","track":"t","maxWidth":320,"id":2}"#, .unsupported("maxWidth", id: .number(2))),
    (#"{"type":"subscribe","track":"t","quality":{}}"#, .unsupported("quality", id: nil)),
    (#"{"type":"unsubscribe","track":[]}"#, .field("track", id: nil)),
    (#"{"type":"mute","track":"t"}"#, .field("muted", id: nil)),
    (#"{"type":"mute","track":"t","muted":1}"#, .field("muted", id: nil)),
    (#"{"type":"update","name":""}"#, .field("name", id: nil)),
    (#"{"type":"update","name":"a\nb"}"#, .field("name", id: nil)),
    (#"{"type":"update","name":"\#(String(repeating: "x", count: 129))"}"#, .field("name", id: nil)),
    (
      #"{"type":"update","metadata":"\#(String(repeating: "x", count: 65_537))"}"#,
      .field("metadata", id: nil)
    ),
    (#"{"type":"update","attributes":{"a":1}}"#, .field("attributes", id: nil)),
    (#"{"type":"update","attributes":[]}"#, .field("attributes", id: nil)),
    (#"{"type":"data"}"#, .field("payload", id: nil)),
    (#"{"type":"data","payload":"not base64"}"#, .field("payload", id: nil)),
    (#"{"type":"data","payload":"aXXXXXXXXXXXXXXXXXXXXXGk="}"#, .field("payload", id: nil)),
    (#"{"type":"data","payload":"\#(String(repeating: "A", count: 21_852))"}"#, .field("payload", id: nil)),
    (#"{"type":"data","payload":"","topic":""}"#, .field("topic", id: nil)),
    (#"{"type":"data","payload":"","reliable":"no"}"#, .field("reliable", id: nil)),
    (#"{"type":"data","payload":"","destinations":"eve"}"#, .field("destinations", id: nil)),
    (
      #"{"type":"data","payload":"","destinations":[\#(String(repeating: #""e","#, count: 256))"e"]}"#,
      .field("destinations", id: nil)
    ),
  ])
  func `what is no message is told by its first wrong field`(text: String, reason: ClientMessageError) {
    #expect(throws: reason) { try ClientMessage(json: text) }
  }

  @Test func `fields of other messages and of the future don't matter`() throws {
    let ping = try ClientMessage(
      json: #"{"type":"ping","sdp":7,"tracks":"x","token":[],"new":{"a":null},"id":null}"#)
    #expect(ping == ClientMessage(id: nil, content: .ping))
    #expect(try ClientMessage(json: #"{"type":"wave"}"#).content == .unknown(type: "wave"))
    let candidate = try ClientMessage(json: #"{"type":"candidate","candidate":"","mid":null}"#)
    #expect(candidate.content == .candidate("", mid: ""))
  }

  @Test func `answers are remembered up to a bound, the latest ones`() {
    var requests = AnsweredRequests()
    for number in 0..<1000 {
      #expect(requests.enter(.number(number)) == .new)
      #expect(requests.enter(.number(number)) == .pending)
      requests.answer(.number(number), "a\(number)")
    }
    #expect(requests.enter(.number(999)) == .answered("a999"))
    #expect(requests.enter(.number(999 - AnsweredRequests.capacity + 1)) != .new)
    #expect(requests.enter(.number(0)) == .new)
    requests.answer(.text("never asked"), "x")
    #expect(requests.enter(.text("never asked")) == .new)
  }

  @Test func `every token refusal has its error code, and close codes keep to their range`() {
    let refusals: [AccessTokenRefusal] = [
      .absent, .malformed(reason: ""), .wrongSignature, .unsupportedAlgorithm, .expired, .notYetValid,
      .unknownKey,
      .notForThis(missing: ""),
    ]
    for refusal in refusals { #expect(SignallingErrorCode(rawValue: refusal.code) != nil) }
    for code in SignallingCloseCode.allCases { #expect((4000...4099).contains(code.rawValue)) }
  }
}
