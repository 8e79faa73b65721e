import Foundation
import HTTPServer
import Testing

@testable import Gateway

@Suite("Who is let in is in at once", .timeLimit(.minutes(1)))
struct LetInTests {
  @Test func `what one asks right behind joined is asked of the room, however much is said behind that`()
    async throws
  {
    let house = try House()
    try await house.makeAsking("demo", #","dataHistory":{"topics":["chat"],"max":200,"seconds":600}"#)
    let payload = Data(repeating: 65, count: 3_000).base64EncodedString()
    let body = #"{"payload":"\#(payload)","topic":"chat"}"#
    func say() async { #expect(await house.ask(.post, "/v1/rooms/demo/data", body).status == 204) }
    for _ in 0..<60 { await say() }
    _ = try await house.enterHost()
    for round in 1...10 {
      // What was said before is put into words again for the next who comes, behind `joined`.
      await say()
      let guest = try await house.wait("guest\(round)")
      #expect(await house.ask(.post, "/v1/rooms/demo/participants/guest\(round)/admit").status == 204)
      #expect(try await guest.next("joined")["type"] as? String == "joined")
      let verdict = try await guest.verdict("candidate", #""candidate":"","mid":"0""#)
      #expect(verdict == "ok", "round \(round)")
      #expect(try await guest.verdict("leave") == "closed")
    }
  }
}
