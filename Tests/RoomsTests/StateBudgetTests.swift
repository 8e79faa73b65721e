import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("What a room's participants may say of themselves", .timeLimit(.minutes(2)))
struct StateBudgetTests {
  /// As by the default limits: a share of 1,048 bytes.
  let server: TestServer
  let budget = StateBudget(participants: 1_000)

  init() throws { server = try TestServer(participants: 1_000) }

  /// Metadata of so many bytes in JSON.
  static func text(_ bytes: Int) -> String {
    String(repeating: "\u{1}", count: bytes / 6) + String(repeating: "x", count: bytes % 6)
  }

  func join(_ identity: String, _ bytes: Int = 0) async throws -> ParticipantSession {
    var grants = Grants.join("r")
    grants.canUpdateOwnMetadata = true
    return try await server.directory.join(
      room: "r", identity: identity, name: nil, metadata: Self.text(bytes), grants: grants)
  }

  /// - Returns: how much was allowed, where it was refused.
  func fill(_ session: ParticipantSession, _ bytes: Int) async throws -> Int? {
    do throws(RequestError) {
      try await session.update(ParticipantChange(metadata: Self.text(bytes)))
      return nil
    } catch {
      switch error {
      case .stateTooLarge(.whole(let asked, let limit)), .stateTooLarge(.crowded(let asked, let limit)):
        #expect(asked == bytes)
        return limit
      default: throw error
      }
    }
  }

  @Test func `shares together are half of the pool at most, and one takes an eighth of it`() {
    #expect(budget.share == 1_048 && StateBudget.part == 262_144)
    #expect(StateBudget(participants: 2).share == 8_192 && StateBudget(participants: 100_000).share == 10)
    #expect(StateBudget(participants: 0).share == 8_192 && StateBudget(participants: 10_000_000).share == 0)
    #expect(budget.limit(beside: []) == 1_048 + 262_144)
    // What is within a share takes nothing from the pool.
    #expect(budget.limit(beside: Array(repeating: 1_048, count: 999)) == 1_048 + 262_144)
    let full = Array(repeating: 1_048 + 262_144, count: 8)
    #expect(budget.limit(beside: full) == 1_048 && budget.limit(beside: full + full) == 1_048)
    #expect(budget.limit(beside: full.dropLast() + [1_048 + 262_000]) == 1_048 + 144)
  }

  @Test func `attributes count with what stands around them`() {
    var random = RandomSource.system
    let info = ParticipantInfo(
      id: ParticipantID(&random), identity: "i", metadata: "a\"\n", attributes: ["k": "v", "\\": ""],
      tracks: [])
    #expect(info.stateBytes == 9 + 8 + 8)
  }

  @Test func `nine with 43,000 control characters each leave others room to join`() async throws {
    let text = String(repeating: "\u{1}", count: 43_000)
    var refused = 0
    for number in 0..<9 {
      let session = try await join("\(number)")
      do throws(RequestError) {
        // 258,000 bytes each in JSON.
        try await session.update(ParticipantChange(metadata: text))
        try await session.update(ParticipantChange(attributes: ["k": text]))
      } catch {
        guard case .stateTooLarge = error else { throw error }
        refused += 1
      }
    }
    #expect(refused == 9)
    let late = try await join("late", budget.share)
    let bytes = late.joined.participants.reduce(0) { $0 + $1.stateBytes }
    #expect(late.joined.participants.count == 9 && bytes <= StateBudget.pool + 9 * budget.share)
  }

  /// Half of the pool by updates, and more of it by tokens.
  /// - Parameter tokens: an eighth each.
  private func fillPool(tokens: Int = 4) async throws {
    for number in 0..<4 {
      #expect(try await fill(try await join("greedy \(number)"), budget.share + StateBudget.part) == nil)
    }
    for number in 0..<tokens { _ = try await join("given \(number)", budget.share + StateBudget.part) }
  }

  @Test func `what participants change themselves leaves tokens half of the pool`() async throws {
    #expect(budget.limit(beside: [StateBudget.pool / 2], from: .participant) == 1_048 + 1_048)
    #expect(budget.limit(beside: [StateBudget.pool], from: .participant) == 1_048)
    try await fillPool(tokens: 0)
    let next = try await join("next")
    #expect(try await fill(next, budget.share + 1) == budget.share)
    // As much as a token has room for, in JSON.
    let largest = 12_288 * 3 / 4
    for number in 0..<16 { _ = try await join("late \(number)", largest) }
    let late = try await join("late", largest)
    // What it has it may keep and describe otherwise, and take no more.
    try await late.update(ParticipantChange(name: "Late"))
    #expect(try await fill(late, largest - 1) == nil)
    #expect(try await fill(late, largest) == largest - 1)
  }

  @Test func `what may be possible later is another refusal than what never is`() {
    #expect(StateExcess.crowded(bytes: 2, limit: 1).mayPass)
    #expect(!StateExcess.whole(bytes: 2, limit: 1).mayPass && !StateExcess.part("metadata").mayPass)
  }

  @Test func `a participant that takes all it can get leaves the others their shares`() async throws {
    let greedy = try await join("greedy 0")
    #expect(try await fill(greedy, 390_000) == budget.share + StateBudget.part)
    await greedy.leave()
    try await fillPool()
    let modest = try await join("modest", budget.share)
    #expect(try await fill(modest, budget.share + 1) == budget.share)
    // A refusal changes nothing.
    let late = try await join("late")
    #expect(late.joined.participants.last?.stateBytes == budget.share)
    #expect(try await fill(late, budget.share) == nil)
    let error = JoinError.tooLarge(.crowded(bytes: budget.share + 1, limit: budget.share))
    await #expect(throws: error) { try await join("large", budget.share + 1) }
    #expect(server.directory.counts.refusedTooLarge == 1 && server.directory.counts.participants == 10)
  }

  @Test func `a participant that leaves or shrinks gives its part back`() async throws {
    var greedy: [ParticipantSession] = []
    for number in 0..<4 {
      greedy.append(try await join("greedy \(number)"))
      #expect(try await fill(greedy[number], budget.share + StateBudget.part) == nil)
    }
    let late = try await join("late")
    #expect(try await fill(late, budget.share + 10_000) == budget.share)
    #expect(try await fill(greedy[0], budget.share + StateBudget.part - 10_000) == nil)
    #expect(try await fill(late, budget.share + 10_001) == budget.share + 10_000)
    #expect(try await fill(late, budget.share + 10_000) == nil)
    await greedy[1].leave()
    #expect(try await fill(late, budget.share + StateBudget.part) == nil)
    #expect(try await fill(greedy[0], budget.share + StateBudget.part) == nil)
    // Then there is nothing left once more.
    #expect(try await fill(try await join("later"), budget.share + 1) == budget.share)
  }

  @Test func `joining, update and REST ask the same budget`() async throws {
    try await fillPool()
    let excess = StateExcess.crowded(bytes: 2_000, limit: budget.share)
    await #expect(throws: JoinError.tooLarge(excess)) { try await join("ann", 2_000) }
    let ann = try await join("ann", 1_000)
    await #expect(throws: RequestError.stateTooLarge(excess)) {
      try await ann.update(ParticipantChange(metadata: Self.text(2_000)))
    }
    let room = try #require(server.directory.administration(of: "r"))
    var patch = ParticipantPatch()
    patch.metadata = .set(Self.text(2_000))
    patch.permissions.canPublish = .set(false)
    await #expect(throws: AdministrationError.stateTooLarge(excess)) {
      _ = try await room.change("ann", patch)
    }
    // Nothing of it is done.
    #expect(try await room.participant("ann").grants.canPublish)
    // What stays as it is isn't refused.
    try await ann.update(ParticipantChange(name: "Ann"))
    #expect(try await room.participant("ann").info.stateBytes == 1_000)
  }

  @Test func `a participant that joins again has its older session's share, and keeps it if refused`()
    async throws
  {
    try await fillPool(tokens: 3)
    let ann = try await join("ann", budget.share + StateBudget.part)
    _ = try await join("ben")
    await #expect(throws: JoinError.self) { try await join("ben", budget.share + 1) }
    let again = try await join("ann", budget.share + StateBudget.part)
    #expect(again.id != ann.id && again.joined.participants.last?.identity == "ben")
  }

  @Test func `events of tracks name the publisher, and say nothing of its state`() async throws {
    let alice = try await server.join("alice") { $0.canUpdateOwnMetadata = true }
    try await alice.session.update(ParticipantChange(name: "Alice", metadata: Self.text(200_000)))
    let track = try #require(try await alice.offer([.audio]).tracks.first).track.text
    try await alice.session.mute(track, true)
    try await alice.session.mute(track, false)
    await alice.session.leave()
    let events = try server.directory.events.events(of: "r", after: nil).events
    for kind in [RoomEvent.Kind.trackPublished, .trackMuted, .trackUnmuted, .trackUnpublished] {
      let event = try #require(events.first { $0.kind == kind })
      guard case .named(let name) = event.participant else {
        Issue.record("\(kind) has all of it")
        continue
      }
      #expect(name.identity == "alice" && name.name == "Alice" && name.id == alice.session.id)
      #expect(event.estimatedBytes < 1_000)
    }
  }
}
