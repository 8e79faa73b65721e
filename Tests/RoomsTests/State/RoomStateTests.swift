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

  @Test func `who may not come in leaves nothing behind`() throws {
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

  @Test func `who comes again takes the older one's place, also in a full room`() throws {
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

  @Test func `who hides is in no event, and the last to leave ends the room`() throws {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0))
    let ghost = try run.join("ghost") { $0.hidden = true }
    #expect(run.kinds() == ["room.started"])
    ghost.ask(.leave(.left))
    #expect(run.kinds() == ["room.started", "room.finished"])
    #expect(run.done == ["admit ghost", "dismiss left", "ended left 0"])
  }

  @Test func `in a room that closes everybody leaves, and who is on the way in leaves on arrival`() throws {
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

  @Test func `who comes while the server drains learns by when it has to be gone`() throws {
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
    let wanted = bob.notices.compactMap { if case .offerWanted(let a, let v) = $0 { [a, v] } else { nil } }
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
      refusal(bob.ask(.subscribe(ada.tracks[0].id.text, mid: nil, on: .first)))
        == .notAllowed("subscribing (canSubscribe)"))
  }

  @Test func `a removal ends who is in, and no other`() throws {
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

  @Test func `who is absent longer than the grace is lost, and called for in time`() throws {
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

  @Test func `who comes back gets what it missed, and how things are`() throws {
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
    #expect(resumed.slots.compactMap(\.track) == bob.tracks.map(\.id))
  }

  // MARK: - What it costs

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
