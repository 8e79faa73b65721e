import AccessTokens
import Foundation
import HTTPServer
import Rooms
import SyntheticPeers
import TestScripts
import Testing

@testable import Gateway

@Suite("REST: flight recorders", .timeLimit(.minutes(2)))
struct FlightRESTTests {
  static let path = "/v1/rooms/demo/participants/ada/flight"

  @Test func `who is in has a capture, though nothing has flowed, and who isn't has none`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    let answer = await house.ask(.get, Self.path)
    #expect(answer.status == 200 && answer.headers["content-type"] == "application/vnd.tcpdump.pcap")
    #expect(answer.headers["content-disposition"]?.contains("flight.pcapng") == true)
    #expect(answer.headers["cache-control"] == "no-store")
    #expect(answer.text.utf8.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
    #expect(
      await house.ask(.get, "/v1/rooms/demo/participants/bob/flight").problem == "participant-not-found")
    #expect(await house.ask(.get, "/v1/rooms/other/participants/ada/flight").problem == "room-not-found")
  }

  /// Bytes of an RTP packet before its payload (RFC 3550 §5.1).
  private static func headerSize(_ packet: [UInt8]) -> Int {
    let fixed = 12 + 4 * Int(packet[0] & 15)
    guard packet[0] & 0x10 != 0, packet.count >= fixed + 4 else { return fixed }
    return fixed + 4 + 4 * (Int(packet[fixed + 2]) << 8 | Int(packet[fixed + 3]))
  }

  @Test func `of one whose media flows a capture has packets, feedback and decisions, and no payload`()
    async throws
  {
    let stage = try ReasonStage()
    let eve = try await stage.publish()
    let bob = try await stage.view { $0.dialect.tellsArrivals = true }
    _ = await stage.said(to: bob) { $0["reason"] as? String == "best" }
    await stage.run(.seconds(2))
    // The first four bytes of what every payload of a synthetic peer says of itself.
    let stamp: [UInt8] = [0x52, 0x6F, 0x53, 0x74]
    for (identity, own, other, publishes) in [
      ("eve", eve.guest.id, bob.guest.id, true), ("bob", bob.guest.id, eve.guest.id, false),
    ] {
      let path = "/v1/rooms/demo/participants/\(identity)/flight"
      for token in [nil, House.token(identity) { $0 = .join("demo") }] {
        #expect(await stage.house.ask(.get, path, token: token).status == (token == nil ? 401 : 403))
      }
      let response = await stage.house.respond(.get, path)
      #expect(response.status == 200 && response.headers["cache-control"] == "no-store")
      let file = response.body
      #expect(!file.indices.dropLast(3).contains { file[$0..<($0 + 4)].elementsEqual(stamp) })
      let text = String(decoding: file, as: UTF8.self)
      #expect(text.contains(own) && !text.contains(other), "it is this participant's alone")

      let packets = try #require(CapturedPackets(file)).packets
      let carried = packets.filter { (128...191).contains($0.payload?.first ?? 0) }
      let media = carried.filter { !(64...95).contains(($0.payload?[1] ?? 64) & 0x7F) }
      #expect(media.count > 20 && media.allSatisfy { $0.isInbound == publishes })
      for packet in media {
        let kept = packet.payload ?? []
        #expect(kept.count >= 12 && kept.count <= Self.headerSize(kept) && packet.size > kept.count)
      }
      // What one side says of what the other sends: the server of a publisher's, a subscriber of the server's.
      let feedback = carried.filter { (200...206).contains($0.payload?[1] ?? 0) }
      #expect(feedback.contains { $0.isInbound == !publishes && $0.payload?.count == $0.size })
      let decisions = packets.compactMap(\.decision)
      for beginning in ["the handshake is done", "media goes: "] + (publishes ? [] : ["target "]) {
        #expect(decisions.contains { $0.hasPrefix(beginning) }, "\(beginning) of \(decisions)")
      }
    }
  }

  @Test
  func `only those who may run the very room are answered, one participant's name in another is no one`()
    async throws
  {
    let house = try House()
    _ = try await house.enter("ada")
    let lister = House.token { $0.roomList = true }
    let other = House.token {
      $0.room = "other"
      $0.roomAdmin = true
    }
    for token in [lister, other, House.token("ada") { $0 = .join("demo") }] {
      #expect(await house.ask(.get, Self.path, token: token).status == 403)
    }
    #expect(await house.ask(.get, Self.path, token: nil).status == 401)
    #expect(
      await house.ask(.get, "/v1/rooms/other/participants/ada/flight", token: other).problem
        == "room-not-found")
    // Those who were refused have spent nothing of what the room may ask for.
    #expect(await house.ask(.get, Self.path).status == 200)
  }

  @Test func `a room may ask for few at a time, and hears when to ask again`() async throws {
    let house = try House()
    for identity in ["ada", "bob"] { _ = try await house.enter(identity) }
    var statuses: [Int] = []
    for number in 0..<12 {
      let identity = number % 2 == 0 ? "ada" : "bob"
      let answer = await house.ask(.get, "/v1/rooms/demo/participants/\(identity)/flight")
      statuses.append(answer.status)
      if answer.status == 429 {
        #expect(answer.problem == "rate-limited" && answer.headers["retry-after"] == "1")
      }
    }
    #expect(statuses.prefix(4) == [200, 200, 200, 200] && statuses.contains(429))
    #expect(Set(statuses) == [200, 429])
  }
}
