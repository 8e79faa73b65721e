import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("How often an address may ask", .timeLimit(.minutes(2)))
struct AttemptLimiterTests {
  static func address(_ number: UInt32) -> AddressGroup {
    AddressGroup(SocketAddress(high: UInt64(number) << 32 | 0x2001_0DB8, low: 1, port: 9))
  }
  static func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
  }

  @Test func `so many at once, then one by one as they come back`() {
    var table = AttemptTable(rate: 10, burst: 3, capacity: 5)
    let (ada, eve) = (Self.address(1), Self.address(2))
    for _ in 0..<3 {
      let wait = table.take(ada, now: Self.at(0))
      #expect(wait == nil)
    }
    let wait = table.take(ada, now: Self.at(0))
    #expect(wait == .milliseconds(100))
    // A refusal takes nothing.
    let (early, due, next) = (
      table.take(ada, now: Self.at(99)), table.take(ada, now: Self.at(100)),
      table.take(ada, now: Self.at(100))
    )
    #expect(early == .milliseconds(1) && due == nil && next == .milliseconds(100))
    let other = table.take(eve, now: Self.at(0))
    #expect(other == nil)
    // Never more than the burst, however long it was silent.
    var taken = 0
    while table.take(ada, now: Self.at(60_000)) == nil { taken += 1 }
    #expect(taken == 3)
  }

  @Test func `one customer's addresses count as one`() {
    var table = AttemptTable(rate: 1, burst: 1, capacity: 5)
    let first = table.take(AddressGroup(SocketAddress(high: 7, low: 1, port: 1)), now: Self.at(0))
    let second = table.take(AddressGroup(SocketAddress(high: 7, low: 2, port: 2)), now: Self.at(0))
    let third = table.take(AddressGroup(SocketAddress(ipv4: 192, 0, 2, 1, port: 1)), now: Self.at(0))
    let fourth = table.take(AddressGroup(SocketAddress(ipv4: 192, 0, 2, 2, port: 1)), now: Self.at(0))
    #expect(first == nil && second != nil && third == nil && fourth == nil)
  }

  @Test func `a flood of addresses takes no more entries than there are, and harms no known address`() {
    var table = AttemptTable(rate: 10, burst: 2, capacity: 100)
    let known = Self.address(0)
    let first = table.take(known, now: Self.at(0))
    #expect(first == nil)
    var taken = 0
    for number in 1...10_000 where table.take(Self.address(UInt32(number)), now: Self.at(1)) == nil {
      taken += 1
    }
    // Each that found a place, and the share of all others.
    #expect(taken == 99 + 2 && table.count == 100)
    let again = table.take(known, now: Self.at(1))
    #expect(again == nil)
    // Full buckets are forgotten.
    let late = table.take(Self.address(20_000), now: Self.at(5_000))
    #expect(late == nil && table.count == 1)
  }

  @Test func `beyond it the doors answer 429 with the time to wait, and pages go on`() async throws {
    let clock = StandingClock()
    let house = try House {
      $0.attempts = AttemptLimiter(rate: 0.5, burst: 2) { clock.now }
    }
    let token = House.token("ada") { $0 = .join("demo") }
    #expect(await house.ask(.get, "/v1/rooms").status == 200)
    #expect(await house.upgrade(token).status == 101)
    let refused = await house.ask(.get, "/v1/rooms", headers: [("origin", "https://desk.example")])
    #expect(
      refused.status == 429 && refused.problem == "rate-limited" && refused.headers["retry-after"] == "2")
    #expect(refused.headers["access-control-allow-origin"] == "*")
    #expect(await house.upgrade(token).status == 429)
    for path in ["/", "/healthz"] { #expect(await house.ask(.get, path).status == 200) }
    clock.advance(by: .seconds(2))
    #expect(await house.ask(.get, "/v1/rooms").status == 200)
  }
}
