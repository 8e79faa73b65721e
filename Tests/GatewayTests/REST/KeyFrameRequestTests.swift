import Engine
import Foundation
import HTTPServer
import Model
import SyntheticPeers
import Testing

@testable import Gateway

/// Who last requested a key frame: from the subscriber's RTCP to the REST answer, over real sockets.
@Suite("REST: who asks for key frames", .timeLimit(.minutes(2)))
struct KeyFrameRequestTests {
  /// One who publishes a picture, and those who come to see it.
  private final class Call {
    let house: House
    private var peers: [LivePeer] = []
    private(set) var track = ""

    /// - Parameter isSimulcast: in two sizes.
    init(isSimulcast: Bool) async throws {
      house = try House()
      let eve = try LivePeer(house, try await house.enter("eve"), number: 1) {
        $0.publishesVideo = true
        guard isSimulcast else { return }
        $0.layers = LayeredVideo(
          encodings: [
            .init(rid: "f", width: 640, height: 360, rate: 400_000),
            .init(rid: "q", width: 320, height: 180, rate: 100_000),
          ], structure: LayerStructure(codec: .vp8, temporalLayers: 1))
      }
      peers.append(eve)
      track = try #require(try await eve.offer().first)
    }

    func view(_ identity: String) async throws -> LivePeer {
      let viewer = try LivePeer(house, try await house.enter(identity), number: peers.count + 1) {
        $0.audioReceivers = 1
        $0.videoReceivers = 1
      }
      peers.append(viewer)
      try await viewer.offer()
      return viewer
    }

    func run(_ span: Duration) async {
      let end = ContinuousClock.now + span
      while ContinuousClock.now < end {
        for peer in peers { peer.turn(server: house.engine.port) }
        try? await Task.sleep(for: .milliseconds(2))
      }
    }

    /// What REST says of what a viewer gets of the picture.
    func explained(to viewer: LivePeer) async -> NSDictionary {
      let answer = await house.ask(.get, "/v1/rooms/demo/explain")
      let own = answer.items.first { $0["id"] as? String == viewer.guest.id }
      let subscriptions = own?["subscriptions"] as? [NSDictionary] ?? []
      return subscriptions.first { $0["track"] as? String == track } ?? [:]
    }

    /// Runs until REST says so, and answers what it said then: the next request of the server's may change it.
    /// - Parameter broken: whose decoder requests a key frame again and again until then.
    func waits(
      for viewer: LivePeer, broken: LivePeer? = nil, _ isSo: (NSDictionary) -> Bool
    ) async -> NSDictionary? {
      let end = ContinuousClock.now + .seconds(20)
      while ContinuousClock.now < end {
        broken?.peer.requestPictures()
        await run(.milliseconds(50))
        let explained = await explained(to: viewer)
        if isSo(explained) { return explained }
      }
      return nil
    }

    /// A viewer's picture is broken, and its decoder requests a key frame until REST names the viewer: a request close behind another
    /// one of the same viewer is left alone, and one of the server's may follow it.
    func breaks(_ viewer: LivePeer, seenBy other: LivePeer? = nil) async -> NSDictionary? {
      await waits(for: other ?? viewer, broken: viewer) { KeyFrameRequestTests.isAsked($0, by: viewer) }
    }
  }

  private static func request(_ explained: NSDictionary) -> NSDictionary {
    explained["keyFrameRequest"] as? NSDictionary ?? [:]
  }

  /// When it was made, as REST writes it, which sorts as it reads.
  private static func time(of explained: NSDictionary) throws -> String {
    try #require(request(explained)["at"] as? String)
  }

  private static func isAsked(_ explained: NSDictionary, by viewer: LivePeer) -> Bool {
    request(explained)["by"] as? String == "participant"
      && request(explained)["participant"] as? String == viewer.guest.id
  }

  private static func layer(_ explained: NSDictionary) -> String? {
    (explained["sent"] as? NSDictionary)?["rid"] as? String
  }

  @Test func `a viewer that joins, and one whose picture is broken, are who asked last`() async throws {
    let call = try await Call(isSimulcast: false)
    await call.run(.seconds(1))
    let bob = try await call.view("bob")
    #expect(await call.waits(for: bob) { Self.isAsked($0, by: bob) && $0["sent"] != nil } != nil)
    // The picture that bob began with lies too far back to be shown to others from its beginning.
    await call.run(.seconds(8))
    let cid = try await call.view("cid")
    let joined = try #require(await call.waits(for: cid) { Self.isAsked($0, by: cid) })

    let broken = try #require(await call.breaks(bob, seenBy: cid), "it is the track's, for all who look")
    #expect(try Self.time(of: broken) > Self.time(of: joined))
    // One that has gone is no one that is known.
    #expect(await call.house.ask(.delete, "/v1/rooms/demo/participants/bob").status == 204)
    let gone = try #require(await call.waits(for: cid) { Self.request($0)["by"] as? String == "other" })
    #expect(Self.request(gone)["participant"] == nil)
  }

  @Test func `for another layer the server itself asks, until a viewer does again`() async throws {
    let call = try await Call(isSimulcast: true)
    await call.run(.seconds(2))
    let bob = try await call.view("bob")
    // It begins with the smaller one.
    let isServers = { (explained: NSDictionary) in Self.request(explained)["by"] as? String == "server" }
    #expect(await call.waits(for: bob) { Self.layer($0) == "f" && isServers($0) } != nil)
    let broken = try #require(await call.breaks(bob))
    #expect(
      try await bob.guest.verdict("view", #""tracks":[{"track":"\#(call.track)","maxWidth":320}]"#) == "ok")
    let switched = try #require(await call.waits(for: bob) { Self.layer($0) == "q" && isServers($0) })
    #expect(Self.request(switched)["participant"] == nil)
    #expect(try Self.time(of: switched) > Self.time(of: broken))
    #expect(await call.breaks(bob) != nil)
  }
}
