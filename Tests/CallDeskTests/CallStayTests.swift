import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("By which stay a connection is of a call", .timeLimit(.minutes(2)))
struct CallStayTests {
  private let bob = PersonID("bob")

  private func connect(_ test: TestDesk, _ device: String, _ entry: CallEntry) async throws -> CallUUID {
    try await test.desk.connect(bob, device: DeviceID(device), inRoom: try #require(entry.call.room))
  }

  private func say(
    _ word: CallPresence, by stay: CallUUID, _ test: TestDesk, _ entry: CallEntry
  ) async throws {
    test.desk.media(word, of: bob, stay: stay, inRoom: try #require(entry.call.room))
    await test.desk.writePresence()
  }

  /// How Bob's media stands: `awaited`, `gone`, or by which session.
  private func media(_ test: TestDesk, _ entry: CallEntry) async throws -> String? {
    guard let session = try await test.call(entry, for: "bob")[bob]?.session else { return nil }
    switch session.media {
    case .awaited: return "awaited"
    case .gone: return "gone"
    case .standing(let by): return by.text
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is late of a device whose call was taken over isn't the other's, and closes nothing of it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let id = entry.call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("bob", "phone"))
      let phone = try await connect(test, "phone", entry)
      let moved = try await test.desk.join(id, by: TestDesk.caller("bob", "tablet"), takeover: true)
      let tablet = try await connect(test, "tablet", entry)
      #expect(phone != tablet && tablet == moved.session)
      #expect(test.outlet.closes.map(\.stay) == [phone])
      try await say(.stands, by: phone, test, entry)
      #expect(try await media(test, entry) == "awaited")
      try await say(.stands, by: tablet, test, entry)
      try await say(.lost, by: phone, test, entry)
      #expect(try await media(test, entry) == moved.session.text)
      try await say(.gone, by: tablet, test, entry)
      #expect(try await media(test, entry) == "gone" && !test.desk.hasUnwrittenPresence)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that joins again goes on by its stay, and by another once it has left`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let (id, room) = (entry.call.state.id, try #require(entry.call.room))
      let phone = TestDesk.caller("bob", "phone")
      #expect(try await test.desk.requireConnect(bob, device: nil, inRoom: room) == nil)
      let first = try await test.desk.join(id, by: phone)
      let stay = try await connect(test, "phone", entry)
      var last = first
      for _ in 0..<2 {
        last = try await test.desk.join(id, by: phone)
        #expect(last.session != first.session)
        #expect(try await connect(test, "phone", entry) == stay)
      }
      #expect(try await test.desk.requireConnect(bob, device: phone.device, inRoom: room) == stay)
      try await say(.stands, by: stay, test, entry)
      #expect(try await media(test, entry) == last.session.text)
      _ = try await test.desk.leave(id, by: phone, reason: .networkError)
      let close = try #require(test.outlet.closes.last)
      #expect(close.stay == stay && close.session == last.session)
      let back = try await connect(test, "phone", entry)
      #expect(back != stay)
      try await say(.gone, by: stay, test, entry)
      #expect(try await media(test, entry) == "awaited")
    }
  }
  @Test(arguments: StoreKind.allCases)
  func
    `of two that don't say which device they are one is in the call, and the other once its media has gone`(
      kind: StoreKind
    ) async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let room = try #require(entry.call.room)
      let stay = try await test.desk.connect(bob, device: nil, inRoom: room)
      for word in [CallPresence?.none, .stands] {
        if let word { try await say(word, by: stay, test, entry) }
        await #expect(throws: CallProblem.activeElsewhere) {
          try await test.desk.requireConnect(bob, device: nil, inRoom: room)
        }
        await #expect(throws: CallProblem.activeElsewhere) {
          try await test.desk.connect(bob, device: nil, inRoom: room)
        }
      }
      #expect(test.outlet.closes.isEmpty)
      try await say(.gone, by: stay, test, entry)
      #expect(try await test.desk.connect(bob, device: nil, inRoom: room) == stay)
    }
  }
}
