import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("REST: explanations", .timeLimit(.minutes(2)))
struct ExplainRESTTests {
  static let path = "/v1/rooms/demo/explain"

  private func subscriptions(_ answer: House.Answer, of identity: String) -> [NSDictionary] {
    let item = answer.items.first { $0["identity"] as? String == identity }
    return item?["subscriptions"] as? [NSDictionary] ?? []
  }

  @Test func `each subscription has its publisher, what was wanted, and one reason with its sentence`()
    async throws
  {
    let house = try House()
    let ada = try await house.enter("ada")
    let track = try await ada.publish(.video, as: "camera")
    let voice = try await ada.publish(.audio, as: "microphone")
    let bob = try await house.enter("bob")
    _ = try await bob.offer(receivers: 1)
    _ = try await bob.ask("view", #""tracks":[{"track":"\#(track)","maxWidth":320,"priority":7}]"#)

    let answer = await house.ask(.get, Self.path)
    #expect(answer.status == 200 && answer["unanswered"] == 0 as NSNumber)
    #expect(answer.items.map { $0["identity"] as? String } == ["ada", "bob"])
    #expect(subscriptions(answer, of: "ada").isEmpty)
    let found = subscriptions(answer, of: "bob")
    #expect(Set(found.map { $0["track"] as? String }) == [track, voice])
    let picture = try #require(found.first { $0["track"] as? String == track })
    #expect(picture["publisher"] as? String == ada.id && picture["publisherIdentity"] as? String == "ada")
    #expect(picture["kind"] as? String == "video" && picture["source"] as? String == "camera")
    #expect(
      picture["wanted"] as? NSDictionary == ["quality": "high", "maxWidth": 320, "priority": 7])
    // No client of this house has media.
    #expect(picture["reason"] as? String == "connecting" && picture["sent"] == nil)
    #expect((picture["text"] as? String)?.isEmpty == false)
    let sound = try #require(found.first { $0["track"] as? String == voice })
    #expect(sound["wanted"] == nil)
    let transports = answer.items.last?["transports"] as? [NSDictionary] ?? []
    #expect(transports.count == 1 && transports[0]["connected"] as? Bool == false)
    #expect(transports[0]["target"] == nil || transports[0]["target"] is NSNumber)
  }

  @Test func `what has no slot, is muted or turned off says so`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let camera = try await ada.publish(.video, as: "camera")
    let screen = try await ada.publish(.video, as: "screen_share")
    let bob = try await house.enter("bob")
    _ = try await bob.offer(receivers: 1)
    func reasons() async -> [String: String] {
      let found = subscriptions(await house.ask(.get, Self.path), of: "bob")
      return Dictionary(
        uniqueKeysWithValues: found.map {
          ($0["track"] as? String == camera ? "camera" : "screen", $0["reason"] as? String ?? "?")
        })
    }
    _ = try await bob.ask("subscribe", #""track":"\#(camera)""#)
    #expect(await reasons() == ["camera": "connecting", "screen": "no-slot"])
    _ = try await ada.ask("mute", #""track":"\#(camera)","muted":true"#)
    #expect(await reasons()["camera"] == "muted")
    _ = try await ada.ask("mute", #""track":"\#(camera)","muted":false"#)
    _ = try await bob.ask("view", #""tracks":[{"track":"\#(camera)","quality":"off"}]"#)
    #expect(await reasons()["camera"] == "off")
    _ = try await bob.ask("unsubscribe", #""track":"\#(screen)""#)
    #expect(await reasons()["screen"] == nil, "what isn't wanted is no subscription")
  }

  @Test func `pages follow the identities, hidden ones too, and are small`() async throws {
    let house = try House()
    for identity in ["cid", "ada", "bob"] { _ = try await house.enter(identity) }
    _ = try await house.enter("ghost") { $0.hidden = true }
    let page = await house.ask(.get, "\(Self.path)?limit=2")
    #expect(page.items.map { $0["identity"] as? String } == ["ada", "bob"])
    let rest = await house.ask(.get, "\(Self.path)?after=\(page["next"] as? String ?? "")")
    #expect(rest.items.map { $0["identity"] as? String } == ["cid", "ghost"] && rest["next"] == nil)
    for identity in ["bob", "ghost"] {
      let one = await house.ask(.get, "\(Self.path)?identity=\(identity)")
      #expect(one.items.map { $0["identity"] as? String } == [identity] && one["next"] == nil)
    }
    #expect(await house.ask(.get, "\(Self.path)?identity=none").items.isEmpty)
    for limit in ["0", "101", "x"] {
      let refused = await house.ask(.get, "\(Self.path)?limit=\(limit)")
      #expect(refused.status == 400 && refused.problem == "query")
    }
    #expect(await house.ask(.get, "/v1/rooms/none/explain").problem == "room-not-found")
  }

  @Test func `of another room nothing is explained, by neither door, whatever is asked for`() async throws {
    let house = try House()
    let stranger = try await house.enter("gh0st", room: "other")
    let theirs = try await stranger.publish(.video, as: "camera")
    let ada = try await house.enter("ada")
    let own = try await ada.publish(.video, as: "camera")
    let bob = try await house.enter("bob")
    _ = try await bob.offer(receivers: 2)
    #expect(try await bob.verdict("subscribe", #""track":"\#(theirs)""#) == "unknown-track")
    // Passed over.
    #expect(try await bob.verdict("view", #""tracks":[{"track":"\#(theirs)","maxWidth":320}]"#) == "ok")
    let rest = await house.ask(.get, Self.path)
    let native = try await bob.ask("explain")
    let found = (native["subscriptions"] as? [NSDictionary] ?? []).compactMap { $0["track"] as? String }
    #expect(found == [own] && rest.text.contains(own))
    for text in [rest.text, "\(native)"] {
      for word in ["gh0st", theirs, stranger.id] { #expect(!text.contains(word)) }
    }
    // Nor of what one publishes oneself: it is no subscription.
    #expect((try await ada.ask("explain")["subscriptions"] as? [NSDictionary])?.isEmpty == true)
  }

  @Test func `only those who may run the room are answered`() async throws {
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
  }
}
