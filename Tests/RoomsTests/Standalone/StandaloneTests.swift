import AccessTokens
import Foundation
import Model
import Negotiation
import Peer
import Testing
import Wire

@testable import Engine
@testable import Rooms

@Suite("Transports without a socket", .timeLimit(.minutes(1)))
struct StandaloneTests {
  @Test func `an encoder's offer makes a participant, whose tracks are in the room`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let end = try run.whip("cam")
    #expect(run.tracks("cam").map(\.source) == [.microphone, .camera])
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == run.tracks("cam").map(\.id))
    #expect(run.kinds().suffix(3) == ["participant.joined", "track.published", "track.published"])
    #expect(try end.sections.map(\.shared.direction) == [.recvonly, .recvonly])
    #expect(try end.sections.allSatisfy { $0.others.contains(OtherAttribute(name: "rtcp-mux-only")) })
    #expect(run.sessions == 2 && end.answer.participant == run.member("cam")?.id)
    #expect(end.answer.id.count == 32 && end.answer.tag.count == 16)
  }

  @Test func `a player gets what is there, and sections beyond it fill when somebody publishes`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio, .video])
    let end = try run.whep("tv", audio: 2, video: 2)
    #expect(run.shown(end).compactMap(\.self) == ada.tracks.map(\.id))
    let sections = try end.sections
    #expect(sections.map(\.shared.direction) == Array(repeating: .sendonly, count: 4))
    // In pairs: the first of each kind belong together, and so do the second.
    let streams = sections.map { $0.streams[0].streamID }
    #expect(streams[0] == streams[2] && streams[1] == streams[3] && streams[0] != streams[1])
    let bob = try run.join("bob")
    _ = try bob.offer([.audio, .video])
    #expect(Set(run.shown(end)) == Set((ada.tracks + bob.tracks).map(\.id)))
    #expect(run.kinds().filter { $0 == "participant.joined" }.count == 3)
  }

  @Test func `one section of each kind is one stream, of the one who speaks`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio, .video])
    let bob = try run.join("bob")
    _ = try bob.offer([.audio, .video])
    let end = try run.whep("tv")
    #expect(Set(try end.sections.map { $0.streams[0].streamID }).count == 1)
    func speak(_ client: StateClient) throws {
      let keys = try #require(client.member?.published.map(\.key))
      let peer = try #require(client.transport()?.peer)
      for _ in 0..<30 {
        run.now = run.now + .milliseconds(200)
        let level = TrackLevel(attenuation: 10, lastPacket: run.now)
        run.handle(
          .samples([
            PeerSample(
              peer: peer, quality: PeerQuality(loss: 0, roundTrip: .zero, lastHeard: run.now),
              levels: keys.map { ($0, level) })
          ]))
      }
    }
    try speak(bob)
    #expect(run.shown(end) == bob.tracks.map(\.id))
    try speak(ada)
    #expect(run.shown(end) == ada.tracks.map(\.id))
  }

  @Test func `a player that asks for a participant gets it alone, whenever it comes`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio, .video])
    let end = try run.whep("tv", audio: 2, video: 2, TrackSelection(participant: "bob"))
    #expect(run.shown(end).compactMap(\.self).isEmpty)
    let bob = try run.join("bob")
    _ = try bob.offer([.audio, .video])
    #expect(Set(run.shown(end).compactMap(\.self)) == Set(bob.tracks.map(\.id)))
    _ = try ada.offer([.video])
    #expect(Set(run.shown(end).compactMap(\.self)) == Set(bob.tracks.map(\.id)))
    bob.ask(.leave(.left))
    #expect(run.shown(end).compactMap(\.self).isEmpty)
    // Names are compared byte by byte.
    let other = try run.whep("tv2", TrackSelection(participant: "Ada"))
    #expect(run.shown(other).compactMap(\.self).isEmpty)
  }

  @Test func `a player that asks for a track gets it alone, and none that isn't there`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio, .video])
    let bob = try run.join("bob")
    _ = try bob.offer([.video])
    let track = ada.tracks[1].id
    let end = try run.whep("tv", TrackSelection(track: track.text))
    #expect(run.shown(end) == [nil, track])
    _ = try run.whep("tv", TrackSelection(participant: "ada", track: track.text))
    #expect(
      refusal { try run.whep("tv", TrackSelection(participant: "bob", track: track.text)) } == "unknownTrack")
    #expect(refusal { try run.whep("tv3", TrackSelection(track: "TR_none")) } == "unknownTrack")
    #expect(run.member("tv3") == nil)
  }

  @Test func `one's own tracks are played where they are asked for by name, and nowhere else`() throws {
    let run = StateRun()
    let up = try run.whip("cam")
    let all = try run.whep("cam")
    let own = try run.whep("cam", TrackSelection(participant: "cam"))
    #expect(run.shown(all).compactMap(\.self).isEmpty)
    #expect(run.shown(own) == run.tracks("cam").map(\.id))
    #expect(words(run.ask(up, .close)) == "done")
    #expect(run.shown(own).compactMap(\.self).isEmpty && run.tracks("cam").isEmpty)
    let again = try run.whip("cam", [.video])
    #expect(run.shown(own).compactMap(\.self) == run.tracks("cam").map(\.id))
    #expect(run.transport(again) != nil)
  }

  @Test func `an offer is taken as a whole or not at all, and no one has come for it`() throws {
    for (rewrite, words) in [
      (
        { (sdp: String) in
          sdp.replacing("VP8", with: "XP8").replacing("VP9", with: "XP9").replacing("H264", with: "X264")
            .replacing("H265", with: "X265").replacing("AV1", with: "XV1")
        }, "declined 1 codec"
      ),
      ({ $0.replacing("a=sendonly\r\n", with: "a=inactive\r\n") }, "declined 0 direction, 1 direction"),
      ({ $0.replacing("a=sendonly\r\n", with: "a=recvonly\r\n") }, "declined 0 direction, 1 direction"),
      ({ $0.replacing("UDP/TLS/RTP/SAVPF 1", with: "RTP/TLS 1") }, "declined"),
      ({ $0.replacing("m=video", with: "m=text") }, "declined 1 unsupported"),
      ({ _ in "v=0\r\n" }, "malformed"),
      ({ $0.replacing("a=ice-pwd", with: "a=x-pwd") }, "refused"),
      ({ String($0.prefix(upTo: $0.range(of: "m=")?.lowerBound ?? $0.endIndex)) }, "declined "),
    ] as [((String) -> String, String)] {
      let run = StateRun()
      let places = run.places
      let found = refusal { try run.whip("cam", rewrite: rewrite) }
      #expect(found.hasPrefix(words), "\(found)")
      #expect(run.state.members.isEmpty && run.events.isEmpty && run.sessions == 0, "\(words)")
      #expect(run.places == places && run.added.isEmpty, "\(words)")
    }
  }

  @Test func `a player's offer to send is left out of the answer, and so is an encoder's to receive`() throws
  {
    let run = StateRun()
    let tv = try run.whep("tv") { $0.replacing("a=recvonly", with: "a=sendrecv") }
    #expect(try tv.sections.map(\.shared.direction) == [.sendonly, .sendonly])
    #expect(run.tracks("tv").isEmpty)
    let cam = try run.whip("cam", rewrite: { $0.replacing("a=sendonly", with: "a=sendrecv") })
    #expect(try cam.sections.map(\.shared.direction) == [.recvonly, .recvonly])
    #expect(run.transport(cam)?.slots.slots.isEmpty == true)
    #expect(
      refusal { try run.whep("tv2") { $0.replacing("a=recvonly", with: "a=sendonly") } }.hasPrefix("declined")
    )
  }

  @Test func `an encoder that is DTLS client for good is answered`() throws {
    let run = StateRun()
    let cam = try run.whip("cam", rewrite: { $0.replacing("a=setup:actpass", with: "a=setup:active") })
    #expect(try cam.sections.allSatisfy { $0.shared.setup == .passive })
  }

  @Test func `a simulcast is taken by its names`() throws {
    let run = StateRun()
    let cam = try run.whip("cam", [.video]) {
      $0.replacing(
        "a=sendonly\r\n",
        with: "a=sendonly\r\na=extmap:9 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n"
          + "a=rid:h send\r\na=rid:l send\r\na=simulcast:send l;h\r\n")
    }
    let section = try cam.sections[0]
    #expect(section.rids.map { "\($0.rid) \($0.direction)" } == ["l recv", "h recv"])
    #expect(section.simulcast?.receive.count == 2)
    let key = try #require(run.transport(cam)?.peer)
    #expect(run.agreed[key]?.receive.first?.encodings.map(\.rid) == ["l", "h"])
  }

  // MARK: - By its id

  @Test func `a session is found by its id and the identity, and by nothing else`() throws {
    let run = StateRun()
    let cam = try run.whip("cam")
    _ = try run.whip("eve")
    #expect(words(run.ask(cam, .look)) == "done")
    for request in [StandaloneRequest.look, .close, .change(.any, StandaloneEnd.restarted)] {
      #expect(words(run.ask(cam, request, as: "eve")) == "foreign")
      #expect(words(run.ask(cam, request, as: "stranger")) == "foreign")
      let unknown = StandaloneName(id: "none", role: .publishes, identity: "cam")
      #expect(words(run.handle(.standalone(unknown, request))) == "unknown")
      #expect(words(run.handle(.standalone(cam.named(nil, .subscribes), request))) == "unknown")
    }
    #expect(run.transport(cam) != nil)
    #expect(words(run.ask(cam, .close)) == "done")
    #expect(run.member("cam") == nil && run.done.contains("dismiss left") && run.sessions == 1)
    #expect(words(run.ask(cam, .close)) == "unknown")
  }

  @Test func `candidates need the tag of the ICE session, and change nothing`() throws {
    let run = StateRun()
    let cam = try run.whip("cam")
    let commands = run.commands.count
    let known = StandaloneEnd.credentials
    let right = StandalonePrecondition.tags(["x", cam.answer.tag])
    #expect(words(run.ask(cam, .change(.none, known))) == "preconditionMissing")
    #expect(words(run.ask(cam, .change(.tags(["x"]), known))) == "preconditionFailed")
    #expect(words(run.ask(cam, .change(.tags([]), nil))) == "preconditionFailed")
    #expect(words(run.ask(cam, .change(right, known))) == "noted")
    #expect(words(run.ask(cam, .change(right, nil))) == "noted")
    // With `*` a restart is asked for; that there was none already is nothing that the client can know.
    #expect(words(run.ask(cam, .change(.any, known))) == "restarted")
    #expect(run.commands.count == commands && run.transport(cam)?.standalone?.tag == cam.answer.tag)
  }

  @Test func `other credentials restart ICE under another tag, and keep the rest`() throws {
    let run = StateRun()
    let cam = try run.whip("cam")
    let tracks = run.tracks("cam")
    guard
      case .changed(.restarted(let tag, let fragment)) = run.ask(cam, .change(.any, StandaloneEnd.restarted))
    else {
      Issue.record("not restarted")
      return
    }
    let before = try #require(try cam.sections[0].shared.iceUfrag)
    #expect(tag != cam.answer.tag && fragment.credentials?.ufrag != before && fragment.isICELite)
    #expect(fragment.sections.map(\.mid) == ["0"] && fragment.groups.map(\.mids) == [["0", "1"]])
    #expect(fragment.sections[0].line.hasPrefix("audio 9 UDP/TLS/RTP/SAVPF "))
    #expect(try ICEFragment(parsing: Array(fragment.text.utf8)) == fragment)
    var restarts = 0
    for case .restartICE(_, let local, let remote) in run.commands {
      restarts += 1
      #expect(local == fragment.credentials && remote == StandaloneEnd.restarted)
    }
    #expect(restarts == 1 && run.tracks("cam") == tracks)
    // The answer was lost: it is the same once more, and nothing begins.
    guard case .changed(.restarted(tag, fragment)) = run.ask(cam, .change(.any, StandaloneEnd.restarted))
    else {
      Issue.record("another answer")
      return
    }
    let begun = run.commands.count { if case .restartICE = $0 { true } else { false } }
    #expect(begun == 1 && run.transport(cam)?.standalone?.tag == tag)
    // The tag of before is stale, whatever comes with it; the same credentials once more are those in force.
    #expect(words(run.ask(cam, .change(.tags([cam.answer.tag]), nil))) == "preconditionFailed")
    #expect(words(run.ask(cam, .change(.tags([tag]), StandaloneEnd.restarted))) == "noted")
    #expect(words(run.ask(cam, .change(.tags([tag]), StandaloneEnd.credentials))) == "restarted")
  }

  @Test func `a restart that changes half of the credentials is none`() throws {
    let run = StateRun()
    let cam = try run.whip("cam")
    let known = StandaloneEnd.credentials
    for half in [
      ICECredentials(ufrag: "other", password: known.password),
      ICECredentials(ufrag: known.ufrag, password: StandaloneEnd.restarted.password),
    ] { #expect(words(run.ask(cam, .change(.any, half))) == "credentials") }
    #expect(run.transport(cam)?.standalone?.tag == cam.answer.tag)
  }

  @Test func `all of it goes on from bytes`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let cam = try run.whip("cam")
    let tv = try run.whep("ada", TrackSelection(participant: "cam"))
    try run.rebuild()
    #expect(run.transport(cam)?.standalone?.tag == cam.answer.tag)
    #expect(run.transport(tv)?.standalone?.selection == TrackSelection(participant: "cam"))
    #expect(words(run.ask(cam, .change(.tags([cam.answer.tag]), StandaloneEnd.restarted))) == "restarted")
    _ = try run.whip("cam", [.video])
    #expect(run.shown(tv).compactMap(\.self).count == 2)
    ada.ask(.leave(.left))
    #expect(run.member("ada")?.transports.count == 1, "what it plays without a socket stays")
  }
}
