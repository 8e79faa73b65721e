import Calls
import Model
import Testing

@testable import Gateway

@Suite("How long what a person hears is held back", .timeLimit(.minutes(1)))
struct ReadingPaceTests {
  private static let start = Instant(nanoseconds: 5_000_000_000)
  private let bob = PersonID("bob")
  private let phone = DeviceID("phone")

  // MARK: - The pace of one stream

  @Test func `what comes waits for a second at most, however much is owed, and then all of it is read`() {
    var pace = ReadingPace()
    let debt = ReadingDebt(ofDevice: .seconds(3_600))
    var now = Self.start
    for _ in 0..<3 {
      // All that there was is read: what comes waits from here on.
      let next = pace.next(owing: debt, isMore: false, now: now)
      #expect(next == now + .seconds(1))
      now = next
      for batch in 0..<100 {
        #expect(pace.next(owing: debt, isMore: true, now: now) <= now, "\(batch)")
        now = now + .milliseconds(3)
      }
    }
  }

  @Test func `what waits for several batches waits no longer for all of them than for one`() {
    var pace = ReadingPace()
    var now = Self.start
    for batch in 1...20 {
      let next = pace.next(owing: ReadingDebt(ofDevice: .milliseconds(300)), isMore: true, now: now)
      #expect(next - now <= .milliseconds(300) && next - Self.start <= .seconds(1), "\(batch)")
      now = max(now, next)
    }
    #expect(now == Self.start + .seconds(1))
    // Nothing is owed any more, which is as in the beginning.
    #expect(pace.next(owing: ReadingDebt(), isMore: true, now: now) == now)
    let later = now + .seconds(60)
    let debt = ReadingDebt(ofDevice: .milliseconds(300))
    #expect(pace.next(owing: debt, isMore: true, now: later) == later + .milliseconds(300))
  }

  @Test func `where all devices of a person owe together each batch waits, for a second at most`() {
    var pace = ReadingPace()
    var now = Self.start
    for _ in 0..<20 {
      let next = pace.next(owing: ReadingDebt(ofPerson: .seconds(60)), isMore: true, now: now)
      #expect(next == now + .seconds(1))
      now = next
    }
  }

  // MARK: - What is owed

  @Test func `a device that reads much takes nothing from others, nor from what its person asks`() {
    let (intakes, clock) = (Intakes(), StandingClock())
    let budgets = ReadingBudgets(intakes, instant: { clock.now })
    let debt = budgets.charge(3_145_728, bob, phone)
    #expect(debt.ofDevice == ReadingBudgets.mostOwed && debt.ofPerson == .zero)
    #expect(budgets.take(1_024, bob, phone) > .zero)
    for other in [DeviceID("tablet"), nil] {
      #expect(budgets.charge(1_024, bob, other) == ReadingDebt() && budgets.take(1_024, bob, other) == .zero)
    }
    #expect(budgets.charge(1_024, PersonID("eve"), phone) == ReadingDebt())
    #expect(intakes.take(1_048_576, room: "", identity: "bob", now: clock.now) == .zero)
  }

  @Test func `what is behind a second is forgiven, so that it is soon as before`() {
    let clock = StandingClock()
    let budgets = ReadingBudgets(Intakes(), instant: { clock.now })
    for _ in 0..<1_000 {
      let debt = budgets.charge(1_048_576, bob, phone)
      #expect(max(debt.ofDevice, debt.ofPerson) <= .seconds(1))
    }
    // The largest page waits for that and for itself.
    let wait = budgets.take(204_800, bob, phone)
    #expect(wait > .seconds(1) && wait < .milliseconds(1_400))
    clock.advance(by: wait)
    #expect(budgets.take(204_800, bob, phone) == .zero)
    clock.advance(by: .seconds(1))
    #expect(budgets.charge(0, bob, phone) == ReadingDebt())
  }

  @Test func `a page that is refused is charged to no one, so that other devices read theirs`() {
    let clock = StandingClock()
    let budgets = ReadingBudgets(Intakes(), instant: { clock.now })
    let waits = (0..<100).map { _ in budgets.take(204_800, bob, phone) }
    #expect(waits.count { $0 == .zero } == 10)
    // What is there of its own is there still.
    #expect(Set(waits.dropFirst(10)).count == 1 && waits[99] < .milliseconds(400))
    for number in 0..<7 {
      let other = DeviceID("d\(number)")
      for page in 0..<10 { #expect(budgets.take(204_800, bob, other) == .zero, "\(number) \(page)") }
    }
  }

  @Test func `of short reads the person pays an eighth as well, so that eight devices read what each may`() {
    let clock = StandingClock()
    let budgets = ReadingBudgets(Intakes(), instant: { clock.now })
    let devices = (0..<8).map { DeviceID("d\($0)") }
    for device in devices {
      #expect((0..<1_300).count { _ in budgets.take(1_024, bob, device) == .zero } == 1_300)
    }
    #expect(budgets.charge(0, bob, nil) == ReadingDebt())
  }

  @Test func `eight devices of a person read as much as each may, and more owe together`() {
    let clock = StandingClock()
    let budgets = ReadingBudgets(Intakes(), instant: { clock.now })
    var debts: [ReadingDebt] = []
    for number in 0..<10 { debts.append(budgets.charge(2_000_000, bob, DeviceID("d\(number)"))) }
    #expect(debts.prefix(8).allSatisfy { $0 == ReadingDebt() } && debts.count == 10)
    #expect(debts[9].ofDevice == .zero && debts[9].ofPerson > .zero)
    // Nor does one more device begin to read pages.
    #expect(budgets.take(204_800, bob, DeviceID("d10")) > .zero)
  }
}
