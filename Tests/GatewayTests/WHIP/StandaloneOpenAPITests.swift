import Foundation
import HTTPServer
import Rooms
import TestScripts
import Testing

@testable import Gateway

@Suite("What WHIP and WHEP do and what openapi.json says", .timeLimit(.minutes(1)))
struct StandaloneOpenAPITests {
  /// What to ask, by method and path as described, each with what makes it right; it is shown wrong besides.
  static let talk: [(method: HTTPMethod, template: String)] = [
    (.get, "/whip/{room}"), (.post, "/whip/{room}"), (.get, "/whip/{room}/{session}"),
    (.patch, "/whip/{room}/{session}"), (.delete, "/whip/{room}/{session}"), (.get, "/whep/{room}"),
    (.post, "/whep/{room}"), (.get, "/whep/{room}/{session}"), (.patch, "/whep/{room}/{session}"),
    (.delete, "/whep/{room}/{session}"),
  ]

  @Test func `every answer is one that is described`() async throws {
    var lines: [String] = []
    func note(_ method: HTTPMethod, _ template: String, _ answer: House.Answer) {
      let type = answer.headers["content-type"] ?? "-"
      let body = type.hasSuffix("json") ? answer.text : answer.text.isEmpty ? "-" : "bytes"
      lines.append(
        "\(method.rawValue) \(template) \(answer.status) \(type) \(body.replacing("\n", with: " "))")
    }
    #expect(
      Set(Self.talk.map { "\($0.method) \($0.template)" })
        == Set(StandaloneOperation.all.map { "\($0.method) \($0.path)" }))
    var statuses: Set<Int> = []
    for (method, template) in Self.talk {
      // Of its own: one of them removes the participant.
      let house = try House()
      let isWHIP = template.hasPrefix("/whip")
      func ask(_ client: Encoder, _ body: String, token: String?, _ headers: [(String, String)]) async
        -> House.Answer
      {
        let path = template.replacing("/{room}/{session}", with: "").replacing("/{room}", with: "")
        let place = template.hasSuffix("{session}") ? client.location : "\(path)/demo"
        let answer = await house.ask(method, place, body, token: token, headers: headers)
        note(method, template, answer)
        statuses.insert(answer.status)
        return answer
      }
      let client = isWHIP ? try await Encoder.whip(house, "one") : try await Encoder.whep(house, "one")
      let offer = isWHIP ? try Encoder.offer() : try Encoder.offer(sending: [], audio: 1)
      let fragment = [("content-type", "application/trickle-ice-sdpfrag")]
      _ = await ask(client, "", token: nil, Encoder.sdp)
      _ = await ask(client, "", token: House.admin, Encoder.sdp)
      _ = await ask(client, "", token: Encoder.token("two"), fragment)
      switch method {
      case .post:
        let made = await ask(client, offer, token: client.token, Encoder.sdp)
        #expect(made.status == 201)
        _ = await ask(client, offer, token: client.token, Encoder.sdp)
        _ = await ask(client, offer, token: client.token, Encoder.sdp)
        _ = await ask(
          client, offer.replacing("a=fingerprint", with: "a=none"), token: Encoder.token("two"), Encoder.sdp)
        _ = await ask(
          client, offer.replacing("m=audio", with: "m=text"), token: Encoder.token("two"), Encoder.sdp)
        _ = await ask(client, String(repeating: "x", count: 300_000), token: client.token, Encoder.sdp)
        try await house.directory.remove("one", from: "demo")
        _ = await ask(client, offer, token: client.token, Encoder.sdp)
      case .patch:
        for (body, match) in [
          (Encoder.fragment(), client.tag), (Encoder.restart, "*"), (Encoder.restart, client.tag), ("x", "*"),
        ] { _ = await ask(client, body, token: client.token, fragment + [("if-match", match)]) }
        _ = await ask(client, Encoder.restart, token: client.token, fragment)
        _ = await ask(client, Encoder.restart, token: client.token, Encoder.sdp)
      default: _ = await ask(client, "", token: client.token, [])
      }
      _ = await client.ask(.delete)
    }
    #expect(
      statuses.isSuperset(of: [200, 201, 204, 400, 401, 403, 409, 412, 413, 415, 422, 428]), "\(statuses)")
    let (status, output) = try Script.run("scripts/check-openapi", lines)
    #expect(status == 0, "\(output)")
    #expect(output.contains("\(lines.count) answers"))
  }

  @Test func `an offer that can't be answered says why`() async throws {
    let house = try House()
    let offer = try Encoder.offer().replacing("a=fingerprint", with: "a=none")
    let answer = await house.ask(
      .post, "/whip/demo", offer, token: Encoder.token("cam"), headers: Encoder.sdp)
    #expect(
      answer.status == 422 && answer.problem == "offer-refused"
        && answer.detail?.contains("fingerprint") == true)
  }
}
