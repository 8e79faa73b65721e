import Engine
import Foundation
import HTTPServer
import Model
import Negotiation
import SyntheticPeers
import Testing

@testable import Gateway

/// One who publishes, and those who come to see it, over real sockets: what REST and the native door say of why they get what they get.
final class ReasonStage {
  let house: House
  private var peers: [LivePeer] = []
  /// By the publisher's identity.
  private(set) var tracks: [String: String] = [:]
  /// The one that is looked at.
  var track: String { tracks["eve"] ?? "" }

  init() throws { house = try House(policy: NegotiationPolicy(usesTransportFeedback: true)) }

  /// A publisher of one encoding, unless it is to be another.
  @discardableResult
  func publish(_ identity: String = "eve", _ setUp: (inout PeerConfiguration) -> Void = { _ in }) async throws
    -> LivePeer
  {
    let peer = try LivePeer(house, try await house.enter(identity), number: peers.count + 1) {
      $0.publishesVideo = true
      setUp(&$0)
    }
    peers.append(peer)
    let offered = try await peer.offer()
    let first: String = try #require(offered.first)
    tracks[identity] = first
    return peer
  }

  /// In two sizes.
  /// - Parameter stopsAfter: seconds after which the encoder leaves the larger one out; nil: never.
  static func simulcast(stopsAfter: Int64? = nil) -> LayeredVideo {
    var large = LayeredVideo.Encoding(rid: "f", width: 640, height: 360, rate: 800_000)
    if let stopsAfter { large.absences = [stopsAfter * 1_000_000_000..<1_000_000_000_000] }
    return LayeredVideo(
      encodings: [large, .init(rid: "q", width: 320, height: 180, rate: 100_000)],
      structure: LayerStructure(codec: .vp8, temporalLayers: 1))
  }

  /// - Parameter isThere: false: it agrees with the server, and nothing more is heard of it.
  func view(
    _ identity: String = "bob", isThere: Bool = true, _ setUp: (inout PeerConfiguration) -> Void = { _ in }
  ) async throws -> LivePeer {
    let viewer = try LivePeer(house, try await house.enter(identity), number: peers.count + 1) {
      $0.audioReceivers = 1
      $0.videoReceivers = 1
      setUp(&$0)
    }
    if isThere { peers.append(viewer) }
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

  /// What REST says of one participant.
  func item(_ viewer: LivePeer) async -> NSDictionary {
    let answer = await house.ask(.get, "/v1/rooms/demo/explain")
    return answer.items.first { $0["id"] as? String == viewer.guest.id } ?? [:]
  }

  func subscriptions(_ viewer: LivePeer) async -> [NSDictionary] {
    await item(viewer)["subscriptions"] as? [NSDictionary] ?? []
  }

  /// The first that is said of the track that satisfies, within some seconds; what was said last where none does.
  func said(
    to viewer: LivePeer, until isSo: (NSDictionary) -> Bool
  ) async -> NSDictionary {
    let end = ContinuousClock.now + .seconds(25)
    while true {
      let found = await subscriptions(viewer).first { $0["track"] as? String == track } ?? [:]
      if isSo(found) || ContinuousClock.now > end { return found }
      await run(.milliseconds(50))
    }
  }

  /// What the native door says of it.
  func heard(by viewer: LivePeer) async throws -> NSDictionary {
    let answer = try await viewer.guest.ask("explain")
    return (answer["subscriptions"] as? [NSDictionary])?.first { $0["track"] as? String == track } ?? [:]
  }

  func shows(_ viewer: LivePeer, _ fields: String) async throws {
    #expect(try await viewer.guest.verdict("view", #""tracks":[{"track":"\#(track)",\#(fields)}]"#) == "ok")
  }
}
