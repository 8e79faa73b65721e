import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

/// Tracks whose packets cease to come, by samples of the media plane.
@Suite("Tracks of which nothing comes", .timeLimit(.minutes(1)))
struct StallTests {
  let run = StateRun()

  /// A publisher of one picture that has begun, and a subscriber that shows it.
  private func call() throws -> (ada: StateClient, bob: StateClient, key: TrackKey) {
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let key = try #require(ada.transport()?.published.first?.key)
    start(key)
    return (ada, bob, key)
  }

  private func start(_ key: TrackKey) {
    var events = PeerEvents(peer: key.peer)
    events.startedTracks[key.index] = CodecFormat(.vp8)
    run.handle(.media(events))
  }

  /// - Parameter last: when the last packet of each encoding came.
  private func sample(_ key: TrackKey, _ last: Instant...) {
    let quality = PeerQuality(loss: 0, roundTrip: .zero, lastHeard: run.now, bitrates: Bitrates())
    let levels = last.enumerated().map { encoding, moment in
      (
        TrackKey(peer: key.peer, index: key.index, encoding: UInt8(encoding)),
        TrackLevel(attenuation: nil, lastPacket: moment)
      )
    }
    for levels in [levels, levels.reversed()] {
      run.handle(.samples([PeerSample(peer: key.peer, quality: quality, levels: levels)]))
    }
  }

  private func states(_ client: StateClient) -> [StreamState] {
    client.notices.flatMap { notice -> [StreamState] in
      if case .on(_, .streams(let changes)) = notice { changes.map(\.state) } else { [] }
    }
  }

  @Test func `a track comes as long as one of its encodings does`() throws {
    let (_, bob, key) = try call()
    let start = run.now
    for _ in 0..<100 {
      run.now = run.now + .milliseconds(200)
      // The first, which no tile needs, is off.
      sample(key, start, run.now, start)
    }
    #expect(states(bob).isEmpty)
    let end = run.now
    run.now = run.now + .milliseconds(2_999)
    sample(key, start, end, start)
    #expect(states(bob).isEmpty)
    run.now = run.now + .milliseconds(1)
    sample(key, start, end, start)
    #expect(states(bob) == [.paused(.noMedia)])
    sample(key, start, end, run.now)
    #expect(states(bob) == [.paused(.noMedia), .active])
  }

  @Test func `a track that comes and goes is announced ever less often, and at once again after a calm`()
    throws
  {
    let (_, bob, key) = try call()
    var last = run.now
    var changes: [(state: StreamState, at: Instant)] = []
    func pass(_ span: Duration, isSent: (Duration) -> Bool) {
      let begin = run.now
      while run.now - begin < span {
        run.now = run.now + .milliseconds(200)
        if isSent(run.now - last) { last = run.now }
        let known = states(bob).count
        sample(key, last)
        changes += states(bob).dropFirst(known).map { ($0, run.now) }
      }
    }
    // A packet each 3.2 s.
    pass(.seconds(600)) { $0 >= .milliseconds(3_200) }
    let stalls = changes.filter { $0.state == .paused(.noMedia) }
    #expect((15...24).contains(stalls.count), "\(stalls.count)")
    #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.state != $1.state }, "by turns")
    let waits = zip(changes, changes.dropFirst()).filter { $0.0.state == .active }.map { $1.at - $0.at }
    let least = [3, 6, 12, 24] + Array(repeating: 30, count: max(0, waits.count - 4))
    for (wait, seconds) in zip(waits, least) { #expect(wait >= .seconds(seconds)) }
    // Who sends nothing is silent for its subscribers in time, whatever it did before.
    pass(.seconds(40)) { _ in false }
    #expect(states(bob).last == .paused(.noMedia))
    pass(.seconds(70)) { _ in true }
    #expect(states(bob).last == .active)
    pass(.seconds(4)) { _ in false }
    #expect(states(bob).last == .paused(.noMedia))
    #expect(run.state.stalls.tracks.values.map(\.wait) == [Stalls.shortestWait])
  }

  @Test func `a stall is a request of its publisher's, and waits where that can't be paid`() throws {
    let (ada, bob, key) = try call()
    let last = run.now
    run.now = run.now + .seconds(10)
    while case .refused(.unknownTrack) = ada.ask(.mute("TR_x", true)) {}
    sample(key, last)
    #expect(states(bob).isEmpty)
    run.now = run.now + .milliseconds(50)
    sample(key, last)
    #expect(states(bob) == [.paused(.noMedia)])
    guard case .refused(.tooOften) = ada.ask(.mute("TR_x", true)) else {
      Issue.record("it cost nothing")
      return
    }
  }

  @Test func `a stall concerns those who show the track, and of them that track alone`() throws {
    let (ada, bob, key) = try call()
    _ = try ada.offer([.audio])
    let eve = try run.join("eve")
    _ = try eve.offer([.video], receivers: 1)
    let picture = try #require(ada.tracks.first { $0.kind == .video }).id
    eve.ask(.unsubscribe(picture.text, on: .first))
    let (before, other) = (bob.notices.count, states(eve).count)
    let last = run.now
    run.now = run.now + .seconds(4)
    sample(key, last)
    #expect(states(eve).count == other && bob.notices.count > before)
    for notice in bob.notices.dropFirst(before) {
      guard case .on(_, .streams(let changes)) = notice else { continue }
      #expect(changes.map(\.track) == [picture] && changes.map(\.state) == [.paused(.noMedia)])
    }
    #expect(bob.transport()?.announced[picture] == .paused(.noMedia))
    // One that comes by it later is given the state as it is.
    eve.ask(.subscribe(picture.text, mid: nil, PicturePreference(), on: .first))
    #expect(states(eve).last == .paused(.noMedia))
  }

  @Test func `a track that is unmuted has three seconds in which to come again`() throws {
    let (ada, bob, key) = try call()
    let (track, last) = (try #require(ada.tracks.first).id.text, run.now)
    ada.ask(.mute(track, true))
    run.now = run.now + .seconds(100)
    sample(key, last)
    ada.ask(.mute(track, false))
    run.now = run.now + .milliseconds(2_999)
    sample(key, last)
    #expect(states(bob).isEmpty)
    run.now = run.now + .milliseconds(1)
    sample(key, last)
    #expect(states(bob) == [.paused(.noMedia)], "nothing comes of it still")
    ada.ask(.mute(track, true))
    sample(key, last)
    #expect(states(bob).last == .active, "a muted track isn't silent")
  }

  @Test func `what is known of stalls goes on from the room's bytes, and goes with its track`() throws {
    let (ada, _, key) = try call()
    let last = run.now
    run.now = run.now + .seconds(4)
    sample(key, last)
    run.now = run.now + .seconds(1)
    sample(key, run.now)
    let before = run.state.stalls
    #expect(before.tracks.count == 1)
    try run.rebuild()
    #expect(run.state.stalls == before)
    _ = try ada.offer(stops: true)
    #expect(run.state.stalls.tracks.isEmpty)
  }
}
