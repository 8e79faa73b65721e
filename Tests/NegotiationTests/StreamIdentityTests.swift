import Model
import Negotiation
import Testing
import Wire

/// Two packets under one SSRC and index would give a key away, so a stream's SSRC is its slot's, and no other's, for as long
/// as the transport lives.
@Suite("A slot's SSRCs are its own", .timeLimit(.minutes(2)))
struct StreamIdentityTests {
  private var server = Negotiator()
  private var client = Negotiator(policy: .client)
  private var random = RandomSource.seeded(state: 4)
  /// By SSRC and by index: what was agreed on at any time.
  private var indices: [UInt32: UInt16] = [:]
  private var streams: [UInt16: UInt32] = [:]

  private func bytes() -> [UInt8] {
    var writer = StateWriter()
    server.encode(into: &writer)
    return writer.bytes
  }

  private mutating func rebuild() throws {
    let before = bytes()
    var reader = StateReader(before)
    server = try Negotiator(from: &reader, policy: .server)
    try reader.finish()
    #expect(bytes() == before)
  }

  /// Each slot has one stream, and each stream one slot.
  private mutating func audit(_ comment: Comment = "") {
    for slot in server.media.send {
      #expect(indices[slot.ssrc, default: slot.index] == slot.index, comment)
      #expect(streams[slot.index, default: slot.ssrc] == slot.ssrc, comment)
      indices[slot.ssrc] = slot.index
      streams[slot.index] = slot.ssrc
    }
  }

  // MARK: - Retransmissions

  private func offer(rtx: Bool) -> OfferText {
    var offer = OfferText()
    offer.sections = [OfferText.video("0", "recvonly")]
    offer.bundle("0")
    guard !rtx else { return offer }
    offer.replace("m=video", with: "m=video 9 UDP/TLS/RTP/SAVPF 96")
    offer.replace("a=rtpmap:97", with: nil)
    offer.replace("a=fmtp:97", with: nil)
    return offer
  }

  @Test mutating func `retransmissions that are wanted again are the stream that they were`() throws {
    let first = try #require(server.answer(offer(rtx: true)).agreement.media.send.first)
    let rtx = try #require(first.rtxSSRC)
    let size = bytes().count
    for round in 0..<20 as Range<UInt64> {
      let without = try server.answer(offer(rtx: false), seed: 50 + round)
      #expect(without.agreement.media.send.map(\.rtxSSRC) == [nil])
      #expect(without.description.media[0].ssrcs.map(\.ssrc) == [first.ssrc])
      if round % 5 == 0 { try rebuild() }
      let with = try server.answer(offer(rtx: true), seed: 90 + round)
      #expect(with.agreement.media.send.map(\.rtxSSRC) == [rtx])
      #expect(with.description.media[0].ssrcs.map(\.ssrc) == [first.ssrc, rtx])
      #expect(bytes().count == size)
    }
  }

  @Test mutating func `retransmissions that come later are drawn once`() throws {
    let first = try #require(server.answer(offer(rtx: false)).agreement.media.send.first)
    #expect(first.rtxSSRC == nil)
    let drawn = try server.answer(offer(rtx: true), seed: 2).agreement.media.send[0].rtxSSRC
    #expect(drawn != nil)
    _ = try server.answer(offer(rtx: false), seed: 3)
    #expect(try server.answer(offer(rtx: true), seed: 4).agreement.media.send[0].rtxSSRC == drawn)
  }

  // MARK: - Offers of either side

  /// The server's offer of these tracks, answered.
  private mutating func offer(_ tracks: [TrackAnnouncement], answered direction: MediaDirection? = nil) throws
  {
    let offer = try server.offer(OfferPlan(tracks: tracks), local: local(), random: &random)
    var answer = try client.answer(to: offer, local: local("peer", isLite: false), random: &random)
      .description
    for index in answer.media.indices where answer.media[index].port != 0 {
      if let direction, answer.media[index].shared.direction != .inactive {
        answer.media[index].shared.direction = direction
      }
    }
    _ = try server.accept(answer)
    audit()
  }

  /// The client's offer, with a direction for each section.
  private mutating func offer(_ directions: [MediaDirection]) throws -> SessionDescription {
    var offer = try client.offer(OfferPlan(), local: local("peer", isLite: false), random: &random)
    for (index, direction) in zip(offer.media.indices, directions) where offer.media[index].port != 0 {
      offer.media[index].shared.direction = direction
    }
    client.withdrawOffer()
    let answer = try server.answer(to: offer, local: local(), random: &random).description
    audit()
    return answer
  }

  @Test(arguments: [false, true])
  mutating func `a track whose section the client put to rest is not offered again`(
    isTakenUp: Bool
  ) throws {
    let track = server.announcement(of: .video, beside: nil, random: &random)
    try offer([track])
    #expect(server.media.send.map(\.ssrc) == [track.ssrc])
    let rest = try offer([.inactive])
    #expect(server.media.send.isEmpty && rest.media[0].ssrcs.isEmpty)
    if isTakenUp {
      let answer = try offer([.recvonly])
      let slot = try #require(server.media.send.first)
      #expect(slot.ssrc != track.ssrc && slot.index == 1)
      #expect(answer.media[0].ssrcs.first?.ssrc == slot.ssrc)
      try rebuild()
    }
    // The plan says so still, by mistake.
    let second = try server.offer(OfferPlan(tracks: [track]), local: local(), random: &random)
    #expect(!second.media.flatMap(\.ssrcs).contains { $0.ssrc == track.ssrc })
    _ = try server.accept(
      client.answer(to: second, local: local("peer", isLite: false), random: &random).description)
    audit()
    #expect(server.media.send.count == (isTakenUp ? 1 : 0))
  }

  @Test mutating func `a track whose section the client refuses to receive is not begun again`() throws {
    let track = server.announcement(of: .video, beside: nil, random: &random)
    try offer([track])
    try offer([track], answered: .inactive)
    #expect(server.media.send.isEmpty)
    try offer([track])
    #expect(server.media.send.isEmpty)
    // The client takes the place for itself.
    _ = try? offer([.recvonly])
    audit()
  }

  @Test mutating func `in whatever order both sides offer, no stream changes its slot`() throws {
    for seed in 1...30 as ClosedRange<UInt64> {
      (server, client) = (Negotiator(), Negotiator(policy: .client))
      (indices, streams) = ([:], [:])
      random = .seeded(state: seed)
      var tracks: [TrackAnnouncement] = []
      var sent = 0
      for _ in 0..<60 {
        let directions = (0..<8).map { _ in
          [MediaDirection.inactive, .recvonly, .recvonly][Int(random.next() % 3)]
        }
        switch random.next() % 4 {
        case 0:
          tracks.append(
            server.announcement(of: random.next() % 2 == 0 ? .audio : .video, beside: nil, random: &random))
          fallthrough
        case 1:
          // Any of those that ever were.
          let plan = tracks.filter { _ in random.next() % 3 != 0 }.suffix(6)
          do { try offer(Array(plan), answered: random.next() % 3 == 0 ? .inactive : nil) } catch {
            server.withdrawOffer()
          }
        case 2: _ = try? offer(directions)
        default: try rebuild()
        }
        audit("seed \(seed)")
        sent += server.media.send.count
      }
      #expect(sent > 10, "seed \(seed)")
    }
  }

  @Test mutating func `offers that come to nothing end before the state is too large to be read`() throws {
    var offers = 0
    do {
      while offers < 2_000 {
        let tracks = (0..<32).map { _ in server.announcement(of: .video, beside: nil, random: &random) }
        _ = try server.offer(OfferPlan(tracks: tracks), local: local(), random: &random)
        server.withdrawOffer()
        offers += 1
      }
    } catch { #expect(error == .tooManyStreams(limit: 32_768)) }
    #expect((500..<1_000).contains(offers))
    try rebuild()
  }
}
