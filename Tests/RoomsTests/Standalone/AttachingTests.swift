import AccessTokens
import Model
import Testing

@testable import Engine
@testable import Rooms

@Suite("A page beside WHIP and WHEP", .timeLimit(.minutes(1)))
struct AttachingTests {
  @Test func `a session attaches to a participant that is in, and is no one's second`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio])
    let cam = try run.whip("ada", [.video])
    #expect(run.state.members.count == 1 && run.sessions == 1 && cam.answer.participant == ada.id)
    #expect(run.kinds().filter { $0 == "participant.joined" }.count == 1)
    #expect(run.tracks("ada").map(\.kind) == [.audio, .video])
    // Its own page hears of the track, and of nothing that is the encoder's.
    let other = ada.notices.filter { if case .on(let id, _) = $0 { id != .first } else { false } }
    #expect(other.isEmpty)
    #expect(words(run.ask(cam, .close)) == "done")
    #expect(run.tracks("ada").map(\.kind) == [.audio] && run.sessions == 1)
  }

  @Test func `a native join attaches to who is here by WHIP alone`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.audio, .video], receivers: 1)
    let cam = try run.whip("ada", [.video])
    let id = try #require(run.member("ada")?.id)
    let before = run.events.count
    let page = try run.join("ada")
    #expect(page.id == id && run.sessions == 2 && run.events.count == before, "no one has come or gone")
    #expect(run.transport(cam) != nil && run.tracks("ada").count == 1)
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    #expect(native != .first)
    let answer = try page.offer([.audio], receivers: 1, on: native)
    #expect(answer.slots.compactMap(\.track) == bob.tracks.map(\.id))
    #expect(run.tracks("ada").map(\.kind) == [.video, .audio])
    // It leaves, and the encoder goes on; then the encoder, and the participant with it.
    page.ask(.leave(.left))
    #expect(run.tracks("ada").map(\.kind) == [.video] && run.sessions == 2)
    #expect(run.done.last == "dismiss left" && !run.kinds().contains("participant.left"))
    #expect(words(run.ask(cam, .close)) == "done")
    #expect(run.member("ada") == nil && run.sessions == 1)
    #expect(run.kinds().last == "participant.left")
  }

  @Test func `a page reaches no transport of its encoder's or player's`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.video])
    let ends = [try run.whip("ada", [.video]), try run.whep("ada")]
    let page = try run.join("ada")
    for end in ends {
      let before = try #require(run.transport(end))
      for request in [
        ParticipantRequest.offer(try StandaloneEnd.offer(audio: 1), [], on: before.id),
        .makeOffer(SlotCount(audio: 1), on: before.id), .accept(end.answer.sdp, on: before.id),
      ] {
        guard case .offerRefused(.gone) = page.ask(request) else {
          Issue.record("\(request) reaches it")
          continue
        }
      }
      let track = bob.tracks[0].id
      for request in [
        ParticipantRequest.subscribe(track.text, mid: nil, PicturePreference(), on: before.id),
        .unsubscribe(track.text, on: before.id), .view([(track.text, PicturePreference())], on: before.id),
      ] {
        guard case .refused(.gone) = page.ask(request) else {
          Issue.record("\(request) reaches it")
          continue
        }
      }
      page.ask(.closeTransport(before.id))
      let after = try #require(run.transport(end))
      #expect(after.slots.slots.map(\.track) == before.slots.slots.map(\.track))
      #expect(after.published.map(\.info.id) == before.published.map(\.info.id) && after.peer == before.peer)
    }
  }

  @Test func `who has no session asks nothing in its name`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video])
    let page = try run.join("ada")
    page.ask(.leave(.left))
    for request in [ParticipantRequest.openTransport(.both), .leave(.left), .grants, .absent] {
      guard case .refused(.gone) = page.ask(request) else {
        Issue.record("\(request) is obeyed")
        continue
      }
    }
    #expect(run.member("ada")?.transports.count == 1 && run.transport(cam) != nil)
  }

  @Test func `a second page closes the first alone`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video])
    let first = try run.join("ada")
    let native = try #require(first.member?.transports.last?.id)
    _ = try first.offer([.audio], on: native)
    let second = try run.join("ada")
    #expect(second.id == first.id && run.sessions == 1)
    #expect(run.done.contains("dismiss duplicateIdentity") && run.transport(cam) != nil)
    #expect(run.tracks("ada").map(\.kind) == [.video])
    #expect(first.member?.transports.count == 2)
    // What the first still says is not the second's.
    for request in [ParticipantRequest.leave(.left), .absent, .grants] {
      guard case .refused(.gone) = run.handle(.request(first.id, request, session: 1)) else {
        Issue.record("\(request) is obeyed")
        return
      }
    }
    #expect(second.member?.session == 2)
    guard case .offerRefused(.gone) = first.ask(.offer("v=0", [], on: native)) else {
      Issue.record("an offer on a transport that is over is taken")
      return
    }
  }

  @Test func `two pages without an encoder are as before: another participant`() throws {
    let run = StateRun()
    let first = try run.join("ada")
    let second = try run.join("ada")
    #expect(first.id != second.id && run.kinds().suffix(2) == ["participant.left", "participant.joined"])
    // Also where its encoder has gone.
    let cam = try run.whip("ada")
    #expect(words(run.ask(cam, .close)) == "done")
    let third = try run.join("ada")
    #expect(third.id != second.id && run.sessions == 1)
  }

  @Test func `a page whose socket is gone for good leaves the encoder`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video])
    let page = try run.join("ada")
    page.ask(.absent)
    run.hear([run.transport(cam)], at: run.now)
    run.now = run.now + .seconds(16)
    run.hear([run.transport(cam)], at: run.now)
    #expect(run.done.contains("dismiss connectionLost") && run.member("ada")?.session == nil)
    #expect(run.transport(cam) != nil && run.sessions == 1)
    // From here on its media is the sign of life.
    let last = run.now
    for _ in 0..<3 {
      run.now = run.now + .seconds(20)
      run.hear([run.transport(cam)], at: last)
      run.handle(.alarm)
    }
    #expect(run.member("ada") == nil)
  }

  @Test func `a page's media that is lost takes the page, an encoder's takes the encoder`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video])
    let page = try run.join("ada")
    run.lose(run.transport(cam))
    #expect(run.transport(cam) == nil && page.member?.session == 1, "the page has no media yet, and stays")
    let again = try run.whip("ada", [.video])
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    _ = try page.offer([.audio], on: native)
    run.lose(page.member?.transports.first { $0.id == native })
    #expect(run.done.contains("dismiss connectionLost") && page.member?.session == nil)
    #expect(run.transport(again) != nil && run.tracks("ada").map(\.kind) == [.video])
  }

  @Test func `whether a page is there is known by its own media`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video])
    let page = try run.join("ada")
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    _ = try page.offer([.audio], on: native)
    let begin = run.now
    run.hear([page.transport(native), run.transport(cam)], at: begin)
    run.now = begin + .seconds(11)
    run.hear([run.transport(cam)], at: run.now)
    #expect(run.kinds().last == "participant.reconnecting")
    page.ask(.leave(.left))
    #expect(run.kinds().last == "participant.reconnected" && run.transport(cam) != nil)
  }

  @Test func `a page has what its token allows, and encoders what theirs do`() throws {
    let run = StateRun()
    let cam = try run.whip("ada", [.video]) {
      $0.canSubscribe = false
      $0.canPublishData = true
    }
    let bob = try run.join("bob")
    _ = try bob.offer([.audio])
    let page = try run.join("ada") {
      $0.canPublish = false
      $0.canPublishData = false
    }
    // The participant may do what either may, and the page no more than its token says.
    #expect(page.member?.grants.canPublish == true && page.member?.grants.canSubscribe == true)
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    let answer = try page.offer([.audio], receivers: 1, on: native)
    #expect(answer.declined.map(\.code) == ["not-allowed"] && answer.slots.compactMap(\.track).count == 1)
    guard case .refused(.notAllowed) = page.ask(.send(DataRequest(payload: [1], reliable: true))) else {
      Issue.record("a message is sent")
      return
    }
    #expect(run.transport(cam) != nil && run.tracks("ada").count == 1)
    #expect(refusal { try run.whep("ada") { $0.canSubscribe = false } }.hasPrefix("not allowed"))
    // What an administrator changes holds for both.
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(true)
    patch.permissions.canSubscribe = .set(false)
    run.handle(.administration(.changeParticipant("ada", patch)))
    #expect(try page.offer([.audio], on: native).tracks.count >= 1)
    #expect(page.transport(native)?.slots.slots.compactMap(\.track) == [])
  }

  @Test func `what its token says of the participant is taken over, within the same bounds`() throws {
    let run = StateRun()
    _ = try run.whip("ada")
    let before = run.events.count
    var newcomer = Newcomer(identity: "ada", name: "Ada", metadata: "m", grants: .join("r"))
    _ = try run.join(newcomer)
    #expect(run.member("ada")?.name == "Ada" && run.member("ada")?.metadata == "m")
    #expect(run.kinds(after: before) == ["participant.updated"])
    newcomer.metadata = String(repeating: "m", count: 65_537)
    #expect(throws: JoinError.self) { try run.join(newcomer) }
    #expect(run.member("ada")?.metadata == "m" && run.member("ada")?.session == 1 && run.sessions == 1)
  }

  @Test func `a hidden player becomes known as its page joins, and who is known isn't hidden any more`()
    throws
  {
    let run = StateRun()
    _ = try run.join("bob")
    let tv = try run.whep("ada") { $0.hidden = true }
    let before = run.events.count
    let page = try run.join("ada")
    #expect(run.kinds(after: before) == ["participant.joined"] && page.member?.grants.hidden == false)
    page.ask(.leave(.left))
    _ = try run.join("ada") { $0.hidden = true }
    #expect(run.member("ada")?.grants.hidden == false && run.transport(tv) != nil)
  }

  @Test func `who comes back hears nothing of transports that have no socket`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try run.whep("ada")
    ada.ask(.absent)
    ada.ask(.present(after: 0))
    guard
      case .resumed(let resumed)? = ada.notices.last(where: { if case .resumed = $0 { true } else { false } })
    else {
      Issue.record("nothing is resumed")
      return
    }
    #expect(resumed.transports.map(\.id) == [.first])
  }

  @Test func `joining is paid for beside an encoder too`() throws {
    let run = StateRun()
    _ = try run.whip("ada")
    var joins = 0
    while (try? run.join("ada")) != nil, joins < 1_000 { joins += 1 }
    #expect(joins < 150 && run.sessions == 1)
  }
}
