import AccessTokens
import Foundation
import HTTPServer
import Testing

@testable import Gateway

/// Rooms whose hosts are asked whom to let in.
extension House {
  /// A token of one that may come into a room and run it.
  static func host(of room: String = "demo", _ adjust: (inout Grants) -> Void = { _ in }) -> String {
    token("host") {
      $0 = Grants.join(room)
      $0.roomAdmin = true
      adjust(&$0)
    }
  }

  /// - Parameter more: further members of its body.
  func makeAsking(_ room: String = "demo", _ more: String = "") async throws {
    let made = await ask(.post, "/v1/rooms", #"{"name":"\#(room)","admission":true\#(more)}"#)
    try #require(made.status == 201 && made["admission"] == true as NSNumber)
  }

  /// One that waits.
  func wait(_ identity: String, for room: String = "demo", issued: Int = House.now) async throws -> Guest {
    let guest = connect(House.token(identity, issued: issued) { $0 = Grants.join(room) }, room: room)
    try #require(try await guest.next("waiting")["type"] as? String == "waiting")
    return guest
  }

  /// The host, in.
  func enterHost(_ room: String = "demo", _ adjust: (inout Grants) -> Void = { _ in }) async throws -> Guest {
    try await enter("host", room: room) {
      $0.roomAdmin = true
      adjust(&$0)
    }
  }

  /// Ids of those who wait, by identity.
  func waiting(for room: String = "demo") async throws -> [String: String] {
    let list = await ask(.get, "/v1/rooms/\(room)/waiting")
    try #require(list.status == 200)
    let pairs = list.items.map { ($0["identity"] as? String ?? "?", $0["id"] as? String ?? "?") }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }
}
