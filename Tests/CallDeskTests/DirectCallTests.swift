import Calls
import Synchronization
import TestStores
import Testing

@testable import CallDesk

@Suite("Direct calls", .timeLimit(.minutes(2)))
struct DirectCallTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  /// Two devices that talk to each other; both read events.
  private func talk(_ test: TestDesk) async throws -> CallUUID {
    for name in ["ada", "bob"] { read(test, PersonID(name), EventReaders([DeviceID(name + "1")])) }
    var start = CallDesk.Start(id: test.desk.uuid(), recipients: [bob], media: .audio)
    start.path = .direct
    _ = try await test.desk.start(start, by: Caller(ada, device: DeviceID("ada1"), apiKey: "APIkey"))
    _ = try await test.desk.join(start.id, by: Caller(bob, device: DeviceID("bob1"), apiKey: "APIkey"))
    await test.desk.writePresence()
    return start.id
  }

  private func read(_ test: TestDesk, _ person: PersonID, _ readers: EventReaders) {
    test.outlet.reading.withLock { $0[person] = readers }
    test.desk.readersChanged(of: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `one goes on as long as both read their events, and is without one who hasn't for 45 s`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      for _ in 0..<6 { await test.pass(60_000) }
      #expect(try await test.desk.call(id).state.active == [ada, bob])
      read(test, bob, EventReaders([DeviceID("bob2")]))
      await test.desk.writePresence()
      await test.pass(44_999)
      #expect(try await test.desk.call(id).state.active == [ada, bob])
      await test.pass(1)
      #expect(try await test.desk.call(id).state[bob]?.leaveReason == .networkError)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who reads again in time stays, also where it doesn't say by which device`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      read(test, bob, EventReaders())
      await test.desk.writePresence()
      await test.pass(30_000)
      read(test, bob, EventReaders(isAnyUnnamed: true))
      await test.desk.writePresence()
      await test.pass(60_000)
      #expect(try await test.desk.call(id).state.active == [ada, bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is refused has said nothing of a connection`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      for person in [ada, bob] {
        var signal = CallDesk.Signal(id: test.desk.uuid(), to: PersonID("zoe"), kind: "status", payload: "")
        signal.saysConnected = true
        await #expect(throws: CallProblem.notFound) {
          try await test.desk.signal(signal, in: id, by: Caller(person, device: nil, apiKey: "APIkey"))
        }
      }
      #expect(try await test.desk.call(id).state.connectedAt == nil && test.outlet.steps == [.started])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `two who say that they are connected have answered it, whether or not they say by which device`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      for (person, other, device) in [(ada, bob, DeviceID?.none), (bob, ada, DeviceID("bob1"))] {
        var signal = CallDesk.Signal(id: test.desk.uuid(), to: other, kind: "status", payload: "")
        signal.saysConnected = true
        _ = try await test.desk.signal(
          signal, in: id, by: Caller(person, device: device, apiKey: "APIkey"))
      }
      #expect(try await test.desk.call(id).state.connectedAt != nil)
      #expect(test.outlet.steps == [.started, .answered])
    }
  }
}
