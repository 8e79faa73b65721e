import CallDesk
import Foundation
import HTTPServer
import Testing

@testable import Gateway

@Suite("REST: what requests about calls cost who asks", .timeLimit(.minutes(1)))
struct CallPriceTests {
  /// As many as may be named at once, again and again.
  private static let crowd = "[" + (0..<128).map { "\"p\($0 % 31)\"" }.joined(separator: ",") + "]"

  @Test func `each person that is named costs, also where no one is rung`() async throws {
    let calls = try await CallHouse()
    let path = "/v1/calls/\(UUID().uuidString.lowercased())/invite"
    var answers: [Int] = []
    for _ in 0..<40 {
      answers.append(await calls.ask(.post, path, #"{"recipients":\#(Self.crowd)}"#, by: "mallory").status)
    }
    #expect(answers.first == 404 && answers.contains(429))
    // Others pay for themselves.
    #expect(await calls.ask(.post, path, #"{"recipients":["bob"]}"#, by: "ada").status == 404)
  }

  @Test func `each call that is looked at for a list costs, however few are shown`() async throws {
    let calls = try await CallHouse()
    var answers: [Int] = []
    for _ in 0..<40 {
      answers.append(await calls.ask(.get, "/v1/calls?participant=bob&limit=1", by: "mallory").status)
    }
    #expect(answers.first == 200 && answers.contains(429))
  }

  @Test func `each entry that a list may have costs, however short it is`() async throws {
    let calls = try await CallHouse()
    for query in ["/v1/calls?limit=200", "/v1/calls/events?after=0&limit=200"] {
      let person = "reader \(query.count)"
      var answers: [Int] = []
      for _ in 0..<40 { answers.append(await calls.ask(.get, query, by: person).status) }
      #expect(answers.first == 200 && answers.contains(429), "\(query)")
    }
  }
}
