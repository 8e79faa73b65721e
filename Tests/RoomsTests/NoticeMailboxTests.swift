import AccessTokens
import Model
import Synchronization
import Testing

@testable import Rooms

@Suite("Notices that wait", .timeLimit(.minutes(1)))
struct NoticeMailboxTests {
  private func message(_ number: Int, reliable: Bool = true, size: Int = 4) -> DataMessage {
    DataMessage(
      from: nil, payload: Array(("\(number) " + String(repeating: "x", count: size)).utf8), topic: nil,
      reliable: reliable)
  }

  @Test func `too many for a front door that reads too slowly end its session`() async {
    let overflowed = Atomic(0)
    let mailbox = NoticeMailbox(isAttended: true) { overflowed.wrappingAdd(1, ordering: .relaxed) }
    for _ in 0..<5_000 { mailbox.put(.speakers([])) }
    #expect(overflowed.load(ordering: .relaxed) == 1)
    mailbox.finish(.closed(.connectionLost))
    var count = 0
    for await _ in mailbox.notices { count += 1 }
    #expect(count == NoticeMailbox.limit + 1)
  }

  @Test func `while there is no one to read for they collapse, and messages wait, the latest of them`() async
  {
    let mailbox = NoticeMailbox(isAttended: true) { Issue.record("the session ends") }
    mailbox.absent()
    for number in 0..<5_000 {
      mailbox.put(.speakers([]))
      mailbox.put(.data(message(number)))
      mailbox.put(.data(message(number, reliable: false)))
    }
    let resumed = ResumedState(lastEvent: 9, missed: [], transports: [], notices: [])
    mailbox.put(.resumed(resumed))
    mailbox.put(.speakers([]))
    mailbox.finish(.closed(.left))
    var words: [String] = []
    for await notice in mailbox.notices {
      switch notice {
      case .data(let data): words.append(String(decoding: data.payload.prefix { $0 != 32 }, as: UTF8.self))
      case .resumed: words.append("resumed")
      case .speakers: words.append("speakers")
      default: words.append("closed")
      }
    }
    #expect(words.suffix(3) == ["resumed", "speakers", "closed"])
    #expect(words.dropLast(3).suffix(256) == (4_744..<5_000).map { "\($0)" }[...])
    #expect(words.count <= NoticeMailbox.limit / 2 + 256 + 8)
  }

  private static func answers(_ mailbox: NoticeMailbox) async -> (answers: Int, others: Int) {
    var answers = 0
    var others = 0
    for await notice in mailbox.notices {
      switch notice {
      case .on: answers += 1
      default: others += 1
      }
    }
    return (answers, others)
  }

  @Test func `the answer that a socket's client waits for is never left out`() async {
    let mailbox = NoticeMailbox(isAttended: true) { Issue.record("the session ends") }
    mailbox.absent()
    for _ in 0..<1_000 { mailbox.put(.speakers([])) }
    mailbox.put(.on(.first, .answer(OfferAnswer(sdp: "v=0", tracks: [], slots: [], declined: []))))
    for _ in 0..<1_000 { mailbox.put(.speakers([])) }
    mailbox.finish(.closed(.left))
    let (answers, others) = await Self.answers(mailbox)
    #expect(answers == 1 && others <= NoticeMailbox.limit / 2 + 8)
  }

  @Test func `answers that their callers have are kept for no one`() async {
    let answer = OfferAnswer(sdp: "v=0", tracks: [], slots: [], declined: [])
    // There never was a socket.
    let alone = NoticeMailbox(isAttended: false) { Issue.record("the session ends") }
    // There was one, and another front door of the same participant offers meanwhile.
    let away = NoticeMailbox(isAttended: true) { Issue.record("the session ends") }
    away.absent()
    for _ in 0..<5_000 {
      alone.put(.on(.first, .answer(answer)))
      away.put(.on(TransportID(number: 2), .answer(answer)))
    }
    for mailbox in [alone, away] {
      mailbox.finish(.closed(.left))
      #expect(await Self.answers(mailbox).answers == 0)
    }
    // A front door that reads gets them in their place.
    let attended = NoticeMailbox(isAttended: true) { Issue.record("the session ends") }
    attended.put(.on(TransportID(number: 2), .answer(answer)))
    attended.finish(.closed(.left))
    #expect(await Self.answers(attended).answers == 1)
  }

  @Test func `what waits is counted right, however reader and writers meet`() async {
    let mailbox = NoticeMailbox(isAttended: true) {}
    let reader = Task {
      var count = 0
      for await _ in mailbox.notices {
        count += 1
        if mailbox.waiting < 0 { Issue.record("fewer than none wait") }
      }
      return count
    }
    for round in 0..<50 {
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask { [mailbox] in
            for _ in 0..<8 { mailbox.put(writer == 0 ? .restartWanted : .speakers([])) }
          }
        }
        group.addTask { [mailbox] in
          if round % 5 == 0 { mailbox.absent() }
          if round % 5 == 0 {
            mailbox.put(.resumed(ResumedState(lastEvent: 0, missed: [], transports: [], notices: [])))
          }
        }
      }
      while mailbox.waiting > 256 { await Task.yield() }
    }
    mailbox.finish(.closed(.left))
    #expect(await reader.value == 50 * 32 + 10 + 1)
    #expect(mailbox.waiting == 0)
  }

  @Test func `resumed comes each time, or the session ends, where no one reads in between`() async {
    let overflowed = Atomic(0)
    let mailbox = NoticeMailbox(isAttended: true) { overflowed.wrappingAdd(1, ordering: .relaxed) }
    var said = 0
    while overflowed.load(ordering: .relaxed) == 0, said < 5_000 {
      mailbox.absent()
      for number in 0..<900 { mailbox.put(.data(message(number))) }
      mailbox.put(.resumed(ResumedState(lastEvent: said, missed: [], transports: [], notices: [])))
      said += 1
    }
    #expect(said < 10 && overflowed.load(ordering: .relaxed) == 1)
    mailbox.finish(.closed(.connectionLost))
    var heard: [Int] = []
    var isClosed = false
    for await notice in mailbox.notices {
      if case .resumed(let state) = notice { heard.append(state.lastEvent) }
      if case .closed = notice { isClosed = true }
    }
    #expect(heard == Array(0..<said) && isClosed)
  }

  @Test func `messages for an absent participant are bounded in bytes`() async {
    let mailbox = NoticeMailbox(isAttended: false) { Issue.record("the session ends") }
    for _ in 0..<1_000 { mailbox.put(.speakers([])) }
    for number in 0..<200 { mailbox.put(.data(message(number, size: 20_000))) }
    mailbox.put(.resumed(ResumedState(lastEvent: 0, missed: [], transports: [], notices: [])))
    mailbox.finish(.closed(.left))
    var bytes = 0
    for await case .data(let data) in mailbox.notices { bytes += data.encodedSize }
    #expect(bytes <= NoticeMailbox.messageBytes && bytes > NoticeMailbox.messageBytes - 20_010)
  }

  @Test func `a session alone through 5,000 notices comes back within the grace`() async throws {
    let clock = StandingClock()
    let server = try TestServer(clock: clock)
    let alice = try await server.join("alice")
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    let notices = bob.session.notices
    let reader = Task { for await _ in notices {} }
    defer { reader.cancel() }
    await alice.session.absent()
    let room = try #require(server.directory.administration(of: "r"))
    for number in 0..<5_000 { _ = try await room.mute(track.text, of: "bob", number % 2 == 0) }
    #expect(server.directory.counts.participants == 2)
    // More than are said at once: it goes on from a number within them.
    try await alice.session.present(after: 4_800)
    #expect(await alice.next(until: "resumed") == "resumed 5004")
    #expect(alice.resumed?.missed.count == 204)
    try await bob.session.mute(track.text, true)
    #expect(await alice.next() == "5005 track.muted bob")
  }

  @Test func `a session that has no socket lives without a reader, as long as it likes`() async throws {
    let clock = StandingClock()
    let server = try TestServer(clock: clock)
    let session = try await server.directory.join(
      room: "r", identity: "whip", name: nil, grants: .join("r"), opening: .publishes, isAttended: false)
    let bob = try await server.join("bob")
    let track = try #require(try await bob.offer([.audio]).tracks.first?.track)
    let notices = bob.session.notices
    let reader = Task { for await _ in notices {} }
    defer { reader.cancel() }
    let room = try #require(server.directory.administration(of: "r"))
    for number in 0..<2_000 { _ = try await room.mute(track.text, of: "bob", number % 2 == 0) }
    clock.advance(by: .seconds(100))
    await server.directory.ring()
    #expect(server.directory.counts.participants == 2 && session.transport?.role == .publishes)
    await session.leave()
    #expect(server.directory.counts.participants == 1)
  }
}
