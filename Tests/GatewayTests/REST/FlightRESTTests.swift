import AccessTokens
import Foundation
import HTTPServer
import Rooms
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
