import AccessTokens
import Engine
import Model
import Negotiation
import Testing

@testable import Rooms

/// A participant that says of its sections what it likes, in whatever order.
@Suite("What an offer may publish", .timeLimit(.minutes(2)))
struct OfferPermissionTests {
  func track(_ mid: String, _ source: TrackSource, muted: Bool = false) -> OfferedTrack {
    OfferedTrack(mid: mid, source: source, muted: muted)
  }

  func only(_ sources: TrackSource...) -> PermissionsPatch {
    var patch = PermissionsPatch()
    patch.canPublishSources = .set(Set(sources))
    return patch
  }

  func publish(_ allowed: Bool) -> PermissionsPatch {
    var patch = PermissionsPatch()
    patch.canPublish = .set(allowed)
    return patch
  }

  func subscribe(_ allowed: Bool) -> PermissionsPatch {
    var patch = PermissionsPatch()
    patch.canSubscribe = .set(allowed)
    return patch
  }

  func permit(_ server: TestServer, _ identity: String, _ permissions: PermissionsPatch) async throws {
    var patch = ParticipantPatch()
    patch.permissions = permissions
    _ = try await #require(server.directory.administration(of: "r")).change(identity, patch)
  }

  func tracks(_ server: TestServer, _ identity: String) async throws -> [TrackInfo] {
    try await #require(server.directory.administration(of: "r")).participant(identity).info.tracks
  }

  @Test func `a forbidden source is declined alone, the rest of the offer goes on`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada") { $0.canPublishSources = [.camera] }
    let answer = try await ada.offer([.audio, .video], receivers: 1)
    #expect(answer.tracks.map(\.mid) == ["1"] && answer.slots.count == 2)
    #expect(answer.declined.map(\.mid) == ["0"] && answer.declined.map(\.code) == ["not-allowed"])
    #expect(try await tracks(server, "ada").map(\.source) == [.camera])
  }

  @Test func `a source belongs to its kind of section`() async throws {
    for (kind, source, isTaken) in [
      (MediaKind.audio, TrackSource.camera, false), (.audio, .screenShare, false),
      (.audio, .screenShareAudio, true), (.audio, .microphone, true), (.audio, .unknown, true),
      (.video, .microphone, false), (.video, .screenShareAudio, false), (.video, .camera, true),
      (.video, .screenShare, true), (.video, .unknown, true),
    ] {
      let server = try TestServer()
      let ada = try await server.join("ada")
      let answer = try await ada.offer([kind], describing: [track("0", source)])
      #expect(answer.tracks.isEmpty == !isTaken, "\(kind) \(source)")
      #expect(answer.declined.map(\.code) == (isTaken ? [] : ["not-allowed"]), "\(kind) \(source)")
    }
  }

  @Test func `an entry for no section fails the offer by its field's name`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let error = await #expect(throws: OfferError.self) {
      try await ada.offer([.audio], describing: [track("9", .microphone)])
    }
    #expect(error?.description.contains("tracks.mid") == true)
    #expect(try await tracks(server, "ada").isEmpty)
  }

  @Test func `a section without an entry is a camera or a microphone`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada") { $0.canPublishSources = [.screenShare, .screenShareAudio] }
    let answer = try await ada.offer([.audio, .video])
    #expect(answer.tracks.isEmpty && answer.declined.map(\.code) == ["not-allowed", "not-allowed"])
    #expect(await server.peers() == 0)
  }

  @Test func `what was withdrawn is not published again under its mid in another section`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    _ = try await ada.offer([.audio, .video])
    try await permit(server, "ada", publish(false))
    #expect(try await tracks(server, "ada").isEmpty)
    // The withdrawn section is stopped and comes again, in its place and in a new one.
    let again = try await ada.offer([.audio], dropping: 1, describing: [])
    #expect(again.tracks.isEmpty)
    let more = try await ada.offer([.audio, .video])
    #expect(more.tracks.isEmpty)
    #expect(try await tracks(server, "ada").isEmpty)
    // Allowed again: what is still offered is published by the next offer.
    try await permit(server, "ada", publish(true))
    #expect(try await ada.offer().tracks.count >= 1)
  }

  @Test func `a track stays what it was published as, whatever a later offer says`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    _ = try await ada.offer([.video], describing: [track("0", .screenShare)])
    _ = try await ada.offer(describing: [track("0", .camera)])
    #expect(try await tracks(server, "ada").map(\.source) == [.screenShare])
    // Nor does it slip by what is allowed under another name.
    try await permit(server, "ada", only(.camera))
    #expect(try await tracks(server, "ada").isEmpty)
  }

  @Test func `what was withdrawn does not come back as something else that is allowed`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    _ = try await ada.offer([.video], describing: [track("0", .screenShare)])
    try await permit(server, "ada", only(.camera))
    #expect(try await ada.offer().tracks.isEmpty)
    #expect(try await tracks(server, "ada").isEmpty)
    try await permit(server, "ada", only(.screenShare))
    _ = try await ada.offer()
    #expect(try await tracks(server, "ada").map(\.source) == [.screenShare])
  }

  @Test func `an administrator's mute outlives its track`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let room = try #require(server.directory.administration(of: "r"))
    _ = try await ada.offer([.audio, .video])
    let microphone = try #require(try await tracks(server, "ada").first { $0.source == .microphone })
    _ = try await room.mute(microphone.id.text, of: "ada", true)
    // Stopped, and published again as if nothing had been.
    _ = try await ada.offer([.audio], dropping: 1)
    let again = try #require(try await tracks(server, "ada").first { $0.kind == .audio })
    #expect(again.id != microphone.id && again.muted)
    await #expect(throws: RequestError.self) { try await ada.session.mute(again.id.text, false) }
    // Once lifted it is over, also for the next one.
    #expect(try await room.mute(again.id.text, of: "ada", false).muted == false)
    _ = try await ada.offer([.audio], dropping: 2)
    #expect(try await tracks(server, "ada").first { $0.kind == .audio }?.muted == false)
  }

  @Test func `nor is it escaped by a source without a name, or by being withdrawn and allowed again`()
    async throws
  {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let room = try #require(server.directory.administration(of: "r"))
    _ = try await ada.offer([.audio])
    let microphone = try #require(try await tracks(server, "ada").first)
    _ = try await room.mute(microphone.id.text, of: "ada", true)
    try await permit(server, "ada", publish(false))
    try await permit(server, "ada", publish(true))
    _ = try await ada.offer()
    #expect(try await tracks(server, "ada").map(\.muted) == [true])
    _ = try await ada.offer([.audio], dropping: 1, describing: [track("1", .unknown)])
    #expect(try await tracks(server, "ada").map(\.source) == [.unknown])
    #expect(try await tracks(server, "ada").map(\.muted) == [true])
    // The mute waits on for a microphone: a track without a name beside it frees none.
    _ = try await ada.offer([.audio])
    #expect(try await tracks(server, "ada").map(\.muted) == [true, true])
    // It was one mute, so a second microphone has none.
    _ = try await ada.offer([.audio])
    #expect(try await tracks(server, "ada").map(\.muted) == [true, true, false])
  }

  @Test func `with every section stopped the transport is over, and another one may follow`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let bob = try await server.join("bob")
    _ = try await ada.offer([.audio, .video])
    _ = try await bob.offer([.audio], receivers: 1)
    #expect(await server.peers() == 2)
    _ = try await bob.offer(receivers: -1, dropping: 1)
    #expect(await server.peers() == 1, "nothing more flows")
    #expect(try await tracks(server, "bob").isEmpty)
    let room = try #require(server.directory.administration(of: "r"))
    #expect(try await room.participant("bob").subscriptions.allSatisfy { $0.mid == nil })
    let answer = try await bob.offer([.audio], receivers: 1)
    #expect(answer.tracks.count == 1 && answer.slots.compactMap(\.track).count == 2)
    #expect(await server.peers() == 2)
    // The peer of before is no peer of the member's: that it has gone ends nothing.
    #expect(try await room.participant("bob").info.identity == "bob")
  }

  @Test(arguments: [[], [.audio, .video]] as [[MediaKind]])
  func `a participant that may not subscribe and stops every section is sent nothing`(kinds: [MediaKind])
    async throws
  {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let bob = try await server.join("bob")
    _ = try await ada.offer([.audio, .video])
    let shown = try await bob.offer(kinds, receivers: 1).slots.compactMap(\.track)
    #expect(shown.count == 2)
    try await permit(server, "bob", subscribe(false))
    // Its transport stays while a section is open; nothing is shown there.
    #expect(await server.peers() == 2)
    let room = try #require(server.directory.administration(of: "r"))
    #expect(try await room.participant("bob").subscriptions.allSatisfy { $0.mid == nil })
    _ = try await bob.offer(receivers: -1, dropping: kinds.count)
    #expect(await server.peers() == 1, "Ada's is the media plane's only peer")
    #expect(try await room.participant("bob").subscriptions.allSatisfy { $0.mid == nil })
    // Once it is allowed again, the next offer begins a new transport.
    try await permit(server, "bob", subscribe(true))
    #expect(await server.peers() == 1)
    #expect(try await bob.offer(receivers: 1).slots.compactMap(\.track).count == 2)
    #expect(await server.peers() == 2)
  }

  @Test func `stopping everything while reconnecting ends the waiting for media`() {
    var presence = Presence(grace: .seconds(15))
    presence.heard(at: Instant(nanoseconds: 1))
    let later = Instant(nanoseconds: 11_000_000_000)
    #expect(presence.poll(now: later) == .reconnecting)
    presence.mediaEnded()
    #expect(presence.deadline <= later)
    #expect(presence.poll(now: later) == .reconnected)
    #expect(presence.poll(now: later + .seconds(100)) == nil && presence.deadline == .never)
  }

  @Test func `offers have a budget of their own, by their bytes`() async throws {
    let server = try TestServer(clock: StandingClock())
    let ada = try await server.join("ada")
    let long = "v=0\r\n" + String(repeating: "a=x\r\n", count: 40_000)
    var tooOften = 0
    for _ in 0..<10 {
      do { _ = try await ada.session.native.offer(long, tracks: []) } catch OfferError.tooOften {
        tooOften += 1
      } catch {}
    }
    #expect(tooOften == 8, "512 KiB at once")
    // Nothing else is held back by it.
    await #expect(throws: RequestError.unknownTrack) { try await ada.session.mute("TR_x", true) }
  }

  @Test func `each track that an offer begins or ends counts as a request`() async throws {
    let server = try TestServer(clock: StandingClock())
    let ada = try await server.join("ada")
    _ = try await ada.offer(Array(repeating: .audio, count: 30))
    _ = try await ada.offer(dropping: 30)
    _ = try await ada.offer(Array(repeating: .audio, count: 30))
    let error = await #expect(throws: OfferError.self) { try await ada.offer(dropping: 30) }
    guard case .tooOften? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try await tracks(server, "ada").count == 30, "nothing has changed")
  }
}
