import Model
import Testing
import Wire

@testable import Negotiation

@Suite("Simulcast", .timeLimit(.minutes(2)))
struct SimulcastTests {
  private let rid = "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"

  private func accepted(_ lines: [String]) throws -> (
    rids: [String], restrictions: [String], ids: HeaderExtensionMap
  ) {
    var offer = OfferText()
    offer.sections[1] += lines
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    let track = try #require(answer.agreement.media.receive.last)
    let section = answer.description.media[1]
    let rids = track.encodings.compactMap(\.rid)
    #expect(section.simulcast?.receive.map { $0.map(\.rid) } ?? [] == rids.map { [$0] })
    #expect(section.rids.map(\.rid) == rids && section.rids.allSatisfy { $0.direction == .recv })
    return (rids, section.rids.map(\.restrictions), track.extensions)
  }

  @Test func `every encoding is taken, in the order of the offer, paused or not`() throws {
    let rids = ["a=rid:a send", "a=rid:b send", "a=rid:c send"]
    #expect(try accepted([rid] + rids + ["a=simulcast:send a;b;c"]).rids == ["a", "b", "c"])
    #expect(try accepted([rid] + rids + ["a=simulcast:send c;a"]).rids == ["c", "a"])
    #expect(try accepted([rid] + rids + ["a=simulcast:send a;b;~c"]).rids == ["a", "b", "c"])
    #expect(try accepted([rid] + rids + ["a=simulcast:send c"]).rids == ["c"])
  }

  @Test func `of alternatives the first that is not paused and fits the codec is taken`() throws {
    let rids = ["a=rid:a send", "a=rid:b send", "a=rid:c send"]
    #expect(try accepted([rid] + rids + ["a=simulcast:send ~a,b;c"]).rids == ["b", "c"])
    #expect(try accepted([rid] + rids + ["a=simulcast:send ~a;~b,~c"]).rids == ["a", "b"])
    let typed = ["a=rid:a send pt=96;max-width=320", "a=rid:b send pt=98", "a=rid:c send"]
    let found = try accepted([rid] + typed + ["a=simulcast:send a;b;b,c"])
    #expect(found.rids == ["a", "c"] && found.restrictions == ["pt=96;max-width=320", ""])
  }

  @Test func `an encoding that is listed twice counts once, and of more than three the last three are taken`()
    throws
  {
    let rids = (0..<6).map { "a=rid:r\($0) send" }
    #expect(try accepted([rid] + rids + ["a=simulcast:send r0;r0;r1"]).rids == ["r0", "r1"])
    #expect(try accepted([rid] + rids + ["a=simulcast:send r0;r1;r2;r3;r4;r5"]).rids == ["r3", "r4", "r5"])
  }

  @Test func `without extension, or without its rid, it is a plain track`() throws {
    let plain = try accepted(["a=rid:a send", "a=simulcast:send a"])
    #expect(plain.rids.isEmpty && plain.ids[.rid] == 0)
    #expect(try accepted([rid, "a=simulcast:send a"]).rids.isEmpty)
    #expect(try accepted([rid, "a=rid:a recv", "a=simulcast:send a"]).rids.isEmpty)
    let unused = try accepted([rid, "a=rid:a send"])
    #expect(unused.rids.isEmpty && unused.ids[.rid] == 0)
  }

  @Test func `an encoding's stream is found by its names, not by SSRC`() throws {
    var offer = OfferText()
    offer.sections[1] += [rid, "a=rid:a send", "a=simulcast:send a"]
    var negotiator = Negotiator()
    let track = try negotiator.answer(offer).agreement.media.receive[1]
    #expect(track.ssrc == nil && track.rtxSSRC == nil && track.cname == "c")
  }

  private func streams(_ lines: [String]) throws -> [ReceiveEncoding] {
    var offer = OfferText()
    offer.sections[1].removeAll { $0.hasPrefix("a=ssrc") }
    offer.sections[1] += lines
    var negotiator = Negotiator()
    return try #require(negotiator.answer(offer).agreement.media.receive.last).encodings
  }

  @Test func `a simulcast that is announced by SSRCs alone is taken with what repairs each`() throws {
    let names = (1...6).map { "a=ssrc:\($0) cname:c" }
    let pairs = ["a=ssrc-group:FID 1 4", "a=ssrc-group:FID 2 5", "a=ssrc-group:FID 3 6"]
    #expect(
      try streams(["a=ssrc-group:SIM 1 2 3"] + pairs + names) == [
        ReceiveEncoding(ssrc: 1, rtxSSRC: 4), ReceiveEncoding(ssrc: 2, rtxSSRC: 5),
        ReceiveEncoding(ssrc: 3, rtxSSRC: 6),
      ])
    #expect(
      try streams(["a=ssrc-group:SIM 1 2"] + [pairs[1]] + names) == [
        ReceiveEncoding(ssrc: 1), ReceiveEncoding(ssrc: 2, rtxSSRC: 5),
      ])
  }

  @Test(arguments: [
    "a=ssrc-group:SIM 1", "a=ssrc-group:SIM 1 1", "a=ssrc-group:SIM 1 0", "a=ssrc-group:SIN 1 2",
  ])
  func `a group that is no simulcast leaves a plain track`(group: String) throws {
    #expect(try streams([group, "a=ssrc:1 cname:c", "a=ssrc:2 cname:c"]) == [ReceiveEncoding(ssrc: 1)])
  }
}
