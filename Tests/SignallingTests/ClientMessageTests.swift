import AccessTokens
import Testing

@testable import Signalling

@Suite("Messages of the native protocol", .timeLimit(.minutes(2)))
struct ClientMessageTests {
  static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test(arguments: [
    ("", MessageError.notJSON), ("null", .notJSON), ("{", .notJSON), ("7", .notJSON), ("[]", .notJSON),
    (String(repeating: "[", count: 100_000), .notJSON),
    (
      #"{"type":"ping","x":\#(String(repeating: "[", count: 17))\#(String(repeating: "]", count: 17))}"#,
      .notJSON
    ),
    (#"{"type":"ping","type":"ping"}"#, .notJSON), (#"{"type":"ping",}"#, .notJSON),
    (#"{"type":"ping"} x"#, .notJSON), (#"{"type":"ping","x":tru}"#, .notJSON),
    (#"{"type":"ping","x":01}"#, .notJSON), (#"{"type":"ping","x":[1 2]}"#, .notJSON),
    (#"{"type":"ping","x":{"a"}}"#, .notJSON), (#"{"type":"ping","x":"\q"}"#, .notJSON),
    (#"{"type":"ping","x":[}"#, .notJSON), (#"{"type":"ping","x":{]}"#, .notJSON),
    ("{\(String((0..<65).map { #""m\#($0)":0,"# }.joined().dropLast()))}", .notJSON),
    ("{}", .field("type", .missing, id: nil)),
    (#"{"type":7,"id":1}"#, .field("type", .expected("a string"), id: RequestID(1))),
    (#"{"type":"\#(long(65))"}"#, .field("type", .tooLong(64), id: nil)),
    (#"{"type":"ping","id":""}"#, badID), (#"{"type":"ping","id":{}}"#, badID),
    (#"{"type":"ping","id":true}"#, badID), (#"{"type":"ping","id":"\#(long(65))"}"#, badID),
    (#"{"type":"ping","id":0.\#(String(repeating: "1", count: 63))}"#, badID),
    (#"{"type":"auth"}"#, .field("token", .missing, id: nil)),
    (#"{"type":"auth","token":{}}"#, .field("token", .expected("a string"), id: nil)),
    (
      #"{"type":"resume","resumeToken":"\#(long(129))","after":0}"#,
      .field("resumeToken", .tooLong(128), id: nil)
    ),
    (
      #"{"type":"resume","resumeToken":"t","after":-1}"#,
      .field("after", .expected("a whole number from 0"), id: nil)
    ),
    (
      #"{"type":"resume","resumeToken":"t","after":1.5}"#,
      .field("after", .expected("a whole number from 0"), id: nil)
    ),
    (#"{"type":"offer"}"#, .field("sdp", .missing, id: nil)),
    (#"{"type":"offer","sdp":""}"#, .field("sdp", .expected("a session description"), id: nil)),
    (#"{"type":"offer","sdp":"\#(long(262_145))"}"#, .field("sdp", .tooLong(262_144), id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":{}}"#, .field("tracks", .expected("a list of tracks"), id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[7]}"#, .field("tracks", .expected("a list of objects"), id: nil)),
    (#"{"type":"offer","sdp":"x","tracks":[{}]}"#, .field("tracks.mid", .missing, id: nil)),
    (
      #"{"type":"offer","sdp":"x","tracks":[{"mid":"0"},{"mid":"0"}]}"#,
      .field("tracks.mid", .expected("another one for each track"), id: nil)
    ),
    (
      #"{"type":"offer","sdp":"x","tracks":[{"mid":"0","source":1}]}"#,
      .field("tracks.source", .expected("a string"), id: nil)
    ),
    (
      #"{"type":"offer","sdp":"x","tracks":[{"mid":"0","source":"hologram"}]}"#,
      .field(
        "tracks.source", .expected("one of camera, microphone, screen_share, screen_share_audio, unknown"),
        id: nil)
    ),
    (
      #"{"type":"offer","sdp":"x","tracks":[\#(String(repeating: #"{"mid":"0"},"#, count: 64)){"mid":"1"}]}"#,
      .field("tracks", .tooLong(64), id: nil)
    ),
    (#"{"type":"candidate","mid":"0"}"#, .field("candidate", .missing, id: nil)),
    (#"{"type":"candidate","candidate":"c","mid":0}"#, .field("mid", .expected("a string"), id: nil)),
    (
      #"{"type":"offer","sdp":"x","tracks":[{"mid":"0","muted":"yes"}]}"#,
      .field("tracks.muted", .expected("true or false"), id: nil)
    ),
    (#"{"type":"offer","sdp":"x","tracks":[{"mid":"0","name":"a\u0007"}]}"#, badName("tracks.name")),
    (#"{"type":"subscribe","id":1}"#, .field("track", .missing, id: RequestID(1))),
    (#"{"type":"subscribe","track":""}"#, .field("track", .expected("a track's id"), id: nil)),
    (#"{"type":"subscribe","track":"\#(long(65))"}"#, .field("track", .tooLong(64), id: nil)),
    (#"{"type":"subscribe","track":"t","mid":7}"#, .field("mid", .expected("a string"), id: nil)),
    (
      #"{"type":"subscribe","track":"t","maxWidth":0,"id":2}"#,
      .field("maxWidth", .expected("a whole number from 1 to 16384"), id: RequestID(2))
    ),
    (#"{"type":"subscribe","track":"t","quality":{}}"#, .field("quality", .expected("a string"), id: nil)),
    (
      #"{"type":"subscribe","track":"t","quality":"best"}"#,
      .field("quality", .expected("one of off, low, medium, high"), id: nil)
    ),
    (
      #"{"type":"view","tracks":[{"track":"t","priority":256}]}"#,
      .field("tracks.priority", .expected("a whole number from 0 to 255"), id: nil)
    ),
    (
      #"{"type":"view","tracks":[{"track":"t"},{"track":"t","maxFrameRate":15}]}"#,
      .field("tracks.track", .expected("another one for each"), id: nil)
    ),
    (
      #"{"type":"view","tracks":[\#(String(repeating: #"{"track":"0"},"#, count: 64)){"track":"1"}]}"#,
      .field("tracks", .tooLong(64), id: nil)
    ),
    (#"{"type":"layers","layers":[]}"#, .field("track", .missing, id: nil)),
    (
      #"{"type":"layers","track":"t","layers":[{"width":0,"height":1}]}"#,
      .field("layers.width", .expected("a whole number from 1 to 16384"), id: nil)
    ),
    (
      #"{"type":"layers","track":"t","layers":[{"rid":"f","width":1}]}"#,
      .field("layers.height", .missing, id: nil)
    ),
    (
      #"{"type":"layers","track":"t","layers":[{"rid":"f","width":1,"height":1},{"rid":"f","width":2,"height":2}]}"#,
      .field("layers.rid", .expected("another one for each"), id: nil)
    ),
    (
      #"{"type":"layers","track":"t","layers":[{},{},{},{}],"id":4}"#,
      .field("layers", .tooLong(3), id: RequestID(4))
    ),
    (#"{"type":"unsubscribe","track":[]}"#, .field("track", .expected("a string"), id: nil)),
    (#"{"type":"mute","track":"t"}"#, .field("muted", .missing, id: nil)),
    (#"{"type":"mute","track":"t","muted":1}"#, .field("muted", .expected("true or false"), id: nil)),
    (#"{"type":"update","name":""}"#, badName("name")),
    (#"{"type":"update","name":"a\nb"}"#, badName("name")),
    (#"{"type":"update","name":"\#(long(129))"}"#, .field("name", .tooLong(128), id: nil)),
    (#"{"type":"update","metadata":"\#(long(65_537))"}"#, .field("metadata", .tooLong(65_536), id: nil)),
    (#"{"type":"update","metadata":"\ud83d"}"#, .field("metadata", .expected("a string"), id: nil)),
    (#"{"type":"update","attributes":{"a":1}}"#, badAttributes),
    (#"{"type":"update","attributes":{"a":"1","a":"2"}}"#, badAttributes),
    (#"{"type":"update","attributes":[]}"#, badAttributes),
    (
      #"{"type":"update","attributes":{\#(String((0..<257).map { #""\#($0)":"","# }.joined().dropLast()))}}"#,
      .field("attributes", .tooLong(256), id: nil)
    ),
    (
      #"{"type":"update","attributes":{"a":"\#(long(65_537))"}}"#,
      .field("attributes", .tooLong(256), id: nil)
    ),
    (#"{"type":"data"}"#, .field("payload", .missing, id: nil)),
    (#"{"type":"data","payload":"not base64"}"#, .field("payload", .expected("base64"), id: nil)),
    (
      #"{"type":"data","payload":"aXXXXXXXXXXXXXXXXXXXXXGk="}"#,
      .field("payload", .expected("base64"), id: nil)
    ),
    (#"{"type":"data","payload":"\#(long(21_852))"}"#, .field("payload", .tooLong(21_848), id: nil)),
    (#"{"type":"data","payload":"","topic":""}"#, badName("topic")),
    (
      #"{"type":"data","payload":"","reliable":"no"}"#,
      .field("reliable", .expected("true or false"), id: nil)
    ),
    (
      #"{"type":"data","payload":"","destinations":"eve"}"#,
      .field("destinations", .expected("a list of identities"), id: nil)
    ),
    (
      #"{"type":"data","payload":"","destinations":[\#(String(repeating: #""e","#, count: 256))"e"]}"#,
      .field("destinations", .tooLong(256), id: nil)
    ),
    (#"{"type":"hand"}"#, .field("raised", .missing, id: nil)),
    (#"{"type":"hand","raised":1,"id":3}"#, .field("raised", .expected("true or false"), id: RequestID(3))),
    (
      #"{"type":"hand","raised":false,"participant":""}"#,
      .field("participant", .expected("a participant's id"), id: nil)
    ),
    (
      #"{"type":"hand","raised":false,"participant":"\#(long(65))"}"#,
      .field("participant", .tooLong(64), id: nil)
    ),
    (#"{"type":"admit"}"#, .field("waiting", .missing, id: nil)),
    (#"{"type":"admit","waiting":""}"#, .field("waiting", .expected("an id of one that waits"), id: nil)),
    (#"{"type":"admit","waiting":"\#(long(65))"}"#, .field("waiting", .tooLong(64), id: nil)),
    (
      #"{"type":"admit","waiting":"WT_1","allowed":"no"}"#,
      .field("allowed", .expected("true or false"), id: nil)
    ),
  ])
  func `what is no message is refused by its first wrong field, and what is wrong with it`(
    text: String, reason: MessageError
  ) {
    #expect(throws: reason) { try ClientMessage(json: text) }
  }

  @Test(arguments: ["\u{301}\u{316}", #"\u0301\u0316"#])
  func `a text with more combining marks in a row than any language needs is refused`(pair: String) throws {
    let (few, many) = ("a" + String(repeating: pair, count: 15), "a" + String(repeating: pair, count: 16))
    let reason = MessageError.FieldProblem.expected(
      "a string with at most 30 combining marks in a row")
    for (field, whole) in [
      ("metadata", #"{"type":"update","metadata":"TEXT"}"#), ("name", #"{"type":"update","name":"TEXT"}"#),
      ("sdp", #"{"type":"offer","sdp":"TEXT"}"#),
      ("topic", #"{"type":"data","payload":"eA==","topic":"TEXT"}"#),
      ("token", #"{"type":"auth","token":"TEXT"}"#),
    ] {
      _ = try ClientMessage(json: whole.replacing("TEXT", with: few))
      #expect(throws: MessageError.field(field, reason, id: nil)) {
        try ClientMessage(json: whole.replacing("TEXT", with: many))
      }
    }
    for attributes in [#"{"\#(many)":"x"}"#, #"{"x":"\#(many)"}"#] {
      #expect(throws: Self.badAttributes) {
        try ClientMessage(json: #"{"type":"update","attributes":\#(attributes)}"#)
      }
    }
    #expect(throws: MessageError.field("destinations", .expected("a list of identities"), id: nil)) {
      try ClientMessage(json: #"{"type":"data","payload":"eA==","destinations":["\#(many)"]}"#)
    }
    // What isn't asked for costs its bytes alone.
    #expect(try ClientMessage(json: #"{"type":"ping","\#(many)":"\#(many)"}"#).content == .ping)
  }

  static let badID = MessageError.field(
    "id", .expected("a number or a string of 1 to 64 bytes"), id: nil)
  static let badAttributes = MessageError.field(
    "attributes", .expected("an object of strings"), id: nil)
  static func badName(_ field: String) -> MessageError {
    .field(field, .expected("a text of 1 to 128 bytes without control characters"), id: nil)
  }

  @Test(arguments: [
    "1", "-7", "0", "1.0", "1e3", "18446744073709551616", #""a""#, #""ä""#, #""\u0041""#, #""1""#,
    "\"\(long(64))\"",
  ])
  func `a request's id comes back byte for byte`(json: String) throws {
    let message = try ClientMessage(json: #"{"id" : \#(json) ,"type":"ping"}"#)
    #expect(message.id?.json == json)
    #expect(ServerMessage(.pong, id: message.id).json == #"{"id":\#(json),"type":"pong"}"#)
    var answered = ServerMessage.Resumed(lastEvent: 1)
    answered.answer = ServerMessage.ResumedAnswer(id: message.id, answer: ServerMessage.Answer(sdp: "v=0"))
    let resumed = ServerMessage(.resumed(answered), id: message.id).json
    #expect(resumed.hasPrefix(#"{"id":\#(json),"#) && resumed.contains(#""answer":{"id":\#(json),"#))
  }

  @Test func `nothing in an answer is taken for its request's id`() throws {
    let declined = DeclinedSection(mid: "\u{1}id", code: "limit")
    let message = try ClientMessage(json: #"{"id":7,"type":"ping"}"#)
    var resumed = ServerMessage.Resumed(lastEvent: 1)
    resumed.answer = ServerMessage.ResumedAnswer(
      id: message.id, answer: ServerMessage.Answer(sdp: "v=0", declined: [declined]))
    let json = ServerMessage(.resumed(resumed)).json
    #expect(json.contains(#""mid":"\u0001id""#))
    #expect(json.hasPrefix(#"{"answer":{"id":7,"#))
  }

  @Test func `ids are compared by their bytes`() throws {
    let ids = try ["1", "1.0", "1e0", #""1""#, #""\u0031""#].map {
      try #require(try ClientMessage(json: #"{"type":"ping","id":\#($0)}"#).id)
    }
    #expect(Set(ids).count == 5)
  }

  @Test func `escapes are read as they are meant`() throws {
    let message = try ClientMessage(
      json: #"{"type":"update","metadata":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00 ä"}"#)
    #expect(message.content == .update(.init(metadata: "\"\\/\u{8}\u{c}\n\r\tä😀 ä")))
  }

  @Test func `fields of other messages and of the future don't matter`() throws {
    let ping = try ClientMessage(
      json: #"{"type":"ping","sdp":7,"tracks":"x","token":[],"new":{"a":null},"id":null}"#)
    #expect(ping == ClientMessage(.ping))
    #expect(try ClientMessage(json: #"{"type":"wave"}"#).content == .unknown(type: "wave"))
    let candidate = try ClientMessage(json: #"{"type":"candidate","candidate":"","mid":null}"#)
    #expect(candidate.content == .candidate(.init(candidate: "", mid: nil)))
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
