import Foundation
import HTTPClient
import Model
import Polling
import Testing

@testable import Client

@Suite("The WebSockets of a session", .timeLimit(.minutes(1)))
struct SessionLineTests {
  private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  @Test func `who is let in again and hears nothing gives up when the session is gone`() async throws {
    let server = SilentServer()
    try await server.run { port in
      let url = try #require(HTTPURL("http://127.0.0.1:\(port)"))
      let line = try SessionLine(ClientTerms(server: url, room: "demo", token: "t"))
      guard let poller = Poller(), line.watch(poller) else {
        Issue.record("no poller")
        return
      }
      // It joins, the connection breaks, and another is open.
      for _ in 0..<1_000 where server.messages.isEmpty {
        _ = try line.read(poller, now: at(1))
        line.flush(now: at(1))
        usleep(5_000)
      }
      #expect(server.messages.first?.contains(#""resumeToken":"again""#) == true)
      line.send("said meanwhile")
      for second in 2..<15 as Range<Int64> {
        let heard = try line.read(poller, now: at(second))
        #expect(heard.isEmpty)
      }
      #expect(line.deadline == at(15))
      var ending: ClientError?
      do throws(ClientError) { _ = try line.read(poller, now: at(15)) } catch { ending = error }
      #expect(
        ending == .connectionLost("the connection to the server broke, and the session did not go on"))
    }
  }
}
