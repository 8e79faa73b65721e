import Model
import Testing

@testable import Engine
@testable import Rooms

/// A publisher changes its codec with any packet; what follows of it concerns everybody.
@Suite("Tracks that change their codec", .timeLimit(.minutes(1)))
struct CodecChangeTests {
  let run = StateRun()

  /// The first packet of a track, or one of another codec.
  private func hear(_ codec: Codec, from publisher: StateClient) throws {
    var events = PeerEvents(peer: try #require(publisher.transport()?.peer))
    events.startedTracks[0] = CodecFormat(codec)
    run.handle(.media(events))
  }

  private func codecs(of publisher: StateClient, at other: StateClient) -> [CodecFormat?] {
    publisher.tracks.map { other.transport()?.slots.tracks[$0.id]?.codec }
  }

  @Test func `a flood of changes is passed on once a second, the newest`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    try hear(.vp9, from: ada)
    #expect(codecs(of: ada, at: bob) == [CodecFormat(.vp9)], "the first at once")
    var changes = 0
    var known = codecs(of: ada, at: bob)
    for step in 0..<2_000 {
      try hear(step % 2 == 0 ? .h264 : .vp8, from: ada)
      if step % 20 == 0 { run.handle(.samples([])) }
      if codecs(of: ada, at: bob) != known {
        known = codecs(of: ada, at: bob)
        changes += 1
      }
      run.now = run.now + .milliseconds(5)
    }
    // In ten seconds.
    #expect((5...10).contains(changes))
    run.now = run.now + .seconds(1)
    try hear(.av1, from: ada)
    try hear(.vp9, from: ada)
    run.now = run.now + .seconds(1)
    run.handle(.samples([]))
    #expect(codecs(of: ada, at: bob) == [CodecFormat(.vp9)], "the last word holds, without another packet")
    #expect(ada.transport()?.codecChanges.waiting.isEmpty == true)
  }

  @Test func `a change that is taken back says nothing`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    try hear(.vp8, from: ada)
    try hear(.vp9, from: ada)
    #expect(codecs(of: ada, at: bob) == [CodecFormat(.vp9)], "where nothing has changed lately, at once")
    try hear(.vp8, from: ada)
    try hear(.vp9, from: ada)
    #expect(ada.transport()?.codecChanges.waiting.isEmpty == true)
    try hear(.vp8, from: ada)
    _ = try ada.offer(stops: true)
    #expect(ada.transport()?.codecChanges.waiting.isEmpty == true, "it goes with its track")
  }

  @Test func `sound in RED whose blocks can't be taken out is paused for those alone who lack RED`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer(
      [.audio], describing: [OfferedTrack(mid: "0", source: nil, encrypted: true)])
    #expect(ada.tracks.map(\.isEncrypted) == [true])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let cid = try run.join("cid")
    _ = try cid.offer(receivers: 1, rewrite: StateClient.lacking("red", in: "audio"))
    func states(_ client: StateClient) -> [StreamState] {
      client.notices.flatMap { notice -> [StreamState] in
        if case .on(_, .streams(let changes)) = notice { changes.map(\.state) } else { [] }
      }
    }
    try hear(.opus, from: ada)
    let before = [states(bob), states(cid)]
    run.now = run.now + .seconds(2)
    try hear(.red, from: ada)
    #expect(Array(states(cid).dropFirst(before[1].count)) == [.paused(.codec)])
    #expect(states(bob) == before[0])
    run.now = run.now + .seconds(2)
    try hear(.opus, from: ada)
    #expect(states(cid).last == .active && states(bob) == before[0])
  }

  @Test func `what can't be paid is passed on later`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    try hear(.vp8, from: ada)
    while case .refused(.unknownTrack) = ada.ask(.mute("TR_x", true)) {}
    try hear(.vp9, from: ada)
    #expect(codecs(of: ada, at: bob) == [CodecFormat(.vp8)])
    run.now = run.now + .milliseconds(50)
    run.handle(.samples([]))
    #expect(codecs(of: ada, at: bob) == [CodecFormat(.vp9)])
  }

  @Test func `what waits goes on from the room's bytes`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    try hear(.vp8, from: ada)
    try hear(.vp9, from: ada)
    try hear(.h264, from: ada)
    let before = ada.transport()?.codecChanges
    #expect(before?.waiting.count == 1 && before?.applied == run.now)
    try run.rebuild()
    #expect(ada.transport()?.codecChanges == before)
  }
}
