import AccessTokens
import Model
import Negotiation
import Testing

@testable import Engine
@testable import Rooms

@Suite("What ends transports without a socket, and what bounds them", .timeLimit(.minutes(1)))
struct StandaloneEndTests {
  @Test func `a participant leaves with the last of them`() throws {
    let run = StateRun()
    let (one, two) = (try run.whip("cam"), try run.whep("cam"))
    #expect(run.state.members.count == 1 && run.sessions == 1)
    #expect(words(run.ask(one, .close)) == "done")
    #expect(run.member("cam") != nil && run.tracks("cam").isEmpty)
    #expect(words(run.ask(two, .close)) == "done")
    #expect(run.member("cam") == nil && run.sessions == 0)
    #expect(run.events.last(where: { $0.kind == .participantLeft })?.reason == .left)
  }

  @Test func `media that is lost takes its transport, and the participant with the last`() throws {
    let run = StateRun()
    let (one, two) = (try run.whip("cam"), try run.whip("cam", [.video]))
    run.lose(run.transport(one))
    #expect(run.transport(one) == nil && run.tracks("cam").count == 1)
    #expect(words(run.ask(one, .look)) == "unknown")
    run.lose(run.transport(two))
    #expect(run.member("cam") == nil)
    #expect(run.events.last(where: { $0.kind == .participantLeft })?.reason == .connectionLost)
  }

  @Test func `without a sign of life on any of them the participant is lost`() throws {
    let run = StateRun()
    let (one, two) = (try run.whip("cam"), try run.whep("cam"))
    let begin = run.now
    run.hear([run.transport(one), run.transport(two)], at: begin)
    run.now = begin + .seconds(20)
    run.hear([run.transport(two)], at: run.now)
    #expect(!run.kinds().contains("participant.reconnecting"))
    run.now = begin + .seconds(31)
    run.handle(.alarm)
    #expect(run.kinds().last == "participant.reconnecting")
    run.now = begin + .seconds(46)
    run.handle(.alarm)
    #expect(run.member("cam") == nil && run.done.contains("dismiss connectionLost"))
  }

  @Test func `removal ends all of an identity, and what is asked of them finds nothing`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let (up, down) = (try run.whip("ada"), try run.whep("ada"))
    run.handle(.administration(.remove("ada")))
    #expect(
      run.member("ada") == nil
        && ada.notices.contains { if case .closed(.removed) = $0 { true } else { false } })
    for end in [up, down] {
      #expect(words(run.ask(end, .look)) == "unknown" && words(run.ask(end, .close)) == "unknown")
      #expect(words(run.ask(end, .change(.any, StandaloneEnd.restarted))) == "unknown")
    }
    #expect(refusal { try run.open("ada", try offer(), isForbidden: true) } == "joining removed")
    // One who may come again is another participant, with other sessions.
    let again = try run.whip("ada")
    #expect(again.answer.id != up.answer.id && words(run.ask(up, .look)) == "unknown")
  }

  private func offer() throws -> StandaloneOffer {
    StandaloneOffer(role: .publishes, sdp: try StandaloneEnd.offer(sending: [.video]))
  }

  @Test func `a room that closes ends them, and takes no more`() throws {
    for (reason, words) in [
      (LeaveReason.roomClosed, "joining noRoom"), (.serverShutdown, "joining draining"),
    ] {
      let run = StateRun()
      _ = try run.join("ada")
      let cam = try run.whip("cam")
      run.handle(.close(reason))
      #expect(run.state.members.isEmpty && run.transport(cam) == nil && run.sessions == 0)
      #expect(refusal { try run.whip("cam") } == words)
    }
  }

  @Test func `permission that is taken ends what lived by it, and only that`() throws {
    let run = StateRun()
    let (up, down) = (try run.whip("cam"), try run.whep("cam"))
    var patch = ParticipantPatch()
    patch.permissions.canPublishSources = .set([.microphone])
    run.handle(.administration(.changeParticipant("cam", patch)))
    #expect(run.tracks("cam").map(\.kind) == [.audio] && run.transport(up) != nil)
    patch.permissions.canPublish = .set(false)
    guard case .participant(let snapshot) = run.handle(.administration(.changeParticipant("cam", patch)))
    else {
      Issue.record("not answered")
      return
    }
    #expect(snapshot.info.identity == "cam" && run.transport(up) == nil && run.transport(down) != nil)
    #expect(words(run.ask(up, .look)) == "unknown")
    #expect(refusal { try run.whip("cam") } == "not allowed: publishing (canPublish)")
    var last = ParticipantPatch()
    last.permissions.canSubscribe = .set(false)
    guard case .participant = run.handle(.administration(.changeParticipant("cam", last))) else {
      Issue.record("not answered")
      return
    }
    #expect(run.member("cam") == nil, "nothing is left of it")
  }

  // MARK: - Permissions

  @Test func `permissions are the participant's, narrowed by the door's token`() throws {
    let run = StateRun()
    let ada = try run.join("ada") { $0.canPublishSources = [.camera, .microphone] }
    #expect(
      refusal { try run.whip("ada") { $0.canPublish = false } } == "not allowed: publishing (canPublish)")
    #expect(
      refusal { try run.whip("ada") { $0.canPublishSources = [.microphone] } } == "declined 1 not-allowed")
    #expect(
      refusal { try run.whip("ada", [.video]) { $0.canPublishSources = [.screenShare] } }
        == "declined 0 not-allowed")
    #expect(
      refusal { try run.whep("ada") { $0.canSubscribe = false } } == "not allowed: subscribing (canSubscribe)"
    )
    #expect(refusal { try run.whip("ada") { $0.hidden = true } } == "not allowed: publishing (canPublish)")
    #expect(ada.member?.transports.count == 1)
    let cam = try run.whip("ada", [.video]) { $0.canPublishSources = [.camera] }
    #expect(run.tracks("ada").map(\.source) == [.camera] && run.transport(cam) != nil)
    // The door's token narrows its own transport alone.
    _ = try ada.offer([.audio])
    #expect(run.tracks("ada").map(\.source) == [.microphone, .camera])
    let bob = try run.join("bob") { $0.canPublish = false }
    #expect(refusal { try run.whip("bob") } == "not allowed: publishing (canPublish)")
    #expect(bob.member?.transports.count == 1)
  }

  @Test func `a section is published as what the token allows`() throws {
    for (sources, published) in [
      ([.camera, .microphone], [.microphone, .camera]),
      ([.screenShare, .screenShareAudio], [.screenShareAudio, .screenShare]),
      ([.unknown], [.unknown, .unknown]), ([.camera, .unknown], [.unknown, .camera]),
    ] as [(Set<TrackSource>, [TrackSource])] {
      let run = StateRun()
      _ = try run.whip("cam") { $0.canPublishSources = sources }
      #expect(run.tracks("cam").map(\.source) == published)
    }
  }

  @Test func `hidden players are in no event, and hidden encoders are refused`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let before = run.events.count
    let tv = try run.whep("tv") { $0.hidden = true }
    #expect(run.shown(tv).compactMap(\.self).count == 1)
    #expect(words(run.ask(tv, .close)) == "done" && run.events.count == before)
    #expect(refusal { try run.whip("cam") { $0.hidden = true } } == "not allowed: publishing (canPublish)")
  }

  // MARK: - Bounds

  @Test func `an identity has three, and its page has a place beside them`() throws {
    let run = StateRun()
    let ends = try (0..<3).map { _ in try run.whep("tv") }
    #expect(refusal { try run.whep("tv") } == "3 of participant")
    let page = try run.join("tv")
    #expect(page.member?.transports.count == 4)
    #expect(words(run.ask(ends[0], .close)) == "done")
    _ = try run.whip("tv")
    #expect(page.member?.transports.count == 4)
  }

  @Test func `a room has as many as it may have participants`() throws {
    let run = StateRun()
    var opened = 0
    for number in 0..<17 {
      for _ in 0..<3 {
        guard opened < 50 else { continue }
        _ = try run.whep("tv\(number)", audio: 1, video: 0)
        opened += 1
      }
    }
    #expect(refusal { try run.whep("tv16", audio: 1, video: 0) } == "50 of room")
    #expect(refusal { try run.whep("other", audio: 1, video: 0) } == "50 of room")
  }

  @Test func `tracks beyond what a participant may publish refuse the offer`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let limit = StateRun.terms.policy.maximumTracks
    while ada.tracks.count < limit - 1 {
      _ = try ada.offer(Array(repeating: .audio, count: min(50, limit - 1 - ada.tracks.count)))
      run.now = run.now + .seconds(60)
    }
    #expect(refusal { try run.whip("ada") } == "declined 1 not-allowed")
    #expect(ada.tracks.count == limit - 1)
    _ = try run.whip("ada", [.video])
    #expect(ada.tracks.count == limit)
  }

  @Test func `where the media plane is full nothing has come`() throws {
    let run = StateRun()
    run.places = 1
    let cam = try run.whip("cam")
    #expect(refusal { try run.whip("eve") } == "the server is full; try again later")
    #expect(refusal { try run.whep("cam") } == "the server is full; try again later")
    #expect(run.state.members.map(\.identity) == ["cam"] && run.sessions == 1)
    #expect(run.transport(cam) != nil)
  }

  @Test func `a full room takes no newcomer, and still those who are in`() throws {
    let run = StateRun(settings: RoomSettings(maxParticipants: 1))
    _ = try run.join("ada")
    #expect(refusal { try run.whip("cam") } == "joining full(limit: 1)")
    _ = try run.whip("ada")
    #expect(run.sessions == 1)
  }

  @Test func `offers and requests are paid for, also those that come to nothing`() throws {
    func count(_ body: (StateRun) -> String) -> Int {
      let run = StateRun()
      for number in 1...2_000 where body(run).contains("tooOften") || body(run).contains("too many") {
        return number
      }
      return .max
    }
    let bad = { (run: StateRun) in
      refusal { try run.open("eve", StandaloneOffer(role: .publishes, sdp: "v=0")) }
    }
    #expect(count(bad) < 200)
    #expect(count { run in refusal { try run.whip("eve") { $0.canPublish = false } } } < 200)
    let unknown = StandaloneName(id: "none", role: .publishes, identity: "eve")
    #expect(count { words($0.handle(.standalone(unknown, .look))) } < 200)
    let run = StateRun()
    let cam = try run.whip("cam")
    var restarts = 0
    while words(
      run.ask(cam, .change(.any, restarts % 2 == 0 ? StandaloneEnd.restarted : StandaloneEnd.credentials)))
      == "restarted"
    {
      restarts += 1
    }
    #expect((10..<200).contains(restarts))
    // Who has spent all may still end what it has.
    #expect(words(run.ask(cam, .close)) == "done")
    // Coming and going again refills nothing.
    #expect(refusal { try run.whip("cam") } == "tooOften")
  }

  @Test func `coming and going a thousand times leaves nothing`() throws {
    let run = StateRun()
    run.places = 1_000
    for number in 0..<1_000 {
      run.now = run.now + .seconds(1)
      let end = number % 2 == 0 ? try run.whip("cam") : try run.whep("cam")
      #expect(words(run.ask(end, .close)) == "done")
    }
    var closed = 0
    for case .dismiss in run.commands { closed += 1 }
    #expect(run.state.members.isEmpty && run.sessions == 0 && closed == 1_000 && run.added.count == 1_000)
  }
}
