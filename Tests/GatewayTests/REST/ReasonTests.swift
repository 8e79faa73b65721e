import Engine
import Foundation
import HTTPServer
import Model
import Signalling
import SyntheticPeers
import Testing

@testable import Gateway

/// Each reason as it comes about between whole peers, over real sockets: the word that programs read, and the sentence that people do.
@Suite("Reasons that come about", .timeLimit(.minutes(5)), .serialized)
struct ReasonTests {
  /// What is brought about.
  enum Situation: String, CaseIterable {
    case allIsWell, notConnected, everySlotTaken, codecLacking, turnedOff, mutedByPublisher, mutedByAdmin
    case silentPublisher, narrowPath, awaitsKeyFrame, smallTile, lowTile, lowQuality, slowTile
    case encodingStopped, nothingLarger, serverStill

    var word: StreamReasonWord {
      switch self {
      case .allIsWell: .best
      case .notConnected: .connecting
      case .everySlotTaken: .noSlot
      case .codecLacking: .codec
      case .turnedOff: .off
      case .mutedByPublisher, .mutedByAdmin: .muted
      case .silentPublisher: .noMedia
      case .narrowPath: .bandwidth
      case .awaitsKeyFrame: .keyFrame
      case .smallTile, .lowTile, .lowQuality, .slowTile: .view
      case .encodingStopped, .nothingLarger: .publisher
      case .serverStill: .unknown
      }
    }

    /// nil: it has a figure in it.
    var text: String? {
      switch self {
      case .allIsWell: "this is the best there is"
      case .notConnected: "the connection isn't up yet"
      case .everySlotTaken: "no free slot"
      case .codecLacking: "the codec isn't one that you can play"
      case .turnedOff: "turned off"
      case .mutedByPublisher: "muted by eve"
      case .mutedByAdmin: "muted by an administrator"
      case .silentPublisher: "nothing comes from eve"
      case .narrowPath: nil
      case .awaitsKeyFrame: "waiting for the next key frame from eve"
      case .smallTile: "the tile is 320 pixels wide"
      case .lowTile: "the tile is 180 pixels high"
      case .lowQuality: "low quality was asked for"
      case .slowTile: "7 pictures a second were asked for"
      case .encodingStopped: "eve sends only 180p"
      case .nothingLarger: "eve sends only 360p"
      case .serverStill: "the server can't say at the moment"
      }
    }
  }

  @Test func `there is a situation for every reason`() {
    #expect(Set(Situation.allCases.map(\.word)) == Set(StreamReasonWord.allCases))
  }

  @Test(arguments: Situation.allCases)
  func `what is the case is what REST and the native door say`(situation: Situation) async throws {
    let stage = try ReasonStage()
    let viewer = try await Self.bringAbout(situation, on: stage)
    let isSo = { (said: NSDictionary) in
      said["reason"] as? String == situation.word.rawValue
        && (situation.text.map { said["text"] as? String == $0 } ?? true)
    }
    let said = await stage.said(to: viewer, until: isSo)
    #expect(isSo(said), "\(said)")
    guard situation != .narrowPath else { return }
    let heard = try await stage.heard(by: viewer)
    #expect(heard["reason"] as? String == said["reason"] as? String)
    #expect(heard["text"] as? String == said["text"] as? String)
  }

  private static func bringAbout(_ situation: Situation, on stage: ReasonStage) async throws -> LivePeer {
    switch situation {
    case .mutedByPublisher, .mutedByAdmin, .silentPublisher, .awaitsKeyFrame, .encodingStopped:
      return try await byPublisher(situation, on: stage)
    case .smallTile, .lowTile, .lowQuality, .nothingLarger, .turnedOff, .slowTile:
      return try await byViewer(situation, on: stage)
    case .codecLacking:
      try await stage.publish()
      return try await stage.view { $0.dialect.lacks = [.vp8] }
    case .everySlotTaken:
      try await stage.publish()
      try await stage.publish("ada")
      let viewer = try await stage.view()
      // Another's picture takes the only slot.
      let other = try #require(stage.tracks["ada"])
      #expect(try await viewer.guest.verdict("subscribe", #""track":"\#(other)""#) == "ok")
      return viewer
    case .narrowPath:
      try await stage.publish { $0.layers = ReasonStage.simulcast() }
      let viewer = try await stage.view { $0.dialect.tellsArrivals = true }
      viewer.narrow = NarrowPath(rate: 300_000)
      return viewer
    case .notConnected:
      try await stage.publish()
      return try await stage.view(isThere: false)
    case .allIsWell, .serverStill:
      try await stage.publish()
      let viewer = try await stage.view()
      guard situation == .serverStill else { return viewer }
      _ = await stage.said(to: viewer) { $0["reason"] as? String == "best" }
      stage.house.engine.stop()
      return viewer
    }
  }

  private static func byPublisher(_ situation: Situation, on stage: ReasonStage) async throws -> LivePeer {
    let eve = try await stage.publish {
      if situation == .encodingStopped { $0.layers = ReasonStage.simulcast(stopsAfter: 4) }
    }
    if situation == .awaitsKeyFrame {
      // What began so long ago can't be shown from its beginning any more, and no request is heeded.
      await stage.run(.seconds(8))
      eve.isDeaf = true
    }
    let viewer = try await stage.view()
    guard situation != .awaitsKeyFrame else { return viewer }
    _ = await stage.said(to: viewer) { $0["sent"] != nil }
    switch situation {
    case .mutedByPublisher:
      #expect(try await eve.guest.verdict("mute", #""track":"\#(stage.track)","muted":true"#) == "ok")
    case .mutedByAdmin:
      let path = "/v1/rooms/demo/participants/eve/tracks/\(stage.track)/mute"
      #expect(await stage.house.ask(.post, path, #"{"muted":true}"#).status == 200)
    case .silentPublisher: eve.peer.stopPublishing()
    default: break
    }
    return viewer
  }

  private static func byViewer(_ situation: Situation, on stage: ReasonStage) async throws -> LivePeer {
    try await stage.publish {
      $0.layers = ReasonStage.simulcast()
      if situation == .slowTile { $0.layers?.structure.temporalLayers = 3 }
    }
    let viewer = try await stage.view()
    _ = await stage.said(to: viewer) { ($0["sent"] as? NSDictionary)?["rid"] as? String == "f" }
    let fields =
      switch situation {
      case .smallTile: #""maxWidth":320"#
      case .lowTile: #""maxHeight":180"#
      case .lowQuality: #""quality":"low""#
      case .slowTile: #""maxFrameRate":7"#
      case .turnedOff: #""quality":"off""#
      default: #""maxWidth":1280,"maxHeight":720"#
      }
    try await stage.shows(viewer, fields)
    return viewer
  }

  @Test func `what a path carries is said as it is, and the layer that fits into it is the one that is sent`()
    async throws
  {
    let stage = try ReasonStage()
    let viewer = try await Self.bringAbout(.narrowPath, on: stage)
    func rate(_ said: NSDictionary) -> Int? {
      guard said["reason"] as? String == "bandwidth", let text = said["text"] as? String else { return nil }
      return text.split(separator: " ").compactMap { Int($0) }.first
    }
    let said = await stage.said(to: viewer) { said in
      (said["sent"] as? NSDictionary)?["rid"] as? String == "q" && (100...450).contains(rate(said) ?? 0)
    }
    let carried = try #require(rate(said), "\(said)")
    #expect((100...450).contains(carried), "of 300: \(carried)")
    #expect((said["text"] as? String)?.hasPrefix("your connection carries \(carried) kbit/s") == true)
  }

  @Test func `a path without a retransmission stream is never probed, and is explained all the same`()
    async throws
  {
    let stage = try ReasonStage()
    try await stage.publish { $0.layers = ReasonStage.simulcast() }
    let probed = try await stage.view("bob") { $0.dialect.tellsArrivals = true }
    let plain = try await stage.view("cid") {
      $0.dialect.tellsArrivals = true
      $0.dialect.acceptsRTX = false
    }
    for viewer in [probed, plain] { viewer.narrow = NarrowPath(rate: 400_000) }
    func probe(_ viewer: LivePeer) async -> NSObject? {
      (await stage.item(viewer)["transports"] as? [NSDictionary])?.first?["probe"] as? NSObject
    }
    let end = ContinuousClock.now + .seconds(30)
    while await probe(probed) == nil, ContinuousClock.now < end { await stage.run(.milliseconds(100)) }
    #expect(await probe(probed) != nil)
    let said = await stage.said(to: plain) { $0["reason"] as? String == "bandwidth" }
    #expect(said["reason"] as? String == "bandwidth", "\(said)")
    #expect(await probe(plain) == nil)
  }

  @Test func `what one may not have is explained to it no more, until it may again`() async throws {
    let stage = try ReasonStage()
    try await stage.publish()
    let viewer = try await stage.view()
    _ = await stage.said(to: viewer) { $0["reason"] as? String == "best" }
    for (permissions, identity) in [(#"{"canSubscribe":false}"#, "bob"), (#"{"canPublish":false}"#, "eve")] {
      let path = "/v1/rooms/demo/participants/\(identity)"
      let patch = #"{"permissions":\#(permissions)}"#
      #expect(await stage.house.ask(.patch, path, patch).status == 200)
      #expect(await stage.subscriptions(viewer).isEmpty)
      // Once a second it may be asked.
      await stage.run(.milliseconds(1_100))
      #expect(try await stage.heard(by: viewer).count == 0)
      let back = #"{"permissions":{"canSubscribe":true}}"#
      guard identity == "bob" else { continue }
      #expect(await stage.house.ask(.patch, path, back).status == 200)
      let again = await stage.said(to: viewer) { $0["reason"] as? String == "best" }
      #expect(again["reason"] as? String == "best", "\(again)")
    }
  }
}
