import Testing

@testable import Signalling

@Suite("A JSON value of an app's", .timeLimit(.minutes(1)))
struct OpaqueJSONTests {
  private func taken(_ text: String) -> String? {
    OpaqueJSON(Array(text.utf8)).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test(arguments: [
    "null", "true", "0", "-1.5e-3", "12345678901234567890", "1.0", "\"\"", "\"é\"", "[]", "{}",
    #"{"a":[1, 2],"a":3,"b":{"c":"\u0000\ud83d\ude00\n"}}"#, #""\\ud800""#, "1e308",
  ])
  func `it stays as it came`(text: String) {
    #expect(taken(text) == text)
    #expect(taken(" \n\t\(text)\r ") == text)
  }

  @Test(arguments: [
    "", " ", "nul", "01", "1.", "1 2", "[1,]", "{\"a\"}", "\"", "\"\u{1}\"", "'a'", "NaN", "Infinity",
    "1e309", "-1e400",
    "[1e999]", #""\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00""#,
    #"{"\ud800":1}"#,
    String(repeating: "1", count: 33),
  ])
  func `what some reader refuses is refused`(text: String) { #expect(taken(text) == nil) }

  @Test func `what is no UTF-8 is refused, and nesting has a bound`() {
    #expect(OpaqueJSON([0x22, 0xFF, 0x22]) == nil && OpaqueJSON([0x22, 0xC0, 0x80, 0x22]) == nil)
    #expect(OpaqueJSON([0x22, 0xED, 0xA0, 0x80, 0x22]) == nil, "half of a pair as bytes")
    let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(
      taken(nested(OpaqueJSON.maximumDepth)) != nil && taken(nested(OpaqueJSON.maximumDepth + 1)) == nil)
    #expect(taken("[" + Array(repeating: nested(11), count: 9).joined(separator: ",") + "]") != nil)
  }

  @Test func `a cut anywhere is no value, and a message holds any that is one`() throws {
    let text = #"{"a":[1.5,"\ud83d\ude00",{"b":null}],"c":"x"}"#
    for count in 0..<text.utf8.count { #expect(OpaqueJSON(Array(text.utf8.prefix(count))) == nil) }
    let nested =
      String(repeating: "[", count: OpaqueJSON.maximumDepth)
      + String(repeating: "]", count: OpaqueJSON.maximumDepth)
    for text in [text, nested, "null", "7"] {
      let event = #"{"id":"e","type":"t","data":\#(text)}"#
      let message = try ClientMessage(json: #"{"type":"session.event","id":3,"sid":"s","event":\#(event)}"#)
      guard case .sessionEvent(let said) = message.content else {
        Issue.record("\(text)")
        continue
      }
      #expect(said.event.data == OpaqueJSON(Array(text.utf8)) && message.id == RequestID(3))
      #expect(try ClientMessage(json: message.json) == message)
      let body = SharedEventBody(id: "e", seq: 7, type: "t", sender: nil, time: "now", data: said.event.data)
      let live = ServerMessage(.sessionEvent(.init(sid: "s", event: body)))
      #expect(try ServerMessage(json: live.json) == live && live.json.contains(#""data":\#(text)"#))
    }
  }

  @Test(arguments: [
    (#"{"type":"session.event","event":{}}"#, "sid", MessageError.FieldProblem.missing),
    (#"{"type":"session.event","sid":"","event":{}}"#, "sid", .expected("a session's id")),
    (#"{"type":"session.event","sid":"s"}"#, "event", .missing),
    (#"{"type":"session.event","sid":"s","event":[]}"#, "event", .expected("an object")),
    (#"{"type":"session.event","sid":"s","event":{"type":"t"}}"#, "event.id", .missing),
    (#"{"type":"session.event","sid":"s","event":{"id":"e"}}"#, "event.type", .missing),
    (
      #"{"type":"session.event","sid":"s","event":{"id":"e","type":"t","data":1e400}}"#, "event.data",
      .expected("JSON of whole characters and finite numbers, 12 levels deep at most")
    ),
    (
      #"{"type":"session.event","sid":"s","event":{"id":"e","type":"t","data":"\#(String(repeating: "x", count: 16_383))"}}"#,
      "event.data", .tooLong(16_384)
    ),
  ])
  func `a message whose event is none names the field`(
    text: String, field: String, problem: MessageError.FieldProblem
  ) {
    #expect(throws: MessageError.field(field, problem, id: nil)) { try ClientMessage(json: text) }
  }

  @Test func `a member is taken out of an object as it stands there`() {
    func take(_ text: String) -> (String, String?)? {
      OpaqueJSON.take("data", from: Array(text.utf8)).map { rest, value in
        (String(decoding: rest, as: UTF8.self), value.map { String(decoding: $0, as: UTF8.self) })
      }
    }
    #expect(take(#"{"a":1,"data": [1, 2] ,"b":2}"#)! == (#"{"a":1,"data": null ,"b":2}"#, "[1, 2]"))
    #expect(take(#"{"a":1}"#)! == (#"{"a":1}"#, nil))
    #expect(take(#"{"data":1,"data":2}"#) == nil && take("[]") == nil && take("{") == nil)
  }
}
