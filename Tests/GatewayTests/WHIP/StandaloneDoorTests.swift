import AccessTokens
import Engine
import Foundation
import HTTPServer
import Model
import Rooms
import Testing
import Wire

@testable import Gateway

/// What RFC 9725 and draft-ietf-wish-whep ask of a server, over HTTP; docs/whip-whep.md has a row for each of these tests.
@Suite("WHIP and WHEP over HTTP", .timeLimit(.minutes(2)))
struct StandaloneDoorTests {
  static let doors = ["whip", "whep"]

  private func client(_ house: House, _ door: String, _ identity: String = "one") async throws -> Encoder {
    door == "whip" ? try await Encoder.whip(house, identity) : try await Encoder.whep(house, identity)
  }

  @Test(arguments: doors)
  func `an offer is answered by 201 with the session's URL, its tag and the answer`(door: String) async throws
  {
    let house = try House()
    let client = try await client(house, door)
    #expect(client.answer.status == 201 && client.answer.headers["content-type"] == "application/sdp")
    #expect(client.location.hasPrefix("/\(door)/demo/") && client.location.utf8.count > 30)
    #expect(client.tag.hasPrefix("\"") && client.tag.hasSuffix("\"") && client.tag.utf8.count > 10)
    #expect(client.answer.headers["cache-control"] == "no-store")
    let other = try await self.client(house, door, "two")
    #expect(other.location != client.location && other.tag != client.tag)
    let sections = client.sections
    #expect(sections.count == 2 && sections.map(\.mid) == ["0", "1"])
    #expect(sections.allSatisfy { $0.shared.direction == (door == "whip" ? .recvonly : .sendonly) })
  }

  @Test(arguments: doors)
  func `the answer has every candidate, and bundles all with rtcp-mux-only`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    let answer = try SessionDescription(parsing: client.answer.text)
    #expect(answer.groups.map(\.mids) == [["0", "1"]] && answer.isICELite)
    for section in answer.media {
      #expect(section.rtcpMux && section.others.contains(OtherAttribute(name: "rtcp-mux-only")))
      #expect(section.candidates.count == 1 && section.shared.endOfCandidates)
      #expect(section.candidates[0].port == house.engine.port)
      #expect(section.shared.setup == .passive && section.shared.fingerprints.count == 1)
    }
  }

  @Test func `a player's sections have one stream, and more are in pairs`() async throws {
    let house = try House()
    let one = try await Encoder.whep(house, "one")
    let streams = one.sections.map { $0.streams.map(\.streamID) }
    #expect(streams.allSatisfy { $0.count == 1 } && Set(streams.flatMap(\.self)).count == 1)
    let many = try await Encoder.whep(house, "many", audio: 2, video: 2)
    let ids = many.sections.compactMap { $0.streams.first?.streamID }
    #expect(ids.count == 4 && ids[0] == ids[2] && ids[1] == ids[3] && ids[0] != ids[1])
  }

  @Test(arguments: doors)
  func `another content type and SDP that can't be read are refused`(door: String) async throws {
    let house = try House()
    let token = Encoder.token("one")
    for (type, body, status, problem) in [
      ("text/plain", try Encoder.offer(), 415, "content-type"),
      ("application/json", "{}", 415, "content-type"),
      ("application/sdp", "", 400, "sdp"), ("application/sdp", "v=0\r\no=x\r\n", 400, "sdp"),
      ("application/sdp", "\u{0}", 400, "sdp"),
      ("application/sdp", String(repeating: "a", count: 262_145), 413, "too-large"),
      ("application/sdp", "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n", 422, "sections-declined"),
    ] {
      let answer = await house.ask(
        .post, "/\(door)/demo", body, token: token, headers: [("content-type", type)])
      #expect(
        answer.status == status && answer.problem == problem, "\(type) \(body.prefix(20)): \(answer.text)")
      #expect(
        answer.headers["content-type"] == "application/problem+json" && answer.headers["location"] == nil)
    }
    let right = await house.ask(
      .post, "/\(door)/demo",
      try Encoder.offer(sending: door == "whip" ? [.audio] : [], audio: door == "whip" ? 0 : 1),
      token: token, headers: [("content-type", "Application/SDP; charset=utf-8")])
    #expect(right.status == 201)
  }

  @Test(arguments: doors)
  func `a section that can't be accepted refuses the whole offer, and says which`(door: String) async throws {
    let house = try House()
    let offer = try Encoder.offer(
      sending: door == "whip" ? [.audio, .video] : [], audio: door == "whip" ? 0 : 1,
      video: door == "whip" ? 0 : 1)
    let wrong = door == "whip" ? "sendonly" : "recvonly"
    for (text, code) in [
      (
        ["VP8", "VP9", "H264", "H265", "AV1"].reduce(offer) {
          $0.replacing("\($1)/90000", with: "X\($1)/90000")
        }, "codec"
      ),
      (offer.replacing("m=video", with: "m=text"), "unsupported"),
      (offer.replacing("a=\(wrong)", with: "a=inactive"), "direction"),
      (offer.replacing("a=\(wrong)", with: wrong == "sendonly" ? "a=recvonly" : "a=sendonly"), "direction"),
      (
        offer + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:9\r\na=sctp-port:5000\r\n",
        "unsupported"
      ),
    ] {
      let answer = await house.ask(
        .post, "/\(door)/demo", text, token: Encoder.token("one"), headers: Encoder.sdp)
      #expect(answer.status == 422 && answer.problem == "sections-declined", "\(code): \(answer.text)")
      let sections = answer["sections"] as? [[String: String]] ?? []
      #expect(
        sections.contains { $0["code"] == code } && sections.allSatisfy { $0["mid"] != nil }, "\(answer.text)"
      )
    }
    #expect(await house.ask(.get, "/v1/rooms/demo/participants").items.isEmpty)
  }

  @Test(arguments: doors)
  func `sendrecv is narrowed to one direction`(door: String) async throws {
    let house = try House()
    let offer = try Encoder.offer(
      sending: door == "whip" ? [.audio, .video] : [], audio: door == "whip" ? 0 : 1,
      video: door == "whip" ? 0 : 1)
    let both = offer.replacing("a=sendonly", with: "a=sendrecv").replacing("a=recvonly", with: "a=sendrecv")
    let client = await Encoder(house, door, Encoder.token("one"), "demo", both)
    #expect(client.answer.status == 201)
    #expect(client.sections.allSatisfy { $0.shared.direction == (door == "whip" ? .recvonly : .sendonly) })
  }

  @Test func `an encoder that is DTLS client for good is answered by passive`() async throws {
    let house = try House()
    let offer = try Encoder.offer().replacing("a=setup:actpass", with: "a=setup:active")
    let client = await Encoder(house, "whip", Encoder.token("cam"), "demo", offer)
    #expect(client.answer.status == 201 && client.sections.allSatisfy { $0.shared.setup == .passive })
  }

  @Test func `a simulcast is answered by the same encodings`() async throws {
    let house = try House()
    let offer = try Encoder.offer(sending: [.video]).replacing(
      "a=sendonly\r\n",
      with: "a=sendonly\r\na=extmap:9 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n"
        + "a=rid:f send\r\na=rid:h send\r\na=rid:q send\r\na=simulcast:send f;h;q\r\n")
    let client = await Encoder(house, "whip", Encoder.token("cam"), "demo", offer)
    #expect(client.sections[0].rids.map(\.rid) == ["f", "h", "q"])
    #expect(client.sections[0].simulcast?.receive.map { $0.map(\.rid) } == [["f"], ["h"], ["q"]])
  }

  @Test(arguments: doors)
  func `GET and HEAD say without content that it is there, of endpoints without a token`(door: String)
    async throws
  {
    let house = try House()
    let client = try await client(house, door)
    for method in [HTTPMethod.get, .head] {
      let endpoint = await house.ask(method, "/\(door)/demo", token: nil)
      #expect((200..<300).contains(endpoint.status) && endpoint.text.isEmpty)
      // Players know a WHEP endpoint by its type.
      #expect(endpoint.headers["content-type"] == (door == "whep" ? "application/sdp" : nil))
      let session = await client.ask(method)
      #expect((200..<300).contains(session.status) && session.text.isEmpty)
      #expect(await house.ask(method, client.location, token: nil).status == 401)
    }
    #expect(await house.ask(.get, "/\(door)/none", token: nil).status == (door == "whep" ? 200 : 204))
  }

  @Test(arguments: doors)
  func `a method that isn't served is answered with those that are`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    for method in [HTTPMethod.put, .patch, .delete] {
      let answer = await house.ask(method, "/\(door)/demo", token: client.token)
      #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD, POST, OPTIONS")
    }
    for method in [HTTPMethod.put, .post] {
      let answer = await client.ask(method)
      #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD, PATCH, DELETE, OPTIONS")
    }
    for path in ["/\(door)", "/\(door)/demo/a/b", "/\(door)/"] {
      #expect([400, 404].contains(await house.ask(.post, path, token: client.token).status), "\(path)")
    }
  }

  @Test(arguments: doors)
  func `OPTIONS says what may be sent, and pages of other origins may send it`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    let page = [
      ("origin", "https://studio.example"), ("access-control-request-method", "POST"),
      ("access-control-request-headers", "authorization,content-type"),
    ]
    let endpoint = await house.ask(.options, "/\(door)/demo", token: nil, headers: page)
    #expect(endpoint.status == 200 && endpoint.headers["accept-post"] == "application/sdp")
    #expect(endpoint.headers["access-control-allow-origin"] == "*")
    #expect(endpoint.headers["access-control-allow-methods"]?.contains("POST") == true)
    let session = await house.ask(.options, client.location, token: nil, headers: page)
    #expect(session.status == 200 && session.headers["accept-patch"] == "application/trickle-ice-sdpfrag")
    let methods = session.headers["access-control-allow-methods"] ?? ""
    #expect(methods.contains("PATCH") && methods.contains("DELETE"))
    for name in ["authorization", "content-type", "if-match"] {
      #expect(session.headers["access-control-allow-headers"]?.contains(name) == true)
    }
    let answer = await house.ask(
      .post, "/\(door)/demo", "", token: nil, headers: [("origin", "https://studio.example")])
    #expect(answer.status == 401 && answer.headers["access-control-allow-origin"] == "*")
    for name in ["location", "etag", "link"] {
      #expect(answer.headers["access-control-expose-headers"]?.contains(name) == true)
    }
    let strict = try House { $0.crossOrigin = CrossOrigin(origins: ["https://desk.example"]) }
    let refused = await strict.ask(.options, "/\(door)/demo", token: nil, headers: page)
    #expect(refused.headers["access-control-allow-origin"] == nil)
  }

  @Test(arguments: doors)
  func `ICE servers are named by Link, to who has a token, and to no preflight`(door: String) async throws {
    let house = try House {
      $0.iceServers = ICEServers(
        stunURLs: ["stun:stun.example"], turnURLs: ["turn:turn.example?transport=udp", "turns:turn.example"],
        turnSecret: "a secret")
    }
    let client = try await client(house, door)
    let links = client.answer.headers.all("link")
    #expect(links.count == 3 && links[0] == #"<stun:stun.example>; rel="ice-server""#)
    for (link, url) in zip(links.dropFirst(), ["turn:turn.example?transport=udp", "turns:turn.example"]) {
      #expect(link.hasPrefix(#"<\#(url)>; rel="ice-server"; username=""#), "\(link)")
      #expect(link.contains(#"; credential=""#) && link.hasSuffix(#"; credential-type="password""#))
    }
    let asked = await house.ask(.options, "/\(door)/demo", token: client.token)
    #expect(asked.headers.all("link").count == 3)
    #expect(await house.ask(.options, "/\(door)/demo", token: nil).headers["link"] == nil)
    let preflight = await house.ask(
      .options, "/\(door)/demo", token: client.token, headers: [("access-control-request-method", "POST")])
    #expect(preflight.headers["link"] == nil)
    let plain = try await self.client(try House(), door)
    #expect(plain.answer.headers["link"] == nil)
  }

  // MARK: - ICE

  @Test(arguments: doors)
  func `candidates are taken by 204 without a tag`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    let candidates = [
      "1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag clientclient network-id 1",
      "473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0",
      "3 1 udp 2122260223 8a3f.local 5 typ host", "4 1 quic 1 192.0.2.1 5 typ host",
    ]
    let answer = await client.patch(Encoder.fragment(candidates: candidates), match: client.tag)
    #expect(answer.status == 204 && answer.text.isEmpty && answer.headers["etag"] == nil)
    #expect(await client.patch("a=end-of-candidates\r\n", match: client.tag).status == 204)
    #expect(await client.patch(Encoder.fragment(), match: "\"x\", \(client.tag)").status == 204)
  }

  @Test(arguments: doors)
  func `a tag that is missing is 428, and one that isn't in force 412`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    let missing = await client.patch(Encoder.fragment(), match: nil)
    #expect(missing.status == 428 && missing.problem == "if-match-missing")
    for stale in ["\"none\"", "W/\(client.tag)", "x", "\"", ""] {
      let answer = await client.patch(Encoder.fragment(), match: stale)
      #expect(answer.status == 412 && answer.problem == "if-match-stale", "\(stale)")
    }
    #expect(await client.patch(Encoder.restart, match: "*").status == 200)
    #expect(await client.patch(Encoder.fragment(), match: client.tag).status == 412)
  }

  @Test(arguments: doors, ["*", "\"*\""])
  func `ICE restarts under another tag and with our new credentials`(door: String, match: String) async throws
  {
    let house = try House()
    let client = try await client(house, door)
    let answer = await client.patch(Encoder.restart, match: match)
    #expect(answer.status == 200 && answer.headers["content-type"] == "application/trickle-ice-sdpfrag")
    let tag = try #require(answer.headers["etag"])
    #expect(tag != client.tag && tag.hasPrefix("\"") && tag.hasSuffix("\""))
    let fragment = try ICEFragment(parsing: Array(answer.text.utf8))
    let before = client.sections[0].shared
    #expect(fragment.isICELite && fragment.credentials?.ufrag != before.iceUfrag)
    #expect(fragment.credentials?.password != before.icePassword)
    #expect(fragment.iceOptions == before.iceOptions && fragment.groups.map(\.mids) == [["0", "1"]])
    #expect(fragment.sections.count == 1 && fragment.sections[0].candidates == client.sections[0].candidates)
    // From here on candidates are of the new session.
    let known = Encoder.fragment(ufrag: "another", password: "anotheranotheranotheranother")
    #expect(await client.patch(known, match: tag).status == 204)
    #expect(await client.ask(.get).status == 204)
  }

  @Test func `other credentials restart ICE also under the tag in force`() async throws {
    let house = try House()
    let client = try await Encoder.whip(house)
    let answer = await client.patch(Encoder.restart, match: client.tag)
    #expect(answer.status == 200 && answer.headers["etag"] != client.tag)
  }

  @Test(arguments: doors)
  func `a fragment that can't be read, or of another type, is refused and changes nothing`(door: String)
    async throws
  {
    let house = try House()
    let client = try await client(house, door)
    for (body, type, status, problem) in [
      ("", "application/trickle-ice-sdpfrag", 400, "sdp"),
      ("x", "application/trickle-ice-sdpfrag", 400, "sdp"),
      ("v=0\r\n", "application/trickle-ice-sdpfrag", 400, "sdp"),
      ("a=candidate:nonsense\r\n", "application/trickle-ice-sdpfrag", 400, "sdp"),
      ("a=ice-ufrag:x\r\n", "application/trickle-ice-sdpfrag", 400, "sdp"),
      ("a=ice-ufrag:half\r\n", "application/trickle-ice-sdpfrag", 400, "ice-credentials"),
      (Encoder.fragment(ufrag: "onlythis"), "application/trickle-ice-sdpfrag", 400, "ice-credentials"),
      (String(repeating: "a=x\r\n", count: 20_000), "application/trickle-ice-sdpfrag", 413, "too-large"),
      (Encoder.restart, "application/sdp", 415, "content-type"),
      (Encoder.restart, "text/plain", 415, "content-type"),
    ] {
      let answer = await client.patch(body, match: "*", type: type)
      #expect(answer.status == status && answer.problem == problem, "\(body.prefix(30)): \(answer.text)")
      if status == 415 { #expect(answer.headers["accept-patch"] == "application/trickle-ice-sdpfrag") }
    }
    #expect(await client.patch(Encoder.fragment(), match: client.tag).status == 204, "it goes on as before")
  }

  @Test(arguments: doors)
  func `DELETE ends a session whatever tag it names, and its URL is nothing then`(door: String) async throws {
    let house = try House()
    let client = try await client(house, door)
    let answer = await client.ask(.delete, headers: [("if-match", "\"another\"")])
    #expect(answer.status == 200 && answer.text.isEmpty)
    for method in [HTTPMethod.get, .delete] {
      let gone = await client.ask(method)
      #expect(gone.status == 404 && gone.problem == "session-not-found")
    }
    #expect(await client.patch(Encoder.restart, match: "*").status == 404)
    #expect(await client.participants().isEmpty)
  }
}
