import AccessTokens
import Foundation
import Model
import Negotiation
import Peer
import Testing
import Wire

@testable import Engine
@testable import Rooms

/// What is watched of a simulcast, as its publisher hears of it: a client by WHIP has no way to hear of anything.
@Suite("What is watched, by WHIP", .timeLimit(.minutes(1)))
struct StandaloneAdviceTests {
  /// An offer of three encodings, from the best to the smallest.
  private static func simulcast(_ offer: String) -> String {
    offer.replacing(
      "a=sendonly\r\n",
      with: "a=sendonly\r\na=extmap:9 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n"
        + "a=rid:f send\r\na=rid:h send\r\na=rid:q send\r\na=simulcast:send f;h;q\r\n")
  }

  /// The media plane says which encodings of a transport's first track are watched.
  private func watch(_ run: StateRun, _ transport: Transport?, _ encodings: UInt8) throws {
    let transport = try #require(transport)
    let peer = try #require(transport.peer)
    var events = PeerEvents(peer: peer)
    events.watched[transport.published[0].key.index] = encodings
    run.handle(.media(events))
  }

  private func watched(_ advice: PublishAdvice) -> String {
    advice.layers.filter { $0.isWatched }.map { $0.rid }.joined()
  }

  /// What a participant heard of each transport: the encodings that are watched.
  private func heard(_ notices: [ParticipantNotice]) -> [(transport: TransportID, watched: String)] {
    notices.flatMap { notice -> [(transport: TransportID, watched: String)] in
      switch notice {
      case .on(let id, .publish(_, let advice)): [(transport: id, watched: watched(advice))]
      case .resumed(let state): heard(state.notices)
      default: []
      }
    }
  }

  @Test func `who publishes by WHIP hears of no encoding that it is off, and has all of them taken`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.video], rewrite: Self.simulcast)
    let camera = try run.whip("cam", [.video], rewrite: Self.simulcast)
    let section = try camera.sections[0]
    #expect(section.simulcast?.receive.map { $0.map(\.rid) } == [["f"], ["h"], ["q"]])
    let (commands, events) = (run.commands.count, run.events.count)
    for encodings in [0b110, 0b100, 0, 0b111] as [UInt8] {
      for transport in [bob.transport(), run.transport(camera)] { try watch(run, transport, encodings) }
    }
    let said = heard(bob.notices).suffix(4).map(\.watched)
    #expect(said == ["hq", "q", "", "fhq"], "a page's client hears of it")
    let cam = try #require(run.member("cam"))
    #expect(heard(run.notices[cam.id] ?? []).isEmpty)
    #expect(run.commands.count == commands && run.events.count == events, "nothing else is done about it")
    let media = try #require(run.transport(camera)?.peer.flatMap { run.agreed[$0] })
    #expect(media.receive[0].encodings.map(\.rid) == ["f", "h", "q"])
  }

  @Test func `a page beside it hears of its own encodings alone, also when it comes back`() throws {
    let run = StateRun()
    let camera = try run.whip("ada", [.video], rewrite: Self.simulcast)
    let page = try run.join("ada")
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    _ = try page.offer([.video], on: native, rewrite: Self.simulcast)
    try watch(run, run.transport(camera), 0b100)
    try watch(run, page.transport(native), 0b001)
    page.ask(.absent)
    page.ask(.present(after: 0))
    let words = heard(page.notices)
    #expect(words.allSatisfy { $0.transport == native })
    #expect(words.suffix(2).map(\.watched) == ["f", "f"], "as it went on, and once more as it came back")
  }
}
