import Model
import Testing

@testable import Engine
@testable import Rooms

/// What a subscriber hears when the media plane has no room for a picture on its path.
@Suite("Pictures that are paused for want of room", .timeLimit(.minutes(1)))
struct PausedPictureTests {
  private let run = StateRun()

  /// What a client has heard of tracks, in order.
  private func heard(_ client: StateClient) -> [String] {
    client.notices.flatMap { notice -> [String] in
      guard case .on(_, .streams(let changes)) = notice else { return [] }
      return changes.map { "\($0.track.text) \($0.state)" }
    }
  }

  @Test func `the pause is said once, to its subscriber and of the picture alone, and its end once`() throws {
    let ada = try run.join("ada")
    _ = try ada.offer([.audio, .video])
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1)
    let picture = try #require(ada.tracks.first { $0.kind == .video }).id
    let transport = try #require(bob.transport())
    let peer = try #require(transport.peer)
    let slot = try #require(transport.slots.slots.first { $0.track == picture }).index
    let key = try #require(transport.slots.key(of: picture))
    var begun = PeerEvents(peer: key.peer)
    begun.startedTracks[key.index] = CodecFormat(.vp8)
    run.handle(.media(begun))

    /// Says of the slot what a worker does.
    func say(_ isStarved: Bool, of track: TrackKey) -> [String] {
      let before = heard(bob).count
      var events = PeerEvents(peer: peer)
      events.slots[slot] = SlotFlow(track: track, isStarved: isStarved)
      run.handle(.media(events))
      return Array(heard(bob).dropFirst(before))
    }
    #expect(say(false, of: key) == [], "it comes from the beginning")
    #expect(say(true, of: key) == ["\(picture.text) \(StreamState.paused(.bandwidth))"])
    #expect(bob.transport()?.announced[picture] == .paused(.bandwidth))
    #expect(bob.transport()?.announced.count == 1, "of the sound there is nothing to say")
    #expect(say(true, of: key) == [])
    #expect(say(false, of: key) == ["\(picture.text) \(StreamState.active)"])
    #expect(say(false, of: key) == [])
    // What is said of a track that the slot showed before is of no account.
    #expect(say(true, of: TrackKey(peer: key.peer, index: key.index &+ 7)) == [])
    #expect(bob.transport()?.announced.isEmpty == true && heard(eve).isEmpty)
  }
}
