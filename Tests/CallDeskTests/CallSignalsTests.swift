import CallDesk
import Calls
import Foundation
import TestStores
import Testing

@Suite("Signals, devices and erasure", .timeLimit(.minutes(2)))
struct CallSignalsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func signal(
    _ to: PersonID, _ kind: String = "offer", payload: String = "AAAA", id: CallUUID = TestDesk.uuid()
  )
    -> CallDesk.Signal
  {
    CallDesk.Signal(id: id, to: to, kind: kind, payload: payload)
  }

  @Test(arguments: StoreKind.allCases)
  func `signals come in the order sent, numbered, and once answered to the device that joined`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let id = entry.call.state.id
      let ada = TestDesk.caller("ada")
      for number in 1...3 {
        #expect(try await test.desk.signal(signal(bob), in: id, by: ada) == Int64(number))
      }
      _ = try await test.desk.join(id, by: TestDesk.caller("bob", "bob2"))
      #expect(try await test.desk.signal(signal(bob, "candidates"), in: id, by: ada) == 4)
      let heard = try await test.heard("bob").filter { $0.kind == .signal }
      #expect(heard.map(\.device) == [nil, nil, nil, DeviceID("bob2")])
      let bodies = try heard.map { try JSONDecoder().decode(CallDesk.SignalBody.self, from: Data($0.body)) }
      #expect(bodies.map(\.number) == [1, 2, 3, 4] && bodies[3].kind == "candidates")
      #expect(bodies.allSatisfy { $0.sender == ada.person && $0.device == DeviceID("ada1") })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a signal that is sent again keeps its number, and another by its id is refused`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let one = signal(bob)
      for _ in 0..<3 {
        #expect(try await test.desk.signal(one, in: entry.call.state.id, by: TestDesk.caller("ada")) == 1)
      }
      #expect(try await test.kinds("bob").count { $0 == .signal } == 1)
      await #expect(throws: CallProblem.idTaken) {
        try await test.desk.signal(
          signal(bob, payload: "BBBB", id: one.id), in: entry.call.state.id, by: TestDesk.caller("ada"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `so many may wait for one who doesn't listen, and what was heard waits no longer`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    (terms.signals, terms.signalBytes) = (4, 100_000)
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let ada = TestDesk.caller("ada")
      for _ in 0..<4 { _ = try await test.desk.signal(signal(bob), in: id, by: ada) }
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) {
        try await test.desk.signal(signal(bob), in: id, by: ada)
      }
      test.desk.noteHeard(5, by: bob, DeviceID("bob1"))
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) {
        try await test.desk.signal(signal(bob), in: id, by: ada)
      }
      // What was sent within two seconds waits in any case.
      test.clock.move(2_000)
      let big = String(repeating: "A", count: 60_000)
      _ = try await test.desk.signal(signal(bob, payload: big), in: id, by: ada)
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) {
        try await test.desk.signal(signal(bob, payload: big), in: id, by: ada)
      }
      await #expect(throws: CallProblem.tooLarge("payload")) {
        try await test.desk.signal(
          signal(bob, payload: String(repeating: "A", count: 87_388)), in: id, by: ada)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of what was heard so many bytes are kept, the last of it, and all that wasn't heard`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    (terms.signals, terms.signalBytes) = (1_000, 20_000)
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob", "eve").call.state.id
      let payload = String(repeating: "A", count: 4_000)
      func send(_ number: Int) async throws -> Int64 {
        try await test.desk.signal(
          signal(bob, payload: payload), in: id, by: TestDesk.caller(number % 2 == 0 ? "ada" : "eve"))
      }
      func kept() async throws -> [PersonEvent] { try await test.heard("bob").filter { $0.kind == .signal } }
      // The ring goes on for longer, and so does the time that media is waited for.
      for number in 0..<34 {
        // What was sent within two seconds waits in any case.
        test.clock.move(520)
        #expect(try await send(number) == Int64(number / 2 + 1))
        // The first is the ring.
        test.desk.noteHeard(Int64(number + 2), by: bob, DeviceID("bob1"))
        #expect(try await kept().reduce(0) { $0 + $1.body.count } <= 4 * terms.signalBytes)
      }
      let last = try await kept()
      #expect(last.count >= 8 && last.count < 20)
      #expect(last.map(\.number) == Array((36 - Int64(last.count))...35))
      test.clock.move(2_000)
      for number in 0..<4 { _ = try await send(number) }
      #expect(try await kept().suffix(5).map(\.number) == Array(35...39))
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) { try await send(0) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is read at once of what a person hears has so many bytes, and it goes on behind them`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    (terms.signals, terms.signalBytes) = (1_000, 100_000_000)
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let big = String(repeating: "A", count: 80_000)
      for number in 0..<50 {
        let payload = number < 40 ? big : "AAAA"
        _ = try await test.desk.signal(signal(bob, payload: payload), in: id, by: TestDesk.caller("ada"))
      }
      var (numbers, sizes, after) = ([Int64](), [Int](), Int64(0))
      while sizes.count < 20 {
        let page = try await test.desk.events(of: bob, after: after, limit: 200)
        numbers += page.events.map(\.number)
        sizes.append(page.events.reduce(0) { $0 + $1.body.count })
        after = page.reached
        if after == page.last { break }
      }
      #expect(numbers == Array(1...51))
      #expect(sizes.count == 3 && sizes.allSatisfy { $0 < 1_048_576 + 90_000 }, "\(sizes)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an end still arrives a minute behind the call, and then nothing does`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let id = mine.call.state.id
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      _ = try await test.desk.signal(signal(bob, "end"), in: id, by: TestDesk.caller("ada"))
      let sent = try #require(try await test.heard("bob").last)
      test.clock.move(60_000)
      await #expect(throws: CallProblem.callEnded) {
        try await test.desk.signal(signal(bob, "end"), in: id, by: TestDesk.caller("ada"))
      }
      await test.desk.tidy()
      let kept = try #require(try await test.heard("bob").last)
      #expect(kept.number == sent.number && kept.body == Array("{}".utf8))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `signals go between people who are rung or in the call, and no others`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob", "eve").call.state.id
      _ = try await test.desk.leave(id, by: TestDesk.caller("eve"), reason: .rejected)
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.signal(signal(eve), in: id, by: TestDesk.caller("ada"))
      }
      await #expect(throws: CallProblem.notAllowed) {
        try await test.desk.signal(signal(bob), in: id, by: TestDesk.caller("eve"))
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.signal(signal(PersonID("zoe")), in: id, by: TestDesk.caller("ada"))
      }
    }
  }

  // MARK: - Devices

  @Test(arguments: StoreKind.allCases)
  func `a token moves to who registers it, and its former owner hears of it`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let phone = Device(DeviceID("phone"), platform: .apnsVoIP, topic: "app", token: "t1")
      _ = try await test.desk.register(phone, by: TestDesk.caller("ada"))
      _ = try await test.desk.register(
        Device(DeviceID("handy"), platform: .apnsVoIP, topic: "app", token: "t1"), by: TestDesk.caller("bob"))
      #expect(try await test.desk.devices(of: ada).devices.isEmpty)
      #expect(try await test.desk.devices(of: bob).devices.map(\.id) == [DeviceID("handy")])
      #expect(try await test.kinds("ada") == [.deviceRemoved])
      // The same again changes nothing for others.
      _ = try await test.desk.register(
        Device(DeviceID("handy"), platform: .apnsVoIP, topic: "app", token: "t1"), by: TestDesk.caller("bob"))
      #expect(try await test.kinds("bob").isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of seventeen devices the longest unused goes, and what isn't used for 90 days`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      for number in 0..<17 {
        test.clock.move(1_000)
        _ = try await test.desk.register(
          Device(DeviceID("d\(number)"), platform: .webhook, topic: "", token: "t\(number)"),
          by: TestDesk.caller("ada"))
      }
      let kept = try await test.desk.devices(of: ada).devices.map(\.id.text)
      #expect(kept.count == 16 && !kept.contains("d0"))
      try await test.desk.unregister(DeviceID("d1"), by: ada)
      await #expect(throws: CallProblem.notFound) { try await test.desk.unregister(DeviceID("d1"), by: ada) }
      test.clock.move(90 * 86_400_000 + 20_000)
      await test.desk.tidy()
      #expect(try await test.desk.devices(of: ada).devices.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a token that the push service refuses goes, unless it was registered since`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let phone = Device(DeviceID("phone"), platform: .apnsVoIP, topic: "app", token: "t1")
      let kept = try await test.desk.register(phone, by: TestDesk.caller("ada"))
      try await test.desk.dropToken(of: phone.id, of: ada, registeredBefore: kept.registeredAt - 1)
      #expect(try await test.desk.devices(of: ada).devices.count == 1)
      try await test.desk.dropToken(of: phone.id, of: ada, registeredBefore: kept.registeredAt)
      #expect(try await test.desk.devices(of: ada).devices.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who is erased is known by no name, and calls stay with the others`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      _ = try await test.desk.register(
        Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: TestDesk.caller("bob"))
      try await test.desk.block(eve, by: bob)
      _ = try await test.desk.leave(mine.call.state.id, by: TestDesk.caller("bob"), reason: .userLeft)
      try await test.desk.erase(bob)
      let document = try await test.desk.call(mine.call.state.id, for: ada)
      #expect(document.names == [ada: "Ada"] && document.erased == [bob])
      #expect(try await test.desk.devices(of: bob).devices.isEmpty)
      #expect(try await test.desk.blocks(of: bob).people.isEmpty)
      #expect(try await test.heard("bob").isEmpty)
    }
  }
}
