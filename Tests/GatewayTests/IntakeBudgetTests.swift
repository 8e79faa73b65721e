import Foundation
import Model
import Synchronization
import Testing

@testable import Gateway

@Suite("What a client may say", .timeLimit(.minutes(1)))
struct IntakeBudgetTests {
  @Test func `a client that says more than its share is read more slowly`() {
    var budget = IntakeBudget()
    var now = Instant(nanoseconds: 1)
    // A page's messages, offers of 40 kB among them, are never slowed.
    for _ in 0..<20 {
      for _ in 0..<4 { #expect(budget.charge(40_000, now: now) == .zero) }
      for _ in 0..<50 { #expect(budget.charge(100, now: now) == .zero) }
      now = now + .seconds(1)
    }
    // A flood is: as much as the rate allows, however short the messages are.
    for size in [0, 20, 1_000, 262_144] {
      now = now + .seconds(60)
      var read = 0.0
      let start = now
      // More turns than there can be, unless messages cost nothing.
      for _ in 0..<100_000 where now - start < .seconds(60) {
        now = now + budget.charge(size, now: now)
        read += Double(size) + IntakeBudget.message
      }
      let most = 61 * IntakeBudget.rate + IntakeBudget.burst + Double(size)
      #expect(read <= most && read >= most * 0.9, "\(size)")
    }
  }

  @Test func `an answer that is sent again costs its length, and joined is never sent again`() async throws {
    let waits = Mutex(0)
    let client = SignallingSessionTests.Client(
      pause: { time in
        guard time < .seconds(5) else { return try await Task.sleep(for: .seconds(60)) }
        waits.withLock { $0 += 1 }
      })
    #expect(try await client.ask(#"{"type":"auth","token":"good","id":1}"#)["type"] as? String == "joined")
    #expect(try await client.ask(#"{"type":"ping","id":1}"#) == ["type": "pong", "id": 1])
    let sdp = String(repeating: "x", count: 200_000)
    #expect(try await client.ask(#"{"type":"offer","id":2,"sdp":"\#(sdp)"}"#)["type"] as? String == "answer")
    #expect(try await client.next()["type"] as? String == "slots")
    for round in 1...12 {
      // Whatever the message is that has the number of the offer.
      #expect(try await client.ask(#"{"type":"ping","id":2}"#)["type"] as? String == "answer")
      // With the offer itself ten of them are 2 MiB; from there on a message waits, and its answer too.
      #expect(waits.withLock { $0 } == max(0, 2 * round - 19), "\(round)")
    }
  }

  @Test(arguments: [
    #"{"type":"ping","id":1}"#, #"{"type":"candidate","candidate":"","id":1}"#,
    #"{"type":"teleport","id":1}"#,
    #"{"type":"mute","id":1}"#, #"{"type":"auth","token":"good","id":1}"#, "{", "[]",
  ])
  func `every message is charged, whether known, unknown or malformed`(text: String) async throws {
    let intakes = Intakes()
    let waits = Mutex(0)
    // Each message has its own socket, because text that is not JSON closes the socket.
    for round in 1...9 {
      let client = SignallingSessionTests.Client(
        intakes: intakes,
        pause: { time in
          guard time < .seconds(5) else { return try await Task.sleep(for: .seconds(60)) }
          waits.withLock { $0 += 1 }
        })
      _ = try await client.join()
      #expect(try await client.ask(text + String(repeating: " ", count: 250_000))["type"] != nil)
      client.socket.hangUp()
      await client.session.value
      // The clock does not move. Eight of them, each with its `auth`, are just below 2 MiB; the ninth exceeds it.
      #expect(waits.withLock { $0 } == (round == 9 ? 1 : 0), "\(round)")
    }
  }

  @Test func `a client that reconnects is read no faster than one that stays`() async throws {
    let intakes = Intakes()
    let waits = Mutex<[Duration]>([])
    for round in 0..<3 {
      let client = SignallingSessionTests.Client(
        intakes: intakes,
        pause: { time in
          guard time < .seconds(5) else { return try await Task.sleep(for: .seconds(60)) }
          waits.withLock { $0.append(time) }
        })
      _ = try await client.ask(#"{"type":"auth","token":"good"}"#)
      // A good half of what may be said at once.
      for _ in 0..<5 {
        let text = String(repeating: " ", count: 250_000)
        #expect(try await client.ask(#"{"type":"ping"}"# + text) == ["type": "pong"])
      }
      client.socket.hangUp()
      await client.session.value
      // The clock stands: the second round goes beyond it, and so does all of the third, `auth` among it.
      #expect(waits.withLock { $0.count } == [0, 2, 8][round])
    }
    #expect(intakes.charge(100, room: "demo", identity: "another", now: Instant(nanoseconds: 0)) == .zero)
  }

  @Test func `what is owed comes before all else, and one debt is no more than may be saved up`() {
    let intakes = Intakes()
    func wait(_ bytes: Int, at second: Int64) -> Duration {
      intakes.take(bytes, room: "", identity: "ada", now: Instant(nanoseconds: second * 1_000_000_000))
    }
    #expect(wait(1_000_000, at: 0) == .zero)
    // Half a mebibyte comes in a second.
    intakes.owe(2_097_152 - 512, room: "", identity: "ada", now: Instant(nanoseconds: 0))
    #expect(wait(1, at: 0) > .seconds(1) && wait(1, at: 1) > .zero && wait(1, at: 2) == .zero)
    intakes.owe(.max / 2, room: "", identity: "eve", now: Instant(nanoseconds: 0))
    #expect(intakes.take(0, room: "", identity: "eve", now: Instant(nanoseconds: 0)) < .seconds(1))
  }
}
