import AccessTokens
import Model
import Synchronization
import Testing

@testable import Rooms

@Suite("Who says much at once", .timeLimit(.minutes(1)))
struct NoticePressureTests {
  @Test func `a burst of messages ends no session of those who read`() async throws {
    let server = try TestServer()
    var speakers: [ParticipantSession] = []
    for number in 0..<10 { speakers.append(try await server.join("speaker \(number)").session) }
    // Speakers listen too.
    let readers = speakers.map { speaker in Task { for await _ in speaker.notices {} } }
    var listeners: [(session: ParticipantSession, received: Task<Int, Never>)] = []
    for number in 0..<6 {
      let session = try await server.join("listener \(number)").session
      listeners.append((session, Task { await Self.listen(to: session) }))
    }
    await withTaskGroup(of: Void.self) { burst in
      for speaker in speakers {
        for _ in 0..<200 { burst.addTask { try? await speaker.send(Array(repeating: 120, count: 400)) } }
      }
    }
    for listener in listeners { #expect(await listener.session.grants() != nil, "its session goes on") }
    for speaker in speakers {
      #expect(await speaker.grants() != nil)
      await speaker.leave()
    }
    for reader in readers { await reader.value }
    for listener in listeners {
      await listener.session.leave()
      #expect(await listener.received.value == 2_000)
    }
  }

  /// - Returns: how many messages came.
  private static func listen(to session: ParticipantSession) async -> Int {
    var count = 0
    for await notice in session.notices {
      guard case .data(let data) = notice else { continue }
      // About what a front door does with it.
      for _ in 0..<20 { _ = data.payload.reduce(0) { $0 &+ Int($1) } }
      count += 1
    }
    return count
  }

  @Test func `a mailbox is behind while more than half of it waits for a front door`() async {
    let pressure = NoticePressure()
    let mailbox = NoticeMailbox(isAttended: true, pressure: pressure) {}
    for _ in 0..<(NoticeMailbox.limit / 2) { mailbox.put(.speakers([])) }
    #expect(!pressure.isOn)
    mailbox.put(.speakers([]))
    #expect(pressure.isOn)
    mailbox.absent()
    #expect(!pressure.isOn, "there is no one to wait for")
    mailbox.put(.resumed(ResumedState(lastEvent: 0, missed: [], transports: [], notices: [])))
    #expect(pressure.isOn)
    var iterator = mailbox.notices.makeAsyncIterator()
    for _ in 0..<2 { _ = await iterator.next() }
    #expect(!pressure.isOn && pressure.taken > 0)
    for _ in 0..<9 { mailbox.put(.speakers([])) }
    #expect(pressure.isOn)
    mailbox.finish(.closed(.left))
    #expect(!pressure.isOn)
  }

  @Test func `answers that came while no one was there count among what waits`() async {
    let pressure = NoticePressure()
    let mailbox = NoticeMailbox(isAttended: false, pressure: pressure) {}
    for _ in 0..<1_000 { mailbox.put(.speakers([])) }
    let answer = OfferAnswer(sdp: "v=0", tracks: [], slots: [], declined: [])
    for _ in 0..<8 { mailbox.put(.on(.first, .answer(answer))) }
    mailbox.put(.resumed(ResumedState(lastEvent: 0, missed: [], transports: [], notices: [])))
    var iterator = mailbox.notices.makeAsyncIterator()
    while let notice = await iterator.next() { if case .resumed = notice { break } }
    for _ in 0..<(NoticeMailbox.limit / 2) { mailbox.put(.speakers([])) }
    #expect(!pressure.isOn)
    mailbox.put(.speakers([]))
    #expect(pressure.isOn)
  }

  @Test func `what an administrator takes away is taken at once, however far doors are behind`() async throws
  {
    let waits = Atomic(0)
    // Samples of the media plane are waited for by the same function, and longer.
    let server = try TestServer(pause: { pause in
      guard pause < RoomDirectory.sampling else { return try await Task.sleep(for: pause) }
      waits.add(1, ordering: .relaxed)
    })
    let ada = try await server.join("ada").session
    // Bob reads nothing.
    let bob = try await server.join("bob").session
    let room = try #require(server.directory.administration(of: "r"))
    for _ in 0...(NoticeMailbox.limit / 2) {
      await room.send(Array("x".utf8), topic: nil, reliable: true, to: ["bob"])
    }
    let before = waits.load(ordering: .relaxed)
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(false)
    #expect(try await room.change("ada", patch).grants.canPublish == false)
    await #expect(throws: AdministrationError.unknownTrack) { try await room.mute("TR_x", of: "ada", true) }
    #expect(waits.load(ordering: .relaxed) == before)
    await room.send(Array("x".utf8), topic: nil, reliable: true, to: ["bob"])
    #expect(waits.load(ordering: .relaxed) > before, "what only adds to it waits")
    try await server.directory.remove("ada", from: "r")
    #expect(await ada.grants() == nil)
    await bob.leave()
  }

  @Test func `a front door that takes nothing holds up no one for long`() async throws {
    let server = try TestServer()
    let ada = try await server.join("ada").session
    let bob = try await server.join("bob").session
    let reader = Task { for await _ in ada.notices {} }
    // Bob reads nothing.
    for _ in 0..<199 { try await ada.send(Array("x".utf8)) }
    let room = try #require(server.directory.administration(of: "r"))
    for _ in 0..<(NoticeMailbox.limit / 2 - 199) {
      await room.send(Array("x".utf8), topic: nil, reliable: true, to: nil)
    }
    for _ in 0..<3 { await room.send(Array("x".utf8), topic: nil, reliable: true, to: nil) }
    #expect(await bob.grants() != nil)
    await ada.leave()
    await reader.value
  }
}
