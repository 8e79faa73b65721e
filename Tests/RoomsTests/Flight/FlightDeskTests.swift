import Model
import Testing

@testable import Rooms

@Suite("Requests for flight recorders", .timeLimit(.minutes(1)))
struct FlightDeskTests {
  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `two are made at the same time, and a third once one is done`() {
    let desk = FlightDesk()
    #expect(desk.begin(now: at(1)) && desk.begin(now: at(1)))
    #expect(!desk.begin(now: at(1)))
    desk.end()
    #expect(desk.begin(now: at(1)) && !desk.begin(now: at(1)))
  }

  @Test func `all rooms together may ask for eight in a second in the long run`() {
    let desk = FlightDesk()
    var made = 0
    for step in 0..<10_000 where desk.begin(now: at(100 + Double(step) / 1_000)) {
      made += 1
      desk.end()
    }
    #expect((110...113).contains(made), "32 at once and 8 a second for ten seconds")
  }
}
