import AccessTokens
import Testing

@Suite("Rooms that tokens name", .timeLimit(.minutes(1)))
struct RoomNameTests {
  @Test func `a token is for the room of its very bytes`() throws {
    let token = AccessToken(
      apiKey: "k", identity: "ada", expires: 1, grants: Grants.join("caf\u{e9}"))
    #expect(try token.requireJoin(room: "caf\u{e9}") == "ada")
    #expect(throws: AccessTokenRefusal.notForThis(missing: "room")) {
      _ = try token.requireJoin(room: "cafe\u{301}")
    }
    var grants = Grants()
    grants.roomAdmin = true
    grants.room = "caf\u{e9}"
    let administrator = AccessToken(apiKey: "k", identity: nil, expires: 1, grants: grants)
    try administrator.requireAdmin(room: "caf\u{e9}")
    #expect(throws: AccessTokenRefusal.notForThis(missing: "room")) {
      try administrator.requireAdmin(room: "cafe\u{301}")
    }
  }
}
