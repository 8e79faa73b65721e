import Engine
import Model
import Synchronization
import Testing

@testable import Rooms

/// A media plane that answers when the test says so.
private final class SlowMedia: Sendable {
  private struct State {
    var questions: [MediaQuestion] = []
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  var questions: [MediaQuestion] { state.withLock { $0.questions } }

  func explain(_ question: MediaQuestion) async -> [WorkerExplanation?] {
    await withCheckedContinuation { continuation in
      state.withLock {
        $0.questions.append(question)
        $0.waiting.append(continuation)
      }
    }
    return [nil, WorkerExplanation()]
  }

  func answer() { for waiting in state.withLock({ take(&$0.waiting) }) { waiting.resume() } }

  private func take(_ all: inout [CheckedContinuation<Void, Never>]) -> [CheckedContinuation<Void, Never>] {
    defer { all = [] }
    return all
  }

  /// Returns once so many questions were asked.
  func asked(_ count: Int) async {
    while questions.count < count { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

@Suite("Explanations of a room", .timeLimit(.minutes(1)))
struct RoomExplainTests {
  private func room(_ media: SlowMedia) async throws -> (TestServer, RoomAdministration, [TestClient]) {
    let server = try TestServer(
      clock: StandingClock(), explain: { question, _ in await media.explain(question) })
    var clients: [TestClient] = []
    for identity in ["cid", "ada", "bob"] {
      let client = try await server.join(identity)
      _ = try await client.offer([.audio, .video], receivers: 2)
      clients.append(client)
    }
    return (server, try #require(server.directory.administration(of: "r")), clients)
  }

  /// Asks for pages one after the other, and returns once each of them waits for its answer: the room's actor runs in order what is begun
  /// in it.
  private static func ask(
    _ pages: [RunningExplanations.Page], in room: isolated Room
  ) async -> [Task<RoomExplanation, Never>] {
    let asked = pages.map { page in Task { await room.explain(page) } }
    await Task { _ = room.state }.value
    return asked
  }

  @Test func `those who ask for the same page at the same time share one question`() async throws {
    let media = SlowMedia()
    let (server, room, _) = try await room(media)
    let page = RunningExplanations.Page(limit: 2)
    var asked = await Self.ask([page], in: room.room)
    await media.asked(1)
    // While the question is on its way.
    asked += await Self.ask([page, RunningExplanations.Page(after: "bob", limit: 2)], in: room.room)
    // The other page waits for this one: there is one question at a time.
    #expect(media.questions.count == 1)
    media.answer()
    let (one, two) = (await asked[0].value, await asked[1].value)
    #expect(one.participants.map(\.identity) == ["ada", "bob"] && one.hasMore)
    #expect(two.participants.map(\.identity) == ["ada", "bob"])
    await media.asked(2)
    media.answer()
    let rest = await asked[2].value
    #expect(rest.participants.map(\.identity) == ["cid"] && !rest.hasMore)
    #expect(media.questions.map(\.peers.count) == [2, 1])
    withExtendedLifetime(server) {}
  }

  @Test func `a worker that does not answer is counted, and of its peers nothing is made up`() async throws {
    let media = SlowMedia()
    let (server, room, _) = try await room(media)
    async let asked = room.explain(after: nil, limit: 100)
    await media.asked(1)
    media.answer()
    let found = await asked
    #expect(found.unanswered == 1 && found.participants.count == 3)
    for participant in found.participants {
      #expect(participant.subscriptions.count == 4, "two tracks of each of the two others")
      #expect(participant.transports.allSatisfy { $0.media == nil })
      #expect(participant.subscriptions.allSatisfy { $0.media == nil && $0.reason == .unknown })
      #expect(participant.subscriptions.allSatisfy { $0.publisher.id != participant.id })
    }
    withExtendedLifetime(server) {}
  }

  @Test func `in a room of many tracks a page ends with its subscriptions, and goes on where it ended`()
    throws
  {
    let run = StateRun()
    let publisher = try run.join("publisher")
    // As many tracks as one may publish, on each of two participants.
    for client in [publisher, try run.join("second")] {
      _ = try client.offer(Array(repeating: MediaKind.audio, count: 32))
    }
    for number in 10..<50 { _ = try run.join("viewer \(number)") }
    var seen: [ParticipantID] = []
    var after: String?
    var pages = 0
    while true {
      let (ids, hasMore) = run.state.page(after: after, limit: 100)
      seen += ids
      pages += 1
      #expect(ids.count * 64 < RoomState.explainedSubscriptions + 2 * 64 + 64)
      guard hasMore else { break }
      after = ids.last.flatMap { id in run.state.members.first { $0.id == id }?.identity }
    }
    #expect(pages > 2 && seen.count == 42 && Set(seen).count == 42)
    let (one, _) = run.state.page(after: nil, limit: 1)
    #expect(one.count == 1)
  }

  @Test func `what a participant asks about itself is about itself alone`() async throws {
    let media = SlowMedia()
    let (server, _, clients) = try await room(media)
    let session = clients[1].session
    async let first = session.explain()
    await media.asked(1)
    async let second = session.explain()
    try await Task.sleep(for: .milliseconds(20))
    media.answer()
    let (one, two) = (try await first, try? await second)
    #expect(one.id == session.id && media.questions.map(\.peers.count) == [1])
    #expect(media.questions.map(\.isNarrow) == [true] && media.questions.map(\.tracks.count) == [2])
    // Asked again at once it is refused: once a second is enough.
    #expect(two == nil)
    withExtendedLifetime(server) {}
  }

  @Test func `a thousand questions of one participant at once are one for the workers`() async throws {
    let media = SlowMedia()
    let server = try TestServer(
      clock: StandingClock(), explain: { question, _ in await media.explain(question) })
    let ada = try await server.join("ada")
    _ = try await ada.offer([.audio, .video], receivers: 2)
    let session = ada.session
    let answered = Task {
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<1_000 { group.addTask { (try? await session.explain()) != nil } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
    await media.asked(1)
    media.answer()
    #expect(await answered.value == 1)
    #expect(media.questions.count == 1)
    withExtendedLifetime(server) {}
  }

  @Test
  func
    `what is explained of a transport is bounded where that is asked for, what is shown before what waits`()
    throws
  {
    let run = StateRun()
    for number in 0..<5 {
      let publisher = try run.join("publisher \(number)")
      _ = try publisher.offer(Array(repeating: .audio, count: 32))
    }
    let ada = try run.join("ada")
    _ = try ada.offer(receivers: 4)
    // Those that came last, so that their places show.
    let last = try #require(run.state.members[4].info.tracks.suffix(4).map(\.id) as [TrackID]?)
    for track in last { ada.ask(.subscribe(track.text, mid: nil, PicturePreference(), on: .first)) }
    let own = try #require(run.state.explain([ada.id], [], most: RoomState.ownSubscriptions).first)
    #expect(own.subscriptions.count == 128)
    #expect(Set(own.subscriptions.prefix(4).map(\.track.id)) == Set(last))
    #expect(
      own.subscriptions.prefix(4).allSatisfy { $0.mid != nil && $0.publisher.identity == "publisher 4" })
    let ids = own.subscriptions.map(\.track.id.text)
    #expect(Set(ids).count == 128 && Array(ids.dropFirst(4)) == ids.dropFirst(4).sorted())
    // Of those that wait the ones that are served first.
    #expect(!own.subscriptions.contains { $0.mid == nil && $0.publisher.identity == "publisher 4" })
    let all = try #require(run.state.explain([ada.id], []).first).subscriptions
    #expect(all.count == 160 && all.map(\.track.id.text) == all.map(\.track.id.text).sorted())
  }

  @Test func `the question names each picture that is shown once, and no track that isn't`() async throws {
    let media = SlowMedia()
    let (server, room, _) = try await room(media)
    async let asked = room.explain(after: nil, limit: 100)
    await media.asked(1)
    media.answer()
    _ = await asked
    let tracks = try #require(media.questions.first).tracks
    #expect(tracks.count == 3 && Set(tracks).count == 3)
    #expect(media.questions.map(\.isNarrow) == [false], "who administers a room hears from all workers")
    withExtendedLifetime(server) {}
  }
}
