import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("What a caller is shown of pushes to one who has blocked it", .timeLimit(.minutes(3)))
struct BlockedPushTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let kim = PersonID("kim")
  /// Milliseconds between two looks.
  private static let pace: Int64 = 25

  /// Bob and kim have a device each, and kim has blocked ada.
  private func prepare(_ test: TestDesk) async throws {
    for person in ["bob", "kim"] {
      let phone = Device(DeviceID("phone"), platform: .webhook, topic: "", token: "of \(person)")
      _ = try await test.desk.register(phone, by: TestDesk.caller(person))
    }
    try await test.desk.block(ada, by: kim)
  }

  private static var terms: CallDeskTerms {
    var terms = CallDeskTerms()
    (terms.rates.starts, terms.rates.rings) = (1_000, 1_000)
    return terms
  }

  private func reach(_ call: CallUUID, _ test: TestDesk) async throws -> [PersonID: CallDeliveries.Reach] {
    try await test.desk.deliveries(of: call, for: ada, limit: 9).people ?? [:]
  }

  /// What a caller sees of a person it rings, and after how long.
  private struct Shown: Hashable {
    var reach: CallDeliveries.Reach
    var after: Int64
  }

  /// What became of a push to bob's device at this moment.
  private func keep(
    _ state: String, reason: String = "", of ring: CallUUID, in call: CallUUID, _ test: TestDesk
  ) async throws {
    try await test.desk.keep([
      CallDelivery(
        call: call, person: bob, device: DeviceID("phone"), ring: ring, kind: .ring, platform: "webhook",
        state: state, reason: reason, time: test.clock.now.wall, tries: 1)
    ])
  }

  /// Rings both, and has that become of the push to bob's device after so long.
  private func ring(
    _ state: String = "delivered", after delay: Int64, _ test: TestDesk
  ) async throws -> (call: CallUUID, bob: Shown, kim: Shown) {
    let call = try await test.start("ada", "bob", "kim").call.state.id
    let ring = try #require(test.outlet.rings.last?.ring.id)
    var shown: [PersonID: Shown] = [:]
    var past: Int64 = 0
    while shown.count < 2, past <= 2_000 {
      if past == delay {
        try await keep(state, reason: state == "failed" ? "certificate" : "", of: ring, in: call, test)
      }
      for (person, reach) in try await reach(call, test) where shown[person] == nil && reach != .unknown {
        shown[person] = Shown(reach: reach, after: past)
      }
      test.clock.move(Self.pace)
      past += Self.pace
    }
    return (call, try #require(shown[bob]), try #require(shown[kim]))
  }

  /// The same as often, one call behind the other, from 25 ms to half a second, each as often.
  private func ring(
    _ state: String = "delivered", times count: Int, _ test: TestDesk
  ) async throws -> (bob: [Shown], kim: [Shown]) {
    var (bob, kim): ([Shown], [Shown]) = ([], [])
    for number in 0..<count {
      let (call, open, blocked) = try await ring(
        state, after: Int64(1 + number * 7 % 20) * Self.pace, test)
      _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
      bob.append(open)
      kim.append(blocked)
    }
    return (bob, kim)
  }

  @Test(arguments: StoreKind.allCases)
  func `it is reached as late as others are, and no sooner and no more evenly`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      // These are seen, for those that follow.
      _ = try await ring(times: 60, test)
      let shown = try await ring(times: 60, test)
      #expect((shown.bob + shown.kim).count { $0.reach == .reached } == 120)
      let (open, blocked) = (shown.bob.map(\.after), shown.kim.map(\.after))
      let mean = { (values: [Int64]) in values.reduce(0, +) / Int64(values.count) }
      #expect(abs(mean(open) - mean(blocked)) < 130, "\(mean(open)) and \(mean(blocked))")
      #expect(Set(blocked).count >= 8 && Set(blocked).isSubset(of: Set(open)), "\(blocked)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func
    `where the push service fails it is no more reached than others, as late as they, until it works again`(
      kind: StoreKind
    ) async throws
  {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      _ = try await ring(times: 20, test)
      // From the first on by which it is known.
      _ = try await ring("failed", times: 1, test)
      let shown = try await ring("failed", times: 40, test)
      #expect((shown.bob + shown.kim).count { $0.reach == .unreachable } == 80)
      #expect(Set(shown.kim).isSubset(of: Set(shown.bob)) && Set(shown.kim).count >= 4, "\(shown.kim)")
      _ = try await ring(times: 1, test)
      let after = try await ring(times: 20, test)
      #expect((after.bob + after.kim).count { $0.reach == .reached } == 40)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func
    `where the push service says nothing it is unknown for as long as it rings, and unreachable behind that`(
      kind: StoreKind
    ) async throws
  {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      for number in 0..<4 {
        let call = try await test.start("ada", "bob", "kim").call.state.id
        let ring = try #require(test.outlet.rings.last?.ring.id)
        test.clock.move(5_000)
        let ringing = try await reach(call, test)
        _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
        try await keep("expired", reason: CallDelivery.ringOver, of: ring, in: call, test)
        // The first is seen, for those that follow.
        guard number > 0 else { continue }
        #expect(ringing == [bob: .unknown, kim: .unknown])
        #expect(try await reach(call, test) == [bob: .unreachable, kim: .unreachable])
      }
    }
  }

  /// One of a person's webhook after so many milliseconds.
  private func note(
    _ state: String, reason: String = "", by person: String, _ number: UInt64, _ seen: SeenPushes,
    platform: String = "webhook", isSandbox: Bool = false, after delay: Int64 = 100
  ) {
    let ring = CallUUID(random: (number, number))
    seen.begin(ring, at: 0)
    var delivery = CallDelivery(
      call: ring, person: PersonID(person), device: DeviceID("phone"), ring: ring, kind: .ring,
      platform: platform, state: state, reason: reason, time: 100, tries: 1)
    delivery.isSandbox = isSandbox
    seen.note(delivery, at: delay)
  }

  private func draw(
    _ platform: Device.Platform, _ seen: SeenPushes, _ environment: Device.Environment = .production
  ) -> [SeenPushes.Outcome] {
    var device = Device(DeviceID("phone"), platform: platform, topic: "", token: "t")
    device.environment = environment
    return (0..<400).map { seen.draw(CallUUID(random: (UInt64($0), 7)), device) }
  }

  @Test func `what takes as long as a ring may be is drawn as it was, however long that is`() {
    let seen = SeenPushes()
    for number in 0..<20 {
      note("expired", reason: "connection", by: "p\(number)", UInt64(number), seen, after: 119_000)
    }
    #expect(draw(.webhook, seen).filter { $0.end == .failed }.allSatisfy { $0.delay == 119_000 })
  }

  @Test func `the devices of one person, however often they fail, say no more of a service than another's`() {
    let seen = SeenPushes()
    for number in 0..<7 { note("delivered", by: "p\(number)", UInt64(number), seen) }
    for number in 0..<100 { note("failed", reason: "certificate", by: "mallory", UInt64(100 + number), seen) }
    // One of eight.
    #expect((20...90).contains(draw(.webhook, seen).count { $0.end == .failed }))
    #expect(draw(.apnsVoIP, seen).count { $0.end == .taken } == 400)
  }

  @Test(arguments: [("failed", "BadEnvironmentKeyIdInToken"), ("expired", "connection")])
  func `what fails at one of Apple's two says nothing of the other: a device says itself which is its own`(
    state: String, reason: String
  ) {
    let (seen, apns) = (SeenPushes(), Device.Platform.apnsVoIP)
    note("delivered", by: "bob", 100, seen, platform: apns.rawValue)
    for number in 0..<8 as Range<UInt64> {
      note(state, reason: reason, by: "m\(number)", number, seen, platform: apns.rawValue, isSandbox: true)
    }
    #expect(draw(apns, seen).count { $0.end == .taken } == 400)
    #expect(draw(apns, seen, .sandbox).count { $0.end == .failed } == 400)
  }

  @Test(arguments: ["status403", "status404"])
  func `a webhook that isn't there, or lets no one in, fails for all, and a number of Apple's doesn't`(
    reason: String
  ) {
    let seen = SeenPushes()
    note("failed", reason: reason, by: "bob", 1, seen)
    note("failed", reason: reason, by: "bob", 2, seen, platform: Device.Platform.apnsVoIP.rawValue)
    #expect(draw(.webhook, seen).count { $0.end == .failed } == 400)
    #expect(draw(.apnsVoIP, seen).count { $0.end == .taken } == 400)
  }

  @Test func `what says something of a device or of a ring alone says nothing of the service`() {
    let seen = SeenPushes()
    note("delivered", by: "bob", 1, seen)
    note("removed", by: "eve", 2, seen)
    note("expired", reason: CallDelivery.ringOver, by: "kim", 3, seen)
    let reasons = [
      "deviceGone", "notConfigured", "payloadTooLarge", "status400", "status422", "Unregistered",
      "BadTopic", "TopicDisallowed", "a word that is made up", "",
    ]
    for (number, reason) in reasons.enumerated() {
      note("failed", reason: reason, by: "f\(number)", UInt64(4 + number), seen)
    }
    note("expired", reason: "TooManyRequests", by: "max", 40, seen)
    #expect(Set(draw(.webhook, seen)) == [SeenPushes.Outcome(end: .taken, delay: 100)])
  }

  @Test func `of rings that have no outcome yet those that began last are known, however many there are`() {
    let seen = SeenPushes()
    let rings = (0..<SeenPushes.mostRings + 100).map { CallUUID(random: (1, UInt64($0))) }
    for ring in rings { seen.begin(ring, at: 0) }
    func note(_ ring: CallUUID, by person: String, at moment: Int64) {
      seen.note(
        CallDelivery(
          call: ring, person: PersonID(person), device: DeviceID("phone"), ring: ring, kind: .ring,
          platform: "webhook", state: "delivered", reason: "", time: moment, tries: 1), at: moment)
    }
    // Of the first nothing is seen.
    note(rings[99], by: "eve", at: 20_000)
    note(rings[100], by: "bob", at: 100)
    note(rings[SeenPushes.mostRings], by: "kim", at: 100)
    #expect(Set(draw(.webhook, seen)) == [SeenPushes.Outcome(end: .taken, delay: 100)])
  }

  @Test(arguments: StoreKind.allCases)
  func `before any push was seen it takes from 80 to 900 ms`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      var times: Set<Int64> = []
      for _ in 0..<20 {
        let call = try await test.start("ada", "kim").call.state.id
        var past: Int64 = 0
        while try await reach(call, test)[kim] != .reached, past < 2_000 {
          test.clock.move(Self.pace)
          past += Self.pace
        }
        times.insert(past)
        _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
      }
      #expect(times.allSatisfy { (80...925).contains($0) } && times.count >= 5, "\(times.sorted())")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `it is kept as long behind the moment of its own as another's, and shown to no one as a push`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      let began = test.clock.now.wall
      let (call, real, seeming) = try await ring(after: 100, test)
      // Who runs the room sees the one push that there was, as bob does; ada has no device that was pushed to.
      for (reader, people) in [(nil, [bob]), (bob, [bob]), (ada, [])] as [(PersonID?, [PersonID])] {
        let page = try await test.desk.deliveries(of: call, for: reader, limit: 9)
        #expect(page.items.map(\.person) == people, "\(reader?.text ?? "who runs the room")")
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.deliveries(of: call, for: kim, limit: 9)
      }
      let day = CallDeskTerms().deliveries
      for (person, moment) in [(bob, real.after), (kim, seeming.after)].sorted(by: { $0.1 < $1.1 }) {
        // It was reached since the look before.
        test.clock.move(began + day + moment - Self.pace - test.clock.now.wall)
        #expect(try await reach(call, test)[person] == .reached)
        test.clock.move(began + day + moment + 1 - test.clock.now.wall)
        #expect(try await reach(call, test)[person] == .unknown)
      }
      await test.desk.tidy()
      #expect(try await reach(call, test) == [bob: .unknown, kim: .unknown])
    }
  }
}
