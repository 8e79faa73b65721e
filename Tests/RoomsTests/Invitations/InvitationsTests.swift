import AccessTokens
import Model
import Storage
import Testing

@testable import Rooms

/// Expectations can't change a value.
private final class Book {
  var value = Invitations()

  /// - Returns: what is full, if something is.
  @discardableResult
  func make(
    _ id: String, _ life: String = "RM_1", uses: Int = 1_000, expires: Int = 1_000, now: Int = 0
  ) -> String? {
    value.insert(Self.invitation(id, life, uses: uses, expires: expires), now: now)
  }

  static func code(_ id: String) -> [UInt8] { Array(id.utf8) }

  static func invitation(_ id: String, _ life: String, uses: Int, expires: Int) -> Invitation {
    Invitation(
      id: InvitationID(known: id), room: "r", life: RoomID(naming: life),
      terms: Invitation.Terms(
        code: code(id), grants: .join("r"), isAdmitted: false, uses: uses, apiKey: "key", inviter: nil,
        inviterIssued: nil),
      created: 0, expires: expires)
  }

  /// - Returns: `opened`, `paced`, or `-`.
  func open(_ id: String, now: Int = 0, seconds: Int64 = 0) -> String {
    guard let known = value.find(Self.code(id), now: now),
      let (_, isPaced) = value.open(
        known.id, now: now, at: Instant(nanoseconds: seconds * 1_000_000_000))
    else { return "-" }
    return isPaced ? "paced" : "opened"
  }
}

@Suite("Invitations", .timeLimit(.minutes(1)))
struct InvitationsTests {
  @Test func `one is opened at a pace, however many open it`() {
    let book = Book()
    book.make("IV_1")
    for _ in 0..<100 { #expect(book.open("IV_1") == "opened") }
    #expect(book.open("IV_1") == "paced")
    #expect((0..<3).map { _ in book.open("IV_1", seconds: 1) } == ["opened", "opened", "paced"])
    // What is paced is not counted.
    #expect(book.value.find(Book.code("IV_1"), now: 0)?.opened == 102)
    book.make("IV_2")
    #expect(book.open("IV_2") == "opened", "another's pace is another one")
  }

  @Test func `one opens nothing once it was used up, is over or revoked`() {
    let book = Book()
    book.make("IV_1", uses: 2)
    #expect((0..<3).map { _ in book.open("IV_1") } == ["opened", "opened", "-"])
    book.make("IV_2", expires: 50)
    #expect(book.open("IV_2", now: 49) == "opened" && book.open("IV_2", now: 50) == "-")
    book.make("IV_3")
    let byAnother = book.value.remove(InvitationID(known: "IV_3"), of: RoomID(naming: "RM_other"))
    let byItsOwn = book.value.remove(InvitationID(known: "IV_3"), of: RoomID(naming: "RM_1"))
    #expect(!byAnother && byItsOwn)
    #expect(book.open("IV_3") == "-" && book.open("IV_unknown") == "-")
    #expect(book.value.takeForgotten().map(\.text) == ["IV_3"])
  }

  @Test func `tokens by one hold while it does, also where it was used up`() {
    let book = Book()
    let id = InvitationID(known: "IV_1")
    book.make("IV_1", uses: 1, expires: 50)
    _ = book.open("IV_1")
    #expect(
      book.value.holding(id, of: "r", now: 49)?.id == id && book.value.holding(id, of: "r", now: 50) == nil)
    #expect(book.value.holding(id, of: "other", now: 0) == nil)
    book.value.remove(of: RoomID(naming: "RM_1"))
    #expect(book.value.holding(id, of: "r", now: 0) == nil)
  }

  @Test func `those of a room go with it, and what is over makes room`() {
    let book = Book()
    for number in 0..<64 { #expect(book.make("IV_\(number)", expires: number == 0 ? 10 : 99) == nil) }
    #expect(book.make("IV_more")?.contains("64") == true)
    #expect(book.make("IV_other", "RM_2") == nil)
    #expect(book.make("IV_late", now: 10) == nil, "the first is over by then")
    #expect(book.value.takeForgotten().map(\.text) == ["IV_0"])
    let life = RoomID(naming: "RM_1")
    #expect(book.value.all(of: life, now: 10).count == 64)
    book.value.remove(of: life)
    #expect(book.value.all(of: life, now: 10).isEmpty && book.value.takeForgotten().count == 64)
    #expect(book.value.all(of: RoomID(naming: "RM_2"), now: 10).count == 1)
  }
}

@Suite("Invitations to a server's rooms", .timeLimit(.minutes(2)))
struct RoomInvitationTests {
  private let now = 1_800_000_000

  private func terms(
    _ secret: String, inviter: String? = nil, issued: Int? = nil, uses: Int = 1_000
  ) -> Invitation.Terms {
    Invitation.Terms(
      code: Array(secret.utf8), grants: .join("r"), isAdmitted: false, uses: uses, apiKey: "key",
      inviter: inviter, inviterIssued: issued)
  }

  @Test func `one holds for its room as it was, and goes with that`() async throws {
    let server = try TestServer(wallSeconds: { [now] in now })
    let directory = server.directory
    #expect(throws: AdministrationError.unknownRoom) {
      try directory.invite(terms("s"), for: 600, to: "r")
    }
    _ = try await directory.create("r", RoomSettings())
    let made = try directory.invite(terms("s"), for: 600, to: "r")
    #expect(made.expires == now + 600 && made.room == "r")
    #expect(try directory.open(Array("s".utf8)).opened == 1)
    #expect(try directory.invitations(of: "r").map(\.opened) == [1])
    #expect(directory.holds(made.id.text, in: "r"))
    try await directory.close(room: "r")
    _ = try await directory.create("r", RoomSettings())
    #expect(throws: AdministrationError.unknownInvitation) { try directory.open(Array("s".utf8)) }
    #expect(!directory.holds(made.id.text, in: "r"), "it was another room's")
    #expect(try directory.invitations(of: "r").isEmpty)
  }

  @Test func `one of a room that ends before it has begun goes with it`() async throws {
    let journals = try await Journals()
    let (server, _, running) = try await journals.serve(wallSeconds: { [now] in now })
    defer { running.cancel() }
    let directory = server.directory
    // On the way in, and refused in the end.
    let room = try directory.registry.withRooms { rooms throws(JoinError) in
      try rooms.begin("late", in: "r") { directory.make("r", RoomSettings(), number: $0) }
    }
    let made = try directory.invite(terms("s"), for: 600, to: "r")
    #expect(directory.holds(made.id.text, in: "r"))
    let reply = await room.handle(
      .join(Newcomer(identity: "late", grants: .join("r")), refused: .removed))
    guard case .joinRefused(.removed) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(directory.remainders.rooms == 0 && !directory.holds(made.id.text, in: "r"))
    #expect(directory.registry.records.invitations(of: made.life, now: now).isEmpty)
    try await directory.synced()
    #expect(try await journals.count("SELECT count(*) FROM invitations") == 0)
  }

  @Test func `those whose maker was removed are forgotten, and one that is revoked opens nothing`()
    async throws
  {
    let server = try TestServer(wallSeconds: { [now] in now })
    let directory = server.directory
    _ = try await directory.create("r", RoomSettings())
    for number in 1..<Invitations.perRoom {
      _ = try directory.invite(terms("a\(number)", inviter: "host", issued: now - 5), for: 600, to: "r")
    }
    let other = try directory.invite(terms("b", inviter: "other", issued: now - 5), for: 600, to: "r")
    let full = AdministrationError.full("invitations of the room: \(Invitations.perRoom)")
    #expect(throws: full) { try directory.invite(terms("c"), for: 600, to: "r") }
    try await directory.remove("host", from: "r")
    #expect(throws: AdministrationError.unknownInvitation) { try directory.open(Array("a1".utf8)) }
    #expect(try directory.open(Array("b".utf8)).terms.inviter == "other")
    // They are in no one's way.
    #expect(try directory.invitations(of: "r").map(\.id) == [other.id])
    _ = try directory.invite(terms("c"), for: 600, to: "r")
    // Nor is one made as its maker is removed.
    #expect(throws: AdministrationError.unknownRoom) {
      try directory.invite(terms("d", inviter: "host", issued: now), for: 600, to: "r")
    }
    let late = try directory.invite(terms("e", inviter: "host", issued: now + 1), for: 600, to: "r")
    try await directory.revoke(other.id.text, of: "r")
    #expect(throws: AdministrationError.unknownInvitation) { try directory.open(Array("b".utf8)) }
    await #expect(throws: AdministrationError.unknownInvitation) {
      try await directory.revoke(other.id.text, of: "r")
    }
    #expect(try directory.invitations(of: "r").count == 2)
    #expect(try directory.open(Array("e".utf8)).id == late.id, "by a token of after the removal")
  }

  @Test func `the next process finds those that hold, and how often they were opened`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve(wallSeconds: { [now] in now })
    _ = try await first.server.directory.create("r", RoomSettings(emptyTimeout: 600))
    _ = try await first.server.directory.create("closed", RoomSettings())
    let made = try first.server.directory.invite(terms("s", uses: 2), for: 600, to: "r")
    _ = try first.server.directory.invite(terms("gone"), for: 60, to: "r")
    _ = try first.server.directory.invite(terms("bad", inviter: "host", issued: now), for: 600, to: "r")
    try await first.server.directory.remove("host", from: "r")
    _ = try first.server.directory.invite(terms("closed"), for: 600, to: "closed")
    _ = try first.server.directory.open(Array("s".utf8))
    try await first.server.directory.close(room: "closed")
    try await first.server.directory.synced()
    first.running.cancel()

    let second = try await journals.serve(wallSeconds: { [now] in now + 60 })
    defer { second.running.cancel() }
    let directory = second.server.directory
    #expect(try directory.invitations(of: "r").map(\.id) == [made.id])
    #expect(try directory.open(Array("s".utf8)).opened == 2)
    #expect(throws: AdministrationError.unknownInvitation) { try directory.open(Array("s".utf8)) }
    #expect(throws: AdministrationError.unknownInvitation) { try directory.open(Array("gone".utf8)) }
    try await directory.synced()
    #expect(try await journals.count("SELECT count(*) FROM invitations") == 1)
    try await directory.close(room: "r")
    try await directory.synced()
    #expect(try await journals.count("SELECT count(*) FROM invitations") == 0)
  }
}
