import AccessTokens
import Crypto
import ICE
import Model
import Negotiation
import Testing
import Wire

@testable import Rooms

/// The client's end of one transport, for whichever side offers.
private final class ClientEnd {
  let transport: ParticipantTransport
  private var negotiator = Negotiator(policy: .client)
  private var random = RandomSource.seeded(state: 11)
  private var plan = OfferPlan()
  private let local = LocalTransport(
    credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
    fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
    isLite: false)

  init(_ transport: ParticipantTransport) { self.transport = transport }

  /// Offers so many more tracks and receivers of each kind.
  @discardableResult
  func offer(_ kinds: [MediaKind] = [], receivers: Int = 0) async throws -> OfferAnswer {
    for kind in kinds { plan.tracks.append(negotiator.announcement(of: kind, beside: nil, random: &random)) }
    plan.audioReceivers += receivers
    plan.videoReceivers += receivers
    let offer = try negotiator.offer(plan, local: local, random: &random)
    let answer = try await transport.offer(offer.text, tracks: [])
    _ = try negotiator.accept(try SessionDescription(parsing: answer.sdp))
    return answer
  }

  /// Answers the server's offer of so many slots in all.
  @discardableResult
  func takeOffer(audio: Int, video: Int) async throws -> OfferAnswer {
    let offer = try await transport.makeOffer(audio: audio, video: video)
    let answer = try negotiator.answer(
      to: try SessionDescription(parsing: offer), local: local, random: &random)
    return try await transport.accept(answer.sdp)
  }
}

@Suite("A participant's transports as a front door has them", .timeLimit(.minutes(2)))
struct TransportHandleTests {
  /// A participant without a socket and without transports.
  private func join(_ server: TestServer, _ identity: String) async throws -> ParticipantSession {
    try await server.directory.join(
      room: "r", identity: identity, name: nil, grants: .join("r"), opening: nil, isAttended: false)
  }

  private func tracks(_ server: TestServer, of identity: String) async throws -> [TrackID] {
    let room = try #require(server.directory.administration(of: "r"))
    return await room.participants(after: nil, limit: 10).first { $0.info.identity == identity }?.info.tracks
      .map(\.id) ?? []
  }

  @Test func `one publishes by its own offer, another plays by the server's`() async throws {
    let server = try TestServer()
    let ada = try await join(server, "ada")
    let bob = try await join(server, "bob")
    let up = ClientEnd(try await ada.openTransport(.publishes))
    let published = try await up.offer([.audio, .video])
    #expect(published.tracks.count == 2 && published.slots.isEmpty && published.declined.isEmpty)
    let down = ClientEnd(try await bob.openTransport(.subscribes))
    let played = try await down.takeOffer(audio: 1, video: 1)
    #expect(Set(played.slots.compactMap(\.track)) == Set(published.tracks.map(\.track)))
    // The server offers fewer, and what stays keeps its section.
    let fewer = try await down.takeOffer(audio: 1, video: 0)
    #expect(fewer.slots.compactMap(\.track).count == 1 && fewer.slots[0].mid == played.slots[0].mid)
    await ada.leave()
    await bob.leave()
    #expect(server.directory.remainders.sessions == 0)
  }

  @Test func `each has subscriptions of its own, which the other's don't touch`() async throws {
    let server = try TestServer()
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    let ada = try await join(server, "ada")
    let (one, two) = (
      ClientEnd(try await ada.openTransport(.subscribes)), ClientEnd(try await ada.openTransport(.both))
    )
    try await one.takeOffer(audio: 1, video: 0)
    let played = try await two.offer(receivers: 1)
    #expect(played.slots.compactMap(\.track) == [track])
    try await one.transport.unsubscribe(track.text)
    let silent = try await one.takeOffer(audio: 2, video: 0)
    let still = try await two.offer(receivers: 1)
    #expect(silent.slots.compactMap(\.track).isEmpty && still.slots.compactMap(\.track) == [track])
    try await one.transport.subscribe(track.text, mid: silent.slots[1].mid)
    let chosen = try await one.takeOffer(audio: 2, video: 0)
    #expect(chosen.slots.map(\.track) == [nil, track])
  }

  @Test func `what a transport may do follows from its role and from the participant's grants`() async throws
  {
    let server = try TestServer()
    let ada = try await join(server, "ada")
    let up = ClientEnd(try await ada.openTransport(.publishes))
    await #expect(throws: OfferError.self) { try await up.takeOffer(audio: 1, video: 0) }
    let down = ClientEnd(try await ada.openTransport(.subscribes))
    #expect(try await down.offer([.audio], receivers: 1).declined.map(\.code) == ["not-allowed"])
    await #expect(throws: OfferError.self) { try await down.transport.makeOffer(audio: 33, video: 0) }
    await #expect(throws: OfferError.self) { try await down.transport.accept("v=0") }
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(false)
    let room = try #require(server.directory.administration(of: "r"))
    _ = try await room.change("ada", patch)
    #expect(try await up.offer([.video]).declined.map(\.code) == ["not-allowed"])
    #expect(try await tracks(server, of: "ada").isEmpty)
  }

  @Test(arguments: [[0, 1], [1, 0]])
  func `they are closed in any order, each takes its own tracks along, and the last the session`(order: [Int])
    async throws
  {
    let server = try TestServer()
    let ada = try await join(server, "ada")
    let ends = [
      ClientEnd(try await ada.openTransport(.publishes)), ClientEnd(try await ada.openTransport(.publishes)),
    ]
    var published: [TrackID] = []
    for end in ends { published.append(try #require(try await end.offer([.audio]).tracks.first?.track)) }
    await ends[order[0]].transport.close()
    #expect(try await tracks(server, of: "ada") == [published[order[1]]])
    await ends[order[0]].transport.close()
    await #expect(throws: OfferError.self) { try await ends[order[0]].offer([.audio]) }
    await #expect(throws: RequestError.self) { try await ends[order[0]].transport.subscribe("TR_x") }
    #expect(server.directory.remainders.sessions == 1)
    // One that is opened before the last is closed keeps the session.
    let next = ClientEnd(try await ada.openTransport(.publishes))
    await ends[order[1]].transport.close()
    #expect(try await tracks(server, of: "ada").isEmpty && server.directory.remainders.sessions == 1)
    _ = try await next.offer([.video])
    #expect(try await tracks(server, of: "ada").count == 1)
    await next.transport.close()
    #expect(server.directory.remainders.sessions == 0, "no socket's end would end it")
    await #expect(throws: RequestError.gone) { _ = try await ada.openTransport(.both) }
  }

  @Test func `beside a socket's transport others come and go, and the session stays with its socket`()
    async throws
  {
    let server = try TestServer()
    let ada = try await server.join("ada")
    let watched = try #require(try await ada.offer([.audio], receivers: 1).tracks.first?.track)
    let up = ClientEnd(try await ada.session.openTransport(.publishes))
    let published = try #require(try await up.offer([.video]).tracks.first?.track)
    #expect(try await tracks(server, of: "ada") == [watched, published])
    let bob = try await server.join("bob")
    #expect(try await bob.offer(receivers: 1).slots.compactMap(\.track).count == 2)
    let down = ClientEnd(try await ada.session.openTransport(.subscribes))
    let second = try #require(try await bob.offer([.video]).tracks.first?.track)
    #expect(try await down.takeOffer(audio: 0, video: 1).slots.map(\.track) == [second])
    #expect(try await ada.offer().slots.compactMap(\.track) == [second], "the socket's has it too")
    await up.transport.close()
    #expect(try await tracks(server, of: "ada") == [watched])
    let native = try #require(ada.session.transport)
    await native.close()
    await down.transport.close()
    #expect(try await tracks(server, of: "ada").isEmpty && server.directory.remainders.sessions == 2)
    _ = try await ClientEnd(try await ada.session.openTransport(.both)).offer([.audio])
    #expect(try await tracks(server, of: "ada").count == 1)
  }

  @Test func `there are four at most, and a place that is given back may be taken`() async throws {
    let server = try TestServer()
    let ada = try await join(server, "ada")
    var opened: [ParticipantTransport] = []
    for _ in 0..<4 { opened.append(try await ada.openTransport(.publishes)) }
    await #expect(throws: RequestError.limit(4)) { _ = try await ada.openTransport(.publishes) }
    await opened[2].close()
    let next = try await ada.openTransport(.publishes)
    #expect(!opened.map(\.id).contains(next.id))
  }

  @Test func `a session whose notices no one reads goes on, whatever befalls the room`() async throws {
    let server = try TestServer()
    let ada = try await join(server, "ada")
    let up = ClientEnd(try await ada.openTransport(.publishes))
    try await up.offer([.audio])
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    let notices = bob.session.notices
    let reader = Task { for await _ in notices {} }
    defer { reader.cancel() }
    let room = try #require(server.directory.administration(of: "r"))
    for number in 0..<3_000 { _ = try await room.mute(track.text, of: "bob", number % 2 == 0) }
    #expect(try await tracks(server, of: "ada").count == 1)
    try await server.directory.remove("ada", from: "r")
    #expect(try await tracks(server, of: "ada").isEmpty && server.directory.remainders.sessions == 1)
    await #expect(throws: OfferError.self) { try await up.offer([.video]) }
  }
}
