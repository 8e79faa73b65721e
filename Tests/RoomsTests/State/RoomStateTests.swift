import AccessTokens
import Model
import Negotiation
import Peer
import Testing

@testable import Engine
@testable import Rooms

/// A room's state by itself: what goes wrong first.
@Suite("A room as a value", .timeLimit(.minutes(1)))
struct RoomStateTests {
  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  private func offerRefusal(_ reply: RoomReply) -> String {
    if case .offerRefused(let error) = reply { error.description } else { "-" }
  }

  // MARK: - Coming and going

  @Test func `a participant that is refused leaves nothing behind`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0, maxParticipants: 1))
    #expect(throws: JoinError.removed) { _ = try run.join("eve", isForbidden: true) }
    #expect(run.events.isEmpty && run.state.members.isEmpty && run.done == ["ended - 0"])
    _ = try run.join("ada")
    #expect(throws: JoinError.full(limit: 1)) { _ = try run.join("bob") }
    var large = Newcomer(identity: "ada", grants: .join("r"))
    large.metadata = String(repeating: "x", count: 70_000)
    #expect(throws: JoinError.tooLarge(.part("metadata"))) { _ = try run.join(large) }
    #expect(run.kinds() == ["room.started", "participant.joined"] && run.state.members.count == 1)
  }

  @Test func `a participant that joins again takes its older session's place, also in a full room`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0, maxParticipants: 1))
    let old = try run.join("ada")
    let new = try run.join("ada")
    #expect(old.member == nil && new.member != nil && run.sessions == 1)
    #expect(run.kinds(after: 2) == ["participant.left", "participant.joined"])
    guard case .closed(.duplicateIdentity)? = old.notices.last else {
      Issue.record("the older one is not closed")
      return
    }
    #expect(refusal(old.ask(.mute("TR_x", true))) == .gone)
  }

  @Test func `a hidden participant is in no event, and the last to leave ends the room`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0))
    let ghost = try run.join("ghost") { $0.hidden = true }
    #expect(run.kinds() == ["room.started"])
    ghost.ask(.leave(.left))
    #expect(run.kinds() == ["room.started", "room.finished"])
    #expect(run.done == ["admit ghost", "dismiss left", "ended left 0"])
  }

  @Test func `all leave a room that closes, and a participant on its way in leaves on arrival`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio], receivers: 1)
    run.handle(.close(.roomClosed))
    #expect(run.state.members.isEmpty && run.sessions == 0)
    #expect(run.done.last == "ended roomClosed 0", "it does not wait")
    let late = try run.join("late")
    #expect(late.member == nil && run.sessions == 0)
    let closes = run.commands.filter { if case .close = $0 { true } else { false } }
    #expect(closes.count == 1)
  }

  @Test func `a participant that joins while the server drains learns its deadline`() throws {
    let run = StateRun()
    run.handle(.drain(until: WallTime(milliseconds: 5)))
    let ada = try run.join("ada")
    #expect(ada.notices.contains { if case .draining = $0 { true } else { false } })
  }

  // MARK: - Offers

  @Test func `an offer that can't be taken changes nothing and keeps no place`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    #expect(offerRefusal(ada.ask(.offer("v=1", [], on: .first))).hasPrefix("the SDP can't be read"))
    run.places = 0
    #expect(throws: OfferError.self) { try ada.offer([.audio]) }
    run.places = 1
    // A track that is named and isn't there.
    let stranger = [OfferedTrack(mid: "9", source: .camera)]
    #expect(offerRefusal(ada.ask(.offer(RoomTests.audioOffer, stranger, on: .first))).contains("tracks.mid"))
    let gone = TransportID(number: 7)
    #expect(offerRefusal(ada.ask(.offer(RoomTests.audioOffer, [], on: gone))) == OfferError.gone.description)
    #expect(run.added.isEmpty && run.places == 1 && ada.tracks.isEmpty)
    _ = try ada.offer([.audio])
    #expect(run.added.count == 1 && run.places == 0 && run.released.isEmpty)
  }

  @Test func `an offer none of whose sections is accepted gives its place back`() throws {
    let run = StateRun()
    let ada = try run.join("ada") { $0.canPublish = false }
    let answer = try ada.offer([.audio])
    #expect(answer.tracks.isEmpty && answer.declined.map(\.code) == ["not-allowed"])
    #expect(run.released.count == 1 && run.added.isEmpty && ada.transport()?.peer == nil)
  }

  @Test func `a track is offered to those who may have it, in a slot or waiting for one`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let deaf = try run.join("deaf") { $0.canSubscribe = false }
    _ = try deaf.offer(receivers: 1)
    let ada = try run.join("ada")
    let answer = try ada.offer([.video, .video])
    #expect(answer.tracks.map(\.track) == ada.tracks.map(\.id))
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == [ada.tracks[0].id])
    #expect(bob.transport()?.announced == [ada.tracks[1].id: .waiting(.noSlot)])
    #expect(deaf.transport()?.slots.slots.compactMap(\.track) == [])
    // Both in one notice, and what lacks is asked for once.
    let wanted = bob.notices.compactMap {
      if case .on(.first, .offerWanted(let a, let v)) = $0 { [a, v] } else { nil }
    }
    #expect(wanted == [[0, 1]])
  }

  // MARK: - Mutes and permissions

  @Test func `a mute stands in one place, and each lifts its own`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio])
    let track = ada.tracks[0].id.text
    let key = try #require(ada.transport()?.published[0].key)
    #expect(refusal(ada.ask(.mute("TR_x", true))) == .unknownTrack)
    ada.ask(.mute(track, true))
    #expect(run.isMuted(key) == true)
    run.handle(.administration(.mute(track: track, of: "ada", true)))
    #expect(refusal(ada.ask(.mute(track, false))) == .mutedByAdmin)
    run.handle(.administration(.mute(track: track, of: "ada", false)))
    #expect(run.isMuted(key) == true && ada.tracks[0].muted)
    ada.ask(.mute(track, false))
    #expect(run.isMuted(key) == false && !ada.tracks[0].muted)
    #expect(run.kinds(after: 3) == ["track.muted", "track.muted", "track.muted", "track.unmuted"])
    // The same once more is no event.
    ada.ask(.mute(track, false))
    #expect(run.events.count == 7)
  }

  @Test func `what is no longer allowed ends at once, and comes back only by an offer`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let ada = try run.join("ada")
    _ = try ada.offer([.audio])
    let key = try #require(ada.transport()?.published[0].key)
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(false)
    run.handle(.administration(.changeParticipant("ada", patch)))
    #expect(ada.tracks.isEmpty && run.isMuted(key) == true)
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == [])
    #expect(try ada.offer().tracks.isEmpty)
    patch.permissions.canPublish = .set(true)
    run.handle(.administration(.changeParticipant("ada", patch)))
    #expect(ada.tracks.isEmpty)
    #expect(try ada.offer().tracks.count == 1)
    #expect(run.isMuted(key) == false && bob.transport()?.slots.slots.compactMap(\.track).count == 1)
    // And what others publish.
    patch = ParticipantPatch()
    patch.permissions.canSubscribe = .set(false)
    run.handle(.administration(.changeParticipant("bob", patch)))
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == [])
    #expect(
      refusal(bob.ask(.subscribe(ada.tracks[0].id.text, mid: nil, PicturePreference(), on: .first)))
        == .notAllowed("subscribing (canSubscribe)"))
  }

  @Test func `a removal ends the session of that identity, and no other`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio])
    run.handle(.administration(.remove("eve")))
    #expect(run.state.members.count == 1)
    run.handle(.administration(.remove("ada")))
    #expect(run.state.members.isEmpty && run.done.suffix(2) == ["dismiss removed", "ended removed 20"])
    // Who was past the door then is asked again inside.
    #expect(throws: JoinError.removed) { _ = try run.join("ada", isForbidden: true) }
    #expect(throws: RequestError.gone) { _ = try ada.open(.publishes) }
    #expect(refusal(ada.ask(.present(after: 0))) == .gone)
  }

  // MARK: - Away

  @Test func `a participant absent longer than the grace is lost, and the alarm comes in time`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    ada.ask(.absent)
    #expect(run.alarm == run.now + .seconds(15))
    run.now = run.now + .seconds(14)
    run.handle(.alarm)
    #expect(ada.member != nil)
    #expect(refusal(ada.ask(.present(after: 2))) == nil && run.alarm == .never)
    ada.ask(.absent)
    run.now = run.now + .seconds(15)
    run.handle(.alarm)
    #expect(ada.member == nil && run.done.suffix(2) == ["dismiss connectionLost", "ended connectionLost 20"])
  }

  @Test func `a participant that resumes gets what it missed, and the present state`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer(receivers: 1)
    ada.ask(.absent)
    let bob = try run.join("bob")
    _ = try bob.offer([.audio])
    #expect(refusal(ada.ask(.present(after: 900))) == .gone, "a number that was never reached")
    #expect(refusal(ada.ask(.present(after: 2))) == nil)
    guard case .resumed(let resumed)? = ada.notices.last else {
      Issue.record("nothing is resumed")
      return
    }
    #expect(resumed.missed.map(\.id) == [3, 4] && resumed.lastEvent == 4)
    #expect(resumed.transport(.first)?.slots.compactMap(\.track) == bob.tracks.map(\.id))
  }

  // MARK: - What it costs

  /// Requests that the identity can still pay.
  private func remaining(_ client: StateClient) -> Int {
    var count = 0
    while refusal(client.ask(.mute("TR_x", true))) == .unknownTrack { count += 1 }
    return count
  }

  @Test func `a participant pays at joining for the state of the others, and can load its page again`() throws
  {
    let run = StateRun()
    for number in 0..<5 {
      var grants = Grants.join("r")
      grants.canUpdateOwnMetadata = true
      _ = try run.join(
        Newcomer(
          identity: "\(number)", metadata: String(repeating: "x", count: 60_000), grants: grants, opens: nil))
    }
    let ada = try run.join("ada", opening: nil)
    // Five of 60,000 bytes are 300,000 and some: 36 times 8 KiB.
    #expect(remaining(ada) == 100 - 1 - 36)
    for number in 5..<10 {
      _ = try run.join(
        Newcomer(
          identity: "\(number)", metadata: String(repeating: "x", count: 60_000), grants: .join("r"),
          opens: nil))
    }
    run.now = run.now + .seconds(10)
    _ = try run.join("eve")
    let eve = try run.join("eve")
    #expect(remaining(eve) == 0 && eve.member != nil)
    #expect(throws: JoinError.tooOften) { _ = try run.join("eve") }
    // Who hides is given to no one.
    let small = StateRun()
    _ = try small.join(
      Newcomer(identity: "0", metadata: String(repeating: "x", count: 60_000), grants: .join("r")))
    _ = try small.join("ghost") { $0.hidden = true }
    #expect(remaining(try small.join("uta")) == 92)
  }

  @Test func `tracks that end because their sections are declined are paid for`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer(Array(repeating: .audio, count: 20))
    let answer = try ada.offer { $0.replacing("a=rtcp-mux\r\n", with: "") }
    #expect(answer.tracks.isEmpty && ada.tracks.isEmpty && answer.declined.count == 20)
    #expect(remaining(ada) == 100 - 1 - 21 - 21)
  }

  @Test func `what can't be paid declines nothing`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer(Array(repeating: .audio, count: 20))
    for _ in 0..<70 { ada.ask(.mute("TR_x", true)) }
    #expect(throws: OfferError.self) { _ = try ada.offer { $0.replacing("a=rtcp-mux\r\n", with: "") } }
    #expect(ada.tracks.count == 20)
    run.now = run.now + .seconds(5)
    #expect(try ada.offer([.video]).tracks.count == 21, "the offer is as if it had never come")
  }

  @Test func `an event that carries a participant's state is paid for, also where the server says it`() throws
  {
    let run = StateRun()
    let ada = try run.join(
      Newcomer(identity: "ada", metadata: String(repeating: "x", count: 60_000), grants: .join("r")))
    _ = try ada.offer([.audio])
    let peer = try #require(ada.transport()?.peer)
    func sample(_ heard: Duration) {
      let quality = PeerQuality(loss: 0, roundTrip: .zero, lastHeard: run.now + heard, bitrates: Bitrates())
      run.handle(.samples([PeerSample(peer: peer, quality: quality, levels: [])]))
    }
    run.now = run.now + .seconds(30)
    sample(.seconds(-11))
    sample(.zero)
    #expect(run.kinds().suffix(2) == ["participant.reconnecting", "participant.reconnected"])
    #expect(remaining(ada) == 100 - 8 - 8)
  }

  @Test func `speakers that have left are remembered nowhere`() throws {
    let run = StateRun()
    let deaf = try run.join("deaf") { $0.canSubscribe = false }
    _ = try deaf.offer(receivers: 1)
    for number in 0..<5 {
      let speaker = try run.join("speaker \(number)")
      _ = try speaker.offer([.audio])
      let track = try #require(speaker.transport()?.published.first?.key)
      for _ in 0..<6 {
        run.now = run.now + .milliseconds(200)
        let quality = PeerQuality(loss: 0, roundTrip: .zero, lastHeard: run.now, bitrates: Bitrates())
        let level = TrackLevel(attenuation: 5, lastPacket: run.now)
        run.handle(.samples([PeerSample(peer: track.peer, quality: quality, levels: [(track, level)])]))
      }
      #expect(deaf.transport()?.slots.lastSpoke.count == 1)
      speaker.ask(.leave(.left))
      #expect(deaf.transport()?.slots.lastSpoke.isEmpty == true)
    }
  }

  @Test func `who comes into a room in which no media is left hears of no one who spoke`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio])
    let track = try #require(ada.transport()?.published.first?.key)
    for _ in 0..<6 {
      run.now = run.now + .milliseconds(200)
      let quality = PeerQuality(
        loss: 9, roundTrip: .zero, lastHeard: run.now, bitrates: Bitrates(received: 5, sent: 7))
      let level = TrackLevel(attenuation: 5, lastPacket: run.now)
      run.handle(.samples([PeerSample(peer: track.peer, quality: quality, levels: [(track, level)])]))
    }
    #expect(run.state.speaking.count == 1)
    let silent = try run.join("silent", opening: nil)
    ada.ask(.leave(.left))
    // As the directory says once of a room whose media has ended.
    run.handle(.samples([]))
    #expect(run.state.speaking.isEmpty)
    #expect(silent.notices.contains { if case .speakers(let found) = $0 { found.isEmpty } else { false } })
  }

  @Test func `what differs in bytes alone is a change`() throws {
    let run = StateRun(settings: RoomSettings(metadata: "caf\u{e9}"))
    let ada = try run.join("ada") { $0.canUpdateOwnMetadata = true }
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    for name in [one, two] {
      ada.ask(.update(ParticipantChange(name: name)))
      #expect(ada.member?.info.name?.isExactly(name) == true)
    }
    #expect(run.events.count { $0.kind == .participantUpdated } == 2)
    for name in [one, two] {
      var patch = ParticipantPatch()
      patch.metadata = .set(name)
      run.handle(.administration(.changeParticipant("ada", patch)))
    }
    #expect(run.events.count { $0.kind == .participantUpdated } == 4)
    var patch = RoomPatch()
    patch.metadata = .set(two)
    run.handle(.administration(.change(patch)))
    #expect(run.state.settings.metadata?.isExactly(two) == true && run.events.last?.kind == .roomUpdated)
    run.handle(.administration(.change(patch)))
    #expect(run.events.count { $0.kind == .roomUpdated } == 1, "nothing has changed")
  }

  @Test func `participants of other bytes are others`() throws {
    let run = StateRun()
    let one = try run.join("caf\u{e9}")
    let two = try run.join("cafe\u{301}")
    #expect(one.member != nil && two.member != nil && run.sessions == 2)
    run.handle(.administration(.remove("cafe\u{301}")))
    #expect(one.member != nil && two.member == nil)
    let three = try run.join("cafe\u{301}")
    let message = DataRequest(
      payload: Array("x".utf8), topic: nil, reliable: true, destinations: ["cafe\u{301}"])
    _ = try run.join("uta").ask(.send(message))
    #expect(three.notices.contains { if case .data = $0 { true } else { false } })
    #expect(!one.notices.contains { if case .data = $0 { true } else { false } })
    #expect(remaining(one) == 99, "it pays for itself alone")
  }

  @Test func `an identity that asks too often is refused, and coming again doesn't help`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    var asked = 0
    while refusal(ada.ask(.mute("TR_x", true))) == .unknownTrack { asked += 1 }
    #expect(asked == 99 && refusal(ada.ask(.mute("TR_x", true))) == .tooOften)
    #expect(throws: JoinError.tooOften) { _ = try run.join("ada") }
    #expect(ada.member != nil, "what session it has stays")
    run.now = run.now + .milliseconds(50)
    #expect(refusal(ada.ask(.mute("TR_x", true))) == .unknownTrack)
  }
}
