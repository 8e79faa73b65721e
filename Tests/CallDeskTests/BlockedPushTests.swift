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

  /// Rings both, and has bob's device take it after so long.
  /// - Returns: after how long each is said to be reached.
  private func ring(
    after delay: Int64, _ test: TestDesk
  ) async throws -> (call: CallUUID, bob: Int64, kim: Int64) {
    let call = try await test.start("ada", "bob", "kim").call.state.id
    let (began, ring) = (test.clock.now.wall, try #require(test.outlet.rings.last?.ring.id))
    var seen: [PersonID: Int64] = [:]
    var past: Int64 = 0
    while seen.count < 2, past <= 2_000 {
      if past == delay {
        try await test.desk.keep([
          CallDelivery(
            call: call, person: bob, device: DeviceID("phone"), ring: ring, kind: .ring, platform: "webhook",
            state: "delivered", reason: "", time: began + delay, tries: 1)
        ])
      }
      for (person, state) in try await reach(call, test) where seen[person] == nil {
        if state == .reached { seen[person] = past }
      }
      test.clock.move(Self.pace)
      past += Self.pace
    }
    return (call, try #require(seen[bob]), try #require(seen[kim]))
  }

  @Test(arguments: StoreKind.allCases)
  func `it is reached as late as others are, and no sooner and no more evenly`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, Self.terms) { test in
      try await prepare(test)
      var (open, blocked): ([Int64], [Int64]) = ([], [])
      for number in 0..<120 {
        // From 25 ms to half a second, each as often.
        let delay = Int64(1 + number * 7 % 20) * Self.pace
        let (call, real, seeming) = try await ring(after: delay, test)
        _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
        // Those before have been seen.
        guard number >= 60 else { continue }
        open.append(real)
        blocked.append(seeming)
      }
      let mean = { (values: [Int64]) in values.reduce(0, +) / Int64(values.count) }
      #expect(abs(mean(open) - mean(blocked)) < 130, "\(mean(open)) and \(mean(blocked))")
      #expect(Set(blocked).count >= 8 && Set(blocked).isSubset(of: Set(open)), "\(blocked)")
    }
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
      for reader in [nil, ada, bob] as [PersonID?] {
        let page = try await test.desk.deliveries(of: call, for: reader, limit: 9)
        #expect(page.items.allSatisfy { $0.person == bob })
      }
      let day = CallDeskTerms().deliveries
      for (person, moment) in [(bob, real), (kim, seeming)].sorted(by: { $0.1 < $1.1 }) {
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
