import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Messages that a room keeps", .timeLimit(.minutes(1)))
struct DataHistoryTests {
  static let terms = DataHistoryTerms(topics: ["chat"], max: 3, seconds: 60)

  private func run(_ terms: DataHistoryTerms? = Self.terms) -> StateRun {
    StateRun(settings: RoomSettings(departureTimeout: 20, dataHistory: terms))
  }

  private func say(
    _ text: String, by client: StateClient, topic: String? = "chat", reliable: Bool = true,
    to destinations: [String]? = nil
  ) {
    let request = DataRequest(
      payload: Array(text.utf8), topic: topic, reliable: reliable, destinations: destinations)
    client.ask(.send(request))
  }

  /// What one who comes is given.
  private func found(_ run: StateRun, _ adjust: (inout Grants) -> Void = { _ in }) throws -> [KeptMessage] {
    let late = try run.join("late", adjust)
    return try #require(run.joined[late.id]).history.messages
  }

  private func texts(_ messages: [KeptMessage]) -> [String] {
    messages.map { String(decoding: $0.payload, as: UTF8.self) }
  }

  @Test func `who comes later is given what was said to all, with its sender, though that has left`() throws {
    let run = run()
    let ada = try run.join("ada")
    say("one", by: ada)
    ada.ask(.leave(.left))
    let bob = try run.join("bob")
    say("two", by: bob)
    let messages = try found(run)
    #expect(texts(messages) == ["one", "two"])
    #expect(messages.map(\.identity) == ["ada", "bob"] && messages.map(\.from) == [ada.id, bob.id])
    #expect(messages.allSatisfy { $0.topic == "chat" && $0.time == run.state.wallTime })
  }

  @Test func `what is kept goes when its time is over, though nothing happens in the room`() throws {
    let run = run()
    let ada = try run.join("ada")
    say("one", by: ada)
    let first = run.now
    #expect(run.alarm <= first + .seconds(60))
    run.now = run.now + .seconds(20)
    say("two", by: ada)
    run.now = first + .seconds(60)
    run.handle(.alarm)
    #expect(texts(run.state.newcomers.history.kept.messages) == ["two"])
    #expect(run.alarm <= first + .seconds(80))
    run.now = first + .seconds(80)
    run.handle(.alarm)
    #expect(run.state.newcomers.history.bytes == 0 && run.state.newcomers.history.entries.isEmpty)
  }

  @Test func `where less time is kept from now on the clock follows`() throws {
    let run = run()
    let ada = try run.join("ada")
    say("one", by: ada)
    var patch = RoomPatch()
    patch.dataHistory = .set(DataHistoryTerms(topics: ["chat"], max: 3, seconds: 5))
    run.handle(.administration(.change(patch)))
    #expect(run.alarm <= run.now + .seconds(5))
  }

  @Test func `no other topic is kept, nothing private, and nothing that may get lost`() throws {
    let run = run()
    let ada = try run.join("ada")
    _ = try run.join("bob")
    say("other", by: ada, topic: "cursor")
    say("plain", by: ada, topic: nil)
    say("private", by: ada, to: ["bob"])
    say("fast", by: ada, reliable: false)
    say("kept", by: ada, to: [])
    run.handle(
      .administration(
        .send(DataMessage(from: nil, payload: Array("server".utf8), topic: "chat", reliable: true), to: nil)))
    #expect(texts(try found(run)) == ["kept", "server"])
  }

  @Test func `nothing is kept where the room doesn't say so`() throws {
    let run = run(nil)
    say("one", by: try run.join("ada"))
    #expect(try found(run) == [] && run.state.newcomers.history.bytes == 0)
  }

  @Test func `the newest are kept, within the bounds in number, time and bytes`() throws {
    let run = run()
    let ada = try run.join("ada")
    for number in 0..<5 {
      run.now = run.now + .seconds(1)
      say("\(number)", by: ada)
    }
    #expect(texts(run.state.newcomers.history.kept.messages) == ["2", "3", "4"])
    run.now = run.now + .seconds(59)
    #expect(texts(try found(run)) == ["4"])

    let large = self.run(DataHistoryTerms(topics: ["chat"], max: 200, seconds: 86_400))
    let bob = try large.join("bob")
    for _ in 0..<60 {
      large.now = large.now + .seconds(1)
      say(String(repeating: "x", count: 16_000), by: bob)
    }
    #expect(large.state.newcomers.history.entries.count == 12)
    #expect(large.state.newcomers.history.bytes <= DataHistory.byteLimit)
  }

  @Test func `where all rooms together keep as much as they may, the room's oldest go for what is new`()
    throws
  {
    let run = run(DataHistoryTerms(topics: ["chat"], max: 200, seconds: 60))
    let ada = try run.join("ada")
    say("one", by: ada)
    run.historyLimit = 2 * run.state.newcomers.history.bytes
    say("two", by: ada)
    #expect(run.state.newcomers.history.entries.count == 2)
    say("six", by: ada)
    #expect(run.state.newcomers.history.bytes == run.historyLimit)
    #expect(texts(try found(run)) == ["two", "six"])
    run.historyLimit = 10
    say("ten", by: ada)
    #expect(run.state.newcomers.history.entries.isEmpty && run.state.newcomers.history.bytes == 0)
  }

  @Test func `a room that is over keeps nothing, whatever is still said to it`() throws {
    let run = run()
    let ada = try run.join("ada")
    say("one", by: ada)
    run.handle(.close(.roomClosed))
    #expect(run.state.isFinished && run.state.newcomers.history.entries.isEmpty)
    run.handle(
      .administration(
        .send(DataMessage(from: nil, payload: Array("late".utf8), topic: "chat", reliable: true), to: nil)))
    #expect(run.state.newcomers.history.entries.isEmpty)
  }

  @Test func `a removed identity's messages go with it, whether it is in or not`() throws {
    let run = run()
    let (ada, bob) = (try run.join("ada"), try run.join("bob"))
    say("ada's", by: ada)
    say("bob's", by: bob)
    bob.ask(.leave(.left))
    run.handle(.administration(.remove("bob")))
    #expect(texts(run.state.newcomers.history.kept.messages) == ["ada's"])
    run.handle(.administration(.remove("ada")))
    #expect(try found(run) == [])
  }

  @Test func `a hidden sender stays unnamed, and is removed with what it has said`() throws {
    let run = run()
    let ghost = try run.join("ghost") { $0.hidden = true }
    say("boo", by: ghost)
    let message = try #require(try found(run).first)
    #expect(message.from == nil && message.identity == nil && message.name == nil)
    run.handle(.administration(.remove("ghost")))
    #expect(run.state.newcomers.history.entries.isEmpty)
  }

  @Test func `who may get nothing gets nothing of before`() throws {
    let run = run()
    say("one", by: try run.join("ada"))
    #expect(try found(run) { $0.canSubscribe = false } == [])
  }

  @Test func `what a room no longer keeps is gone at once`() throws {
    let run = run()
    let ada = try run.join("ada")
    say("one", by: ada)
    func change(_ terms: Change<DataHistoryTerms>) {
      var patch = RoomPatch()
      patch.dataHistory = terms
      run.handle(.administration(.change(patch)))
    }
    change(.set(DataHistoryTerms(topics: ["chat", "notes"], max: 3, seconds: 60)))
    #expect(run.state.newcomers.history.entries.count == 1)
    change(.set(DataHistoryTerms(topics: ["notes"], max: 3, seconds: 60)))
    #expect(run.state.newcomers.history.entries.isEmpty)
    say("two", by: ada, topic: "notes")
    change(.remove)
    #expect(run.state.newcomers.history.entries.isEmpty && run.state.newcomers.history.bytes == 0)
  }

  @Test func `what comes along is paid for by who comes`() throws {
    let run = run(DataHistoryTerms(topics: ["chat"], max: 200, seconds: 86_400))
    let bob = try run.join("bob")
    for _ in 0..<20 {
      run.now = run.now + .seconds(1)
      say(String(repeating: "x", count: 16_000), by: bob)
    }
    var rounds = 0
    let error = #expect(throws: JoinError.self) {
      while rounds < 50 {
        _ = try run.join("late")
        rounds += 1
      }
    }
    // Some 32 requests each, of 100 at once.
    #expect(error == .tooOften && rounds == 3)
  }

  @Test func `a room goes on from its bytes with what it has kept`() throws {
    let run = run()
    say("one", by: try run.join("ada"))
    let bytes = run.state.bytes
    try run.rebuild()
    #expect(run.state.bytes == bytes && run.state.settings.dataHistory == Self.terms)
    #expect(texts(try found(run)) == ["one"])
  }

  @Test(arguments: [
    (DataHistoryTerms(topics: [], max: 1, seconds: 1), "dataHistory.topics"),
    (DataHistoryTerms(topics: ["a"], max: 201, seconds: 1), "dataHistory.max"),
    (DataHistoryTerms(topics: ["a"], max: 1, seconds: 86_401), "dataHistory.seconds"),
  ])
  func `terms beyond their bounds are refused`(terms: DataHistoryTerms, field: String) {
    let error = #expect(throws: AdministrationError.self) {
      try StateRun.terms.check(RoomSettings(dataHistory: terms))
    }
    guard case .aboveLimit(let found, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found == field)
  }
}
