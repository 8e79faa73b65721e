import Model
import Negotiation
import Testing
import Wire

@Suite("A negotiation as bytes", .timeLimit(.minutes(1)))
struct NegotiatorStateTests {
  private var random = RandomSource.seeded(state: 7)

  private func local(_ name: String) -> LocalTransport {
    LocalTransport(
      credentials: ICECredentials(ufrag: name + "ufrag", password: name + "passwordpasswordpassword"),
      fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [])
  }

  private func bytes(_ negotiator: Negotiator) -> [UInt8] {
    var writer = StateWriter()
    negotiator.encode(into: &writer)
    return writer.bytes
  }

  private func read(_ bytes: [UInt8], _ policy: NegotiationPolicy = .server) throws(StateError) -> Negotiator
  {
    var reader = StateReader(bytes)
    let negotiator = try Negotiator(from: &reader, policy: policy)
    try reader.finish()
    return negotiator
  }

  /// Both ends, with tracks and slots agreed on; the server's next offer is on its way.
  private mutating func ends() throws -> (client: Negotiator, server: Negotiator) {
    var client = Negotiator(policy: .client)
    var server = Negotiator(policy: .server)
    let track = client.announcement(of: .video, beside: nil, random: &random)
    let plan = OfferPlan(tracks: [track], audioReceivers: 2, videoReceivers: 1)
    let offer = try client.offer(plan, local: local("client"), random: &random)
    let answer = try server.answer(to: offer, local: local("server"), random: &random)
    _ = try client.accept(answer.description)
    let sound = server.announcement(of: .audio, beside: nil, random: &random)
    let picture = server.announcement(of: .video, beside: sound, random: &random)
    #expect(sound.streamID == picture.streamID && sound.cname == picture.cname && sound.ssrc != picture.ssrc)
    _ = try server.offer(OfferPlan(tracks: [sound, picture]), local: local("server"), random: &random)
    return (client, server)
  }

  @Test mutating func `a negotiation goes on from its bytes, an offer that is on its way too`() throws {
    var (client, server) = try ends()
    var copy = try read(bytes(server))
    #expect(copy == server)
    #expect(try read(bytes(client), .client) == client)
    // What comes next is the same.
    let offer = try client.offer(OfferPlan(videoReceivers: 1), local: local("client"), random: &random)
    server.withdrawOffer()
    copy.withdrawOffer()
    var (a, b) = (RandomSource.seeded(state: 1), RandomSource.seeded(state: 1))
    #expect(
      try server.answer(to: offer, local: local("server"), random: &a)
        == copy.answer(to: offer, local: local("server"), random: &b))
    #expect(server == copy)
  }

  @Test mutating func `bytes that are cut off, or of another version, are refused`() throws {
    let whole = bytes(try ends().server)
    for count in whole.indices {
      #expect(throws: StateError.self) { try read(Array(whole.prefix(count))) }
    }
    #expect(throws: StateError.version(9, of: "negotiation", known: 1...2, offset: 0)) {
      try read([9] + whole.dropFirst())
    }
  }
}
