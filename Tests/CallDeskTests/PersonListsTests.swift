import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("Lists of devices, blocks and deliveries", .timeLimit(.minutes(2)))
struct PersonListsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  @Test(arguments: StoreKind.allCases)
  func `devices come in pages, those that were registered last first, each once`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      for number in 0..<5 {
        // Some at the same moment.
        test.clock.move(number % 2 == 0 ? 10 : 0)
        _ = try await test.desk.register(
          Device(DeviceID("d\(number)"), platform: .webhook, topic: "", token: "t\(number)"),
          by: TestDesk.caller("ada"))
      }
      _ = try await test.desk.register(
        Device(DeviceID("other"), platform: .webhook, topic: "", token: "u"), by: TestDesk.caller("bob"))
      let expected = ["d4", "d3", "d2", "d1", "d0"]
      let all = try await test.desk.devices(of: ada)
      #expect(all.devices.map(\.id.text) == expected && all.next == nil)
      var (found, sizes, place) = ([String](), [Int](), DevicePage.Place?.none)
      repeat {
        let page = try await test.desk.devices(of: ada, before: place, limit: 2)
        found += page.devices.map(\.id.text)
        sizes.append(page.devices.count)
        place = page.next
      } while place != nil && sizes.count < 9
      #expect(found == expected && sizes == [2, 2, 1])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `blocks come in pages, the last first, each once`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      for number in 0..<6 {
        test.clock.move(number % 2 == 0 ? 10 : 0)
        try await test.desk.block(PersonID("p\(number)"), by: ada)
      }
      try await test.desk.block(eve, by: bob)
      let expected = (0..<6).reversed().map { PersonID("p\($0)") }
      #expect(try await test.desk.blocks(of: ada).people == expected)
      var (found, sizes, place) = ([PersonID](), [Int](), BlockPage.Place?.none)
      repeat {
        let page = try await test.desk.blocks(of: ada, before: place, limit: 3)
        found += page.people
        sizes.append(page.people.count)
        place = page.next
      } while place != nil && sizes.count < 9
      #expect(found == expected && sizes == [3, 3])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `deliveries come in pages to whom they are for, and who was reached is said of all on each`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob", "eve", "kim").call.state.id
      let now = test.clock.now.wall
      var deliveries: [CallDelivery] = []
      for number in 0..<8 {
        let isBob = number % 2 == 0
        deliveries.append(
          CallDelivery(
            call: id, person: isBob ? bob : eve, device: DeviceID("d\(number)"), ring: TestDesk.uuid(),
            kind: number < 6 ? .ring : .ended, platform: "webhook",
            state: isBob || number == 7 ? "delivered" : "failed", reason: "",
            // Pairs of one moment.
            time: now + Int64(number / 2), tries: 1))
      }
      try await test.desk.keep(deliveries)
      let order = deliveries.sorted { ($0.time, $0.person) > ($1.time, $1.person) }
      let readers: [(PersonID?, [CallDelivery])] = [
        (nil, order), (bob, order.filter { $0.person == bob }), (ada, []),
      ]
      for (reader, own) in readers {
        var (found, sizes, place) = ([CallDelivery](), [Int](), CallDeliveries.Place?.none)
        repeat {
          let page = try await test.desk.deliveries(of: id, for: reader, before: place, limit: 3)
          found += page.items
          sizes.append(page.items.count)
          place = page.next
          let reached: [PersonID: CallDeliveries.Reach] = [
            bob: .reached, eve: .unreachable, PersonID("kim"): .unknown,
          ]
          #expect(page.people == (reader == bob ? nil : reached))
        } while place != nil && sizes.count < 9
        #expect(found == own && sizes.allSatisfy { $0 <= 3 })
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.deliveries(of: id, for: PersonID("mallory"), limit: 3)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `where no push service wakes a device, one who has blocked the caller is as unreachable as any other`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.wakes = [.apnsVoIP]
    try await TestDesk.with(kind, terms) { test in
      for person in ["bob", "eve"] {
        let phone = Device(DeviceID("phone"), platform: .webhook, topic: "", token: "of \(person)")
        _ = try await test.desk.register(phone, by: TestDesk.caller(person))
      }
      try await test.desk.block(ada, by: bob)
      let entry = try await test.start("ada", "bob", "eve")
      // Of eve's the push service says so.
      let ring = try #require(test.outlet.rings.first?.ring.id)
      let failed = CallDelivery(
        call: entry.call.state.id, person: eve, device: DeviceID("phone"), ring: ring, kind: .ring,
        platform: "webhook", state: "failed", reason: "notConfigured", time: test.clock.now.wall, tries: 0)
      try await test.desk.keep([failed])
      for span in [Int64(0), 499, 1, 86_399_500, 1] {
        test.clock.move(span)
        await test.desk.tidy()
        let people = try await test.desk.deliveries(of: entry.call.state.id, for: ada, limit: 9).people
        #expect(people?.count == 2 && people?[bob] == people?[eve], "\(span): \(people ?? [:])")
      }
    }
  }
}
