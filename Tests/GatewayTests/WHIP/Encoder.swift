import AccessTokens
import Foundation
import HTTPServer
import Model
import Negotiation
import Rooms
import Wire

@testable import Gateway

/// A client of WHIP or WHEP, as far as HTTP goes.
struct Encoder {
  static let sdp = [("content-type", "application/sdp")]

  let house: House
  let door: String
  let token: String
  /// Of its session.
  let location: String
  let tag: String
  let answer: House.Answer

  /// An offer as text.
  static func offer(
    sending kinds: [MediaKind] = [.audio, .video], audio: Int = 0, video: Int = 0
  ) throws -> String {
    var negotiator = Negotiator(policy: .client)
    var random = RandomSource.seeded(state: 3)
    var plan = OfferPlan(audioReceivers: audio, videoReceivers: video)
    for kind in kinds {
      plan.tracks.append(negotiator.announcement(of: kind, beside: plan.tracks.first, random: &random))
    }
    let local = LocalTransport(
      credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
      fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
      isLite: false)
    return try negotiator.offer(plan, local: local, random: &random).text
  }

  static func token(
    _ identity: String, room: String = "demo", issued: Int? = House.now, expires: Int = House.now + 600,
    _ adjust: (inout Grants) -> Void = { _ in }
  ) -> String {
    var grants = Grants.join(room)
    adjust(&grants)
    return House.token(identity, issued: issued, expires: expires) { [grants] in $0 = grants }
  }

  /// Publishes.
  static func whip(
    _ house: House, _ identity: String = "cam", room: String = "demo",
    sending kinds: [MediaKind] = [.audio, .video],
    _ adjust: (inout Grants) -> Void = { _ in }
  ) async throws -> Encoder {
    let token = token(identity, room: room, adjust)
    return await Encoder(house, "whip", token, room, try offer(sending: kinds))
  }

  /// Plays.
  static func whep(
    _ house: House, _ identity: String = "tv", room: String = "demo", audio: Int = 1, video: Int = 1,
    query: String = "", _ adjust: (inout Grants) -> Void = { _ in }
  ) async throws -> Encoder {
    let token = token(identity, room: room, adjust)
    return await Encoder(
      house, "whep", token, room, try offer(sending: [], audio: audio, video: video), query: query)
  }

  init(
    _ house: House, _ door: String, _ token: String, _ room: String, _ offer: String, query: String = ""
  ) async {
    (self.house, self.door, self.token) = (house, door, token)
    answer = await house.ask(.post, "/\(door)/\(room)\(query)", offer, token: token, headers: Self.sdp)
    location = answer.headers["location"] ?? ""
    tag = answer.headers["etag"] ?? ""
  }

  var sections: [MediaDescription] { (try? SessionDescription(parsing: answer.text).media) ?? [] }

  func ask(
    _ method: HTTPMethod, _ body: String = "", token: String? = nil, headers: [(String, String)] = []
  ) async -> House.Answer {
    await house.ask(method, location, body, token: token ?? self.token, headers: headers)
  }

  /// ICE information.
  func patch(
    _ body: String, match: String?, token: String? = nil, type: String = "application/trickle-ice-sdpfrag"
  ) async -> House.Answer {
    await ask(
      .patch, body, token: token,
      headers: [("content-type", type)] + (match.map { [("if-match", $0)] } ?? []))
  }

  /// - Parameter credentials: those of the offer, unless others are given.
  static func fragment(
    ufrag: String = "clientclient", password: String = "clientclientclientclient", candidates: [String] = []
  ) -> String {
    ([
      "a=group:BUNDLE 0 1", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=ice-ufrag:\(ufrag)",
      "a=ice-pwd:\(password)",
    ]
      + candidates.map { "a=candidate:\($0)" }).joined(separator: "\r\n") + "\r\n"
  }

  static let restart = fragment(ufrag: "another", password: "anotheranotheranotheranother")

  func participants() async -> [String] {
    await house.ask(.get, "/v1/rooms/demo/participants").items.compactMap { $0["identity"] as? String }
  }
}
