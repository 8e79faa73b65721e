import AccessTokens
import Model
import Negotiation
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("Transports of one participant", .timeLimit(.minutes(1)))
struct TransportTests {
  @Test func `there are four at most, and a number is not used again`() throws {
    let run = StateRun()
    let ada = try run.join("ada", opening: nil)
    #expect(ada.member?.transports.isEmpty == true)
    let opened = try (0..<4).map { _ in try ada.open(.both) }
    #expect(opened.map(\.number) == [1, 2, 3, 4])
    #expect(throws: RequestError.limit(4)) { _ = try ada.open(.publishes) }
    ada.ask(.closeTransport(opened[3]))
    #expect(try ada.open(.publishes).number == 5)
  }

  @Test func `one publishes and one subscribes by the server's offer, and each has slots of its own`() throws
  {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.audio, .video])
    let ada = try run.join("ada", opening: nil)
    let (up, down) = (try ada.open(.publishes), try ada.open(.subscribes))
    _ = try ada.offer([.audio], receivers: 1, on: up)
    #expect(ada.transport(up)?.slots.slots.compactMap(\.track) == [], "it publishes alone")
    let answer = try ada.takeOffer(audio: 1, video: 1, on: down)
    #expect(Set(answer.slots.compactMap(\.track)) == Set(bob.tracks.map(\.id)) && answer.tracks.isEmpty)
    #expect(run.added.count == 3 && ada.tracks.count == 1)
    // Audio and video of the first pair are played in step.
    #expect(Set(ada.transport(down)?.slots.slots.map(\.streamID) ?? []).count == 1)
    // What changes later is said of that transport.
    _ = try bob.offer([.audio])
    let named = ada.notices.compactMap {
      if case .on(let transport, .streams) = $0 { transport } else { nil }
    }
    #expect(named == [down])
    let more = try ada.takeOffer(audio: 2, video: 1, on: down)
    #expect(more.slots.compactMap(\.track).count == 3)
    // An SSRC is never used twice, also where slots go and come.
    let before = Set(ada.transport(down)?.plan.tracks.map(\.ssrc) ?? [])
    _ = try ada.takeOffer(audio: 1, video: 1, on: down)
    _ = try ada.takeOffer(audio: 2, video: 2, on: down)
    let after = Set(ada.transport(down)?.plan.tracks.map(\.ssrc) ?? [])
    #expect(before.count == 3 && after.count == 4 && before.intersection(after).count == 2)
  }

  @Test func `the bound on tracks holds for all transports together`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let other = try ada.open(.publishes)
    let limit = StateRun.terms.policy.maximumTracks
    while ada.tracks.count < limit - 10 {
      _ = try ada.offer(Array(repeating: .audio, count: min(50, limit - 10 - ada.tracks.count)))
      run.now = run.now + .seconds(60)
    }
    let answer = try ada.offer(Array(repeating: .video, count: 20), on: other)
    #expect(answer.tracks.count == 10 && answer.declined.count == 10 && ada.tracks.count == limit)
  }

  @Test func `a transport that subscribes takes no tracks, and one that publishes makes no offer`() throws {
    let run = StateRun()
    let ada = try run.join("ada", opening: .subscribes)
    let answer = try ada.offer([.audio], receivers: 1)
    #expect(answer.tracks.isEmpty && answer.declined.map(\.code) == ["not-allowed"])
    let up = try ada.open(.publishes)
    #expect(throws: OfferError.self) { _ = try ada.takeOffer(audio: 1, video: 0, on: up) }
    #expect(throws: OfferError.self) { _ = try ada.takeOffer(audio: 33, video: 0, on: .first) }
    guard case .offerRefused(.refused(.noOfferPending)) = ada.ask(.accept(RoomTests.audioOffer, on: up))
    else {
      Issue.record("an answer to no offer is taken")
      return
    }
  }

  @Test func `an offer of ours that is never answered gives its place back when its transport closes`() throws
  {
    let run = StateRun()
    run.places = 1
    let ada = try run.join("ada", opening: .subscribes)
    ada.ask(.makeOffer(SlotCount(audio: 1, video: 0), on: .first))
    #expect(run.places == 0 && run.added.isEmpty)
    guard
      case .offerRefused(.refused(.offerPending)) = ada.ask(
        .makeOffer(SlotCount(audio: 1, video: 0), on: .first))
    else {
      Issue.record("two offers are on their way")
      return
    }
    #expect(run.places == 0)
    ada.ask(.closeTransport(.first))
    #expect(run.places == 1 && ada.member?.transports.isEmpty == true)
  }

  @Test func `closing one leaves the other, and a removal ends both`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.audio], receivers: 2)
    let ada = try run.join("ada")
    let other = try ada.open(.both)
    _ = try ada.offer([.audio], receivers: 1)
    _ = try ada.offer([.video], receivers: 1, on: other)
    #expect(ada.tracks.count == 2 && bob.transport()?.slots.slots.compactMap(\.track).count == 2)
    let kept = try #require(ada.transport()?.peer)
    ada.ask(.closeTransport(other))
    #expect(ada.tracks.map(\.kind) == [.audio] && ada.transport()?.peer == kept)
    #expect(ada.transport()?.slots.slots.compactMap(\.track) == bob.tracks.map(\.id))
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == ada.tracks.map(\.id))
    let third = try ada.open(.publishes)
    _ = try ada.offer([.video], on: third)
    run.handle(.administration(.remove("ada")))
    var closed = 0
    for case .close in run.commands { closed += 1 }
    #expect(ada.member == nil && closed == 3)
    #expect(bob.transport()?.slots.slots.compactMap(\.track) == [])
  }

  @Test func `a session that has no socket goes with its last transport, also once it has been bytes`() throws
  {
    for isAttended in [false, true] {
      let run = StateRun()
      let ada = try run.join("ada", opening: nil, isAttended: isAttended)
      let (one, two) = (try ada.open(.publishes), try ada.open(.subscribes))
      try run.rebuild()
      // Of a socket that it never had nothing is lost.
      if !isAttended { ada.ask(.absent) }
      run.now = run.now + .seconds(100)
      run.handle(.alarm)
      ada.ask(.closeTransport(one))
      #expect(ada.member?.transports.map(\.id) == [two])
      ada.ask(.closeTransport(one))
      #expect(ada.member != nil, "closed before")
      ada.ask(.closeTransport(two))
      #expect((ada.member != nil) == isAttended)
      #expect(run.done.contains("dismiss left") == !isAttended)
    }
  }

  @Test func `who comes back learns of each of its transports`() throws {
    let run = StateRun()
    let bob = try run.join("bob")
    _ = try bob.offer([.audio])
    let ada = try run.join("ada")
    let (up, down) = (try ada.open(.publishes), try ada.open(.subscribes))
    _ = try ada.offer([.audio])
    _ = try ada.offer([.video], on: up)
    let slots = try ada.takeOffer(audio: 1, video: 0, on: down).slots
    ada.ask(.absent)
    ada.ask(.present(after: 2))
    guard case .resumed(let resumed)? = ada.notices.last else {
      Issue.record("nothing is resumed")
      return
    }
    #expect(resumed.transports.map(\.id) == [.first, up, down])
    #expect(resumed.transports.map(\.tracks.count) == [1, 1, 0])
    #expect(resumed.transports.flatMap(\.tracks).map(\.track) == ada.tracks.map(\.id))
    #expect(resumed.transports.map { $0.slots.map(\.mid) } == [[], [], slots.map(\.mid)])
    #expect(resumed.transport(down)?.slots.map(\.track) == bob.tracks.map(\.id))
    #expect(resumed.transport(TransportID(number: 9)) == nil)
    // The track that plays on one waits for a slot on the other, and says so of each.
    let named = resumed.notices.compactMap { if case .on(let id, .streams) = $0 { id } else { nil } }
    #expect(named == [.first, down])
  }

  @Test func `requests on any transport are paid from what the participant has`() throws {
    /// How many requests are obeyed at one moment, on transports in turn.
    func requests(_ others: Int) throws -> Int {
      let run = StateRun()
      let ada = try run.join("ada")
      var transports = [TransportID.first]
      for _ in 0..<others { transports.append(try ada.open(.subscribes)) }
      var count = others
      while case .refused(.unknownTrack) = ada.ask(
        .subscribe("TR_x", mid: nil, PicturePreference(), on: transports[count % transports.count]))
      {
        count += 1
      }
      return count
    }
    let alone = try requests(0)
    #expect(alone > 10)
    #expect(try requests(1) == alone && requests(3) == alone)
  }

  @Test func `media that is lost takes its transport, and the session only with the last`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let other = try ada.open(.publishes)
    _ = try ada.offer([.audio])
    _ = try ada.offer([.video], on: other)
    func lose(_ transport: TransportID) throws {
      var events = PeerEvents(peer: try #require(ada.transport(transport)?.peer))
      events.closed = .connectionLost
      run.handle(.media(events))
    }
    try lose(.first)
    #expect(ada.tracks.map(\.kind) == [.video] && ada.member?.transports.map(\.id) == [other])
    guard
      case .on(.first, .closed)? = ada.notices.last(where: { if case .event = $0 { false } else { true } }
      )
    else {
      Issue.record("its participant does not learn of it")
      return
    }
    try lose(other)
    #expect(ada.member == nil && run.done.contains("dismiss connectionLost"))
  }

  @Test func `a participant is heard of on whichever way it was heard last`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let other = try ada.open(.publishes)
    _ = try ada.offer([.audio])
    _ = try ada.offer([.video], on: other)
    let peers = try [TransportID.first, other].map { try #require(ada.transport($0)?.peer) }
    let begin = run.now
    run.now = begin + .seconds(12)
    let samples = zip(peers, [begin, run.now]).map {
      PeerSample(
        peer: $0, quality: PeerQuality(loss: 0, roundTrip: .zero, lastHeard: $1), levels: [])
    }
    run.handle(.samples(samples))
    #expect(!run.kinds().contains("participant.reconnecting"))
  }
}
