import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("How much a request about calls may have", .timeLimit(.minutes(2)))
struct CallBodyTests {
  private static let id = "6e0b8a3c-58f4-4d0f-9a77-5f7f0f3a1c11"

  private struct Row {
    let method: HTTPMethod
    let path: String
    /// The operation's own.
    let bounds: BodyBounds
    /// Of one that is a byte too long, around what fills it.
    let parts: (String, String)
  }

  private static let rows: [Row] = [
    Row(
      method: .post, path: "/v1/calls", bounds: .ringing,
      parts: (#"{"id":"\#(id)","recipients":["bob"],"media":"audio","metadata":""#, #""}"#)),
    Row(method: .patch, path: "/v1/calls/\(id)", bounds: .callChange, parts: (#"{"metadata":""#, #""}"#)),
    Row(method: .post, path: "/v1/calls/\(id)/join", bounds: .words, parts: (#"{"deviceId":""#, #""}"#)),
    Row(method: .post, path: "/v1/calls/\(id)/leave", bounds: .words, parts: (#"{"deviceId":""#, #""}"#)),
    Row(
      method: .post, path: "/v1/calls/\(id)/invite", bounds: .ringing, parts: (#"{"recipients":[""#, #""]}"#)),
    Row(
      method: .post, path: "/v1/calls/\(id)/signals", bounds: .signal,
      parts: (#"{"id":"\#(id)","to":"bob","kind":"offer","payload":""#, #""}"#)),
    Row(
      method: .post, path: "/v1/calls/\(id)/keys", bounds: .callKeys, parts: (#"{"index":1,"x":""#, #""}"#)),
    Row(method: .put, path: "/v1/devices/phone", bounds: .device, parts: (#"{"token":""#, #""}"#)),
    Row(method: .put, path: "/v1/keys/ada", bounds: .deviceKey, parts: (#"{"key":""#, #""}"#)),
    Row(
      method: .post, path: "/v1/calls/\(id)/sessions", bounds: .words, parts: (#"{"experience":""#, #""}"#)),
    Row(
      method: .post, path: "/v1/calls/\(id)/sessions/\(id)/owner", bounds: .words,
      parts: (#"{"to":""#, #""}"#)),
  ]

  @Test func `a body that is larger than the request can hold is refused before anything is read of it`()
    async throws
  {
    let calls = try await CallHouse()
    for (number, row) in Self.rows.enumerated() {
      let room = row.bounds.bytes + 1 - row.parts.0.utf8.count - row.parts.1.utf8.count
      let body = row.parts.0 + String(repeating: "x", count: room) + row.parts.1
      // Each by another person, since all of it is paid for.
      let answer = await calls.ask(row.method, row.path, body, by: "p\(number)")
      #expect(answer.status == 413 && answer.problem == "body-too-large", "\(row.path): \(answer.text)")
      #expect(answer.detail?.contains("\(row.bounds.bytes)") == true)
    }
  }

  @Test func `what an app shares is bounded with all that is beside it`() async throws {
    let scene = try await SessionScene()
    let id = try await scene.session("ada")
    let long = String(repeating: " ", count: CallDeskTerms.Sharing().eventData + 65_536)
    let event = await scene.ask(
      .post, "\(id)/events", #"{"id":"\#(Self.id)","type":"t","data":1\#(long)}"#, by: "ada")
    #expect(event.status == 413 && event.problem == "body-too-large")
    let names = Array(repeating: "\"bob\"", count: 257).joined(separator: ",")
    let kept = await scene.ask(
      .put, "\(id)/snapshot", #"{"seq":0,"state":{},"participants":[\#(names)]}"#, by: "ada")
    #expect(kept.status == 400 && kept.detail?.contains("256") == true, "\(kept.text)")
  }

  @Test func `lists and values are counted before they are built, and the answer says how many there may be`()
    async throws
  {
    let calls = try await CallHouse()
    let (id, _) = await calls.start("ada", "bob")
    let flood = Array(repeating: "\"b\"", count: 100_000).joined(separator: ",")
    let objects = Array(repeating: "{}", count: 100_000).joined(separator: ",")
    let numbers = Array(repeating: "[1,2]", count: 400).joined(separator: ",")
    let uuid = UUID().uuidString
    let bodies = [
      ("/v1/calls", #"{"id":"\#(uuid)","media":"audio","recipients":[\#(flood)]}"#, "512"),
      ("/v1/calls", #"{"id":"\#(uuid)","media":"audio","recipients":["bob"],"keys":[\#(objects)]}"#, "512"),
      ("/v1/calls/\(id)/invite", #"{"recipients":[\#(flood)]}"#, "512"),
      (
        "/v1/calls/\(id)/signals", #"{"id":"\#(uuid)","to":"bob","kind":"k","clear":{"a":[\#(numbers)]}}"#,
        "544"
      ),
      ("/v1/calls/\(id)/keys", #"{"index":1,"keys":[\#(objects)]}"#, "512"),
    ]
    for (path, body, word) in bodies {
      let answer = await calls.ask(.post, path, body, by: "ada")
      #expect(
        answer.status == 400 && answer.problem == "body" && answer.detail?.contains(word) == true,
        "\(path): \(answer.text)")
    }
    // One too many of what there may be says so by its name.
    let many = Array(repeating: "\"b\"", count: 257).joined(separator: ",")
    let named = await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":[\#(many)]}"#, by: "ada")
    #expect(named.detail == "recipients must be a list of at most 256 strings")
  }

  /// Each byte of it as an escape.
  private func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let digits = String(byte, radix: 16)
      return #"\u00"# + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  @Test func `what fits is taken in whatever way it is written`() async throws {
    let calls = try await CallHouse()
    let people = (0..<31).map { number in
      "p\(number)" + String(repeating: "x", count: 128 - "p\(number)".utf8.count)
    }
    let list = people.map { "\"\(escaped($0))\"" }.joined(separator: ", ")
    let metadata = escaped(String(repeating: "m", count: 4_096))
    let id = UUID().uuidString.lowercased()
    let body = #"{"id": "\#(id)", "recipients": [\#(list)], "media": "audio", "metadata": "\#(metadata)"}"#
    let started = await calls.ask(.post, "/v1/calls", body, by: "ada")
    #expect(started.status == 201, "\(started.text.prefix(200))")
    let invited = (started["call"] as? NSDictionary)?["invitedParticipants"] as? [String] ?? []
    #expect(Set(invited) == Set(people))
    let joined = await calls.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"\#(escaped(people[0]))"}"#, by: people[0])
    #expect(joined.status == 200 && joined["device"] as? String == people[0])
    let payload = Data(repeating: 255, count: 65_536).base64EncodedString().replacing("/", with: #"\/"#)
    let signal = #"{"id":"\#(UUID())","to":"\#(people[0])","kind":"offer","payload":"\#(payload)"}"#
    #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", signal, by: "ada").status == 201)
  }
}
