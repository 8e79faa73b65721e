import Testing

@testable import Simulation

@Suite("How rings and calls end on each device, as the simulation judges it", .timeLimit(.minutes(1)))
struct RingLedgerTests {
  private static let phone = RingLedger.Ear(person: "bob", device: "bob1")
  private static let tablet = RingLedger.Ear(person: "bob", device: "bob2")

  private static func rung(_ ears: RingLedger.Ear...) -> RingLedger {
    var rings = RingLedger()
    for ear in ears { _ = rings.ringing("r1", of: "c", on: ear, until: 30_000) }
    return rings
  }

  @Test func `a ring begins once and ends once on each device`() {
    var rings = RingLedger()
    #expect(rings.ringing("r1", of: "c", on: Self.phone, until: 30_000) == nil)
    #expect(rings.ringing("r1", of: "c", on: Self.tablet, until: 30_000) == nil)
    #expect(rings.ringing("r1", of: "c", on: Self.phone, until: 30_000) != nil)
    #expect(rings.ended("r1", of: "c", reason: "cancelled", on: Self.phone, now: 1) == nil)
    #expect(rings.ended("r1", of: "c", reason: "cancelled", on: Self.phone, now: 1) != nil)
    #expect(rings.ended("r2", of: "c", reason: "cancelled", on: Self.phone, now: 1) != nil)
    #expect(rings.overdue(on: Self.phone, now: 40_000) == nil)
    #expect(rings.overdue(on: Self.tablet, now: 30_500) == nil)
    #expect(rings.overdue(on: Self.tablet, now: 40_000) != nil)
  }

  @Test func `the device that answers hears no word of it`() {
    var rings = Self.rung(Self.phone, Self.tablet)
    rings.noteOwn(Self.phone, "c")
    #expect(rings.ended("r1", of: "c", reason: "answeredElsewhere", on: Self.tablet, now: 1) == nil)
    #expect(rings.overdue(on: Self.phone, now: 40_000) == nil)
    // It is rung again, which is another ring.
    #expect(rings.ringing("r2", of: "c", on: Self.phone, until: 90_000) == nil)
    #expect(rings.overdue(on: Self.phone, now: 100_000) != nil)
  }

  @Test func `one call rings a device once at a time, and no longer than it may`() {
    var rings = Self.rung(Self.phone)
    #expect(rings.ringing("r2", of: "c", on: Self.phone, until: 30_000) != nil)
    rings = Self.rung(Self.phone)
    #expect(rings.ended("r1", of: "c", reason: "timedOut", on: Self.phone, now: 29_999) != nil)
    rings = Self.rung(Self.phone)
    #expect(rings.ended("r1", of: "d", reason: "cancelled", on: Self.phone, now: 1) != nil)
  }

  @Test func `nothing comes behind the end of a call, which comes once`() {
    var rings = Self.rung(Self.phone)
    #expect(rings.updated("c", on: Self.phone) == nil && !rings.hasHeardEnd(of: "c", on: Self.phone))
    #expect(rings.over("c", on: Self.phone) == nil && rings.hasHeardEnd(of: "c", on: Self.phone))
    #expect(rings.over("c", on: Self.phone) != nil && rings.updated("c", on: Self.phone) != nil)
    #expect(rings.ringing("r3", of: "c", on: Self.phone, until: 30_000) != nil)
  }

  @Test func `one who is forgotten hears no more of what was`() {
    var rings = Self.rung(Self.phone)
    rings.forget("bob")
    #expect(rings.overdue(on: Self.phone, now: 40_000) == nil && rings.hasHeardEnd(of: "c", on: Self.phone))
    #expect(rings.ended("r9", of: "c", reason: "cancelled", on: Self.phone, now: 1) == nil)
  }
}
