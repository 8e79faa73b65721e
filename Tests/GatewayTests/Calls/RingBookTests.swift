import CallDesk
import Calls
import Model
import Testing

@testable import Gateway
@testable import Push

@Suite("Rings that were pushed", .timeLimit(.minutes(1)))
struct RingBookTests {
  private let ring = CallUUID("0192a1b2-0000-7000-8000-0123456789ab")!
  private let bob = PersonID("bob")
  private let call = CallUUID("0192a1b2-1111-7000-8000-0123456789ab")!

  /// - Returns: a device's outcome of the ring.
  private func outcome(
    _ device: Device, _ state: PushOutcome.State, isRing: Bool = true, mayHaveArrived: Bool = false
  ) -> PushOutcome {
    PushOutcome(
      device: PushDevice(device, of: bob), ringId: ring.text, isRing: isRing, state: state, reason: "",
      at: WallTime(milliseconds: 0), tries: 1, mayHaveArrived: mayHaveArrived)
  }

  private func pushed(_ id: CallUUID, _ devices: String..., until: Int64 = 40_000) -> RingBook.Ring {
    RingBook.Ring(
      id: id, person: bob, call: call, caller: PersonID("ada"), callerName: "Ada",
      devices: devices.map(device),
      until: until)
  }

  private func device(_ id: String) -> Device {
    Device(DeviceID(id), platform: .webhook, topic: "", token: id)
  }

  private func end(
    _ book: inout RingBook, _ ring: CallUUID, except device: String? = nil, listening: Set<DeviceID> = [],
    now: Int
  ) -> RingBook.Ended? {
    book.end(ring, of: bob, in: call, except: device.map { DeviceID($0) }, listening: listening, now: now)
  }

  @Test func `a ring whose end came first isn't pushed`() {
    var book = RingBook()
    let ended = end(&book, ring, now: 10)
    let begins = book.begin(pushed(ring, "a"), now: 10)
    #expect(ended == nil && !begins)
  }

  @Test func `the end goes to devices that neither ended it, read events nor were given it by a stream`() {
    var book = RingBook()
    let begins = book.begin(pushed(ring, "a", "b", "c", "d"), now: 10)
    book.noteEnd(of: ring, givenTo: DeviceID("b"), of: bob)
    book.noteEnd(of: ring, givenTo: DeviceID("d"), of: PersonID("eve"))
    book.noteEnd(of: call, givenTo: DeviceID("d"), of: bob)
    let ended = end(&book, ring, except: "a", listening: [DeviceID("c")], now: 20)
    #expect(begins && ended?.devices.map(\.id) == ["d"] && ended?.callerName == "Ada")
  }

  @Test func `what an alert shows is replaced also where the person's events are read`() {
    var book = RingBook()
    var app = Device(DeviceID("app"), platform: .apnsVoIP, topic: "com.example.app.voip", token: "2")
    app.screen = .app
    var known = pushed(ring, "hook")
    known.devices += [
      Device(DeviceID("alert"), platform: .apnsAlert, topic: "com.example.app", token: "1"), app,
      Device(DeviceID("phone"), platform: .apnsVoIP, topic: "com.example.app", token: "3"),
      Device(DeviceID("own"), platform: .apnsAlert, topic: "com.example.app", token: "4"),
    ]
    _ = book.begin(known, now: 10)
    for device in known.devices { book.noteEnd(of: ring, givenTo: device.id, of: bob) }
    let ended = end(&book, ring, except: "own", now: 20)
    #expect(ended?.devices.map(\.id) == ["alert", "app"])
    #expect(ended?.devices.allSatisfy { $0.platform == .apnsAlert } == true)
  }

  @Test func `the end goes where the ring may be: it was taken, or its answer was lost or is awaited`() {
    var book = RingBook()
    _ = book.begin(pushed(ring, "taken", "lost", "awaited", "refused", "bad", "late"), now: 10)
    let lost = outcome(device("lost"), .expired, mayHaveArrived: true)
    for said in [
      outcome(device("taken"), .delivered), lost, outcome(device("refused"), .failed),
      outcome(device("bad"), .removed), outcome(device("late"), .expired),
    ] { _ = book.note(said) }
    #expect(!book.mayHave(ring, DeviceID("refused")) && book.mayHave(ring, DeviceID("awaited")))
    let ended = end(&book, ring, now: 20)
    #expect(ended?.devices.map(\.id) == ["taken", "lost", "awaited"])
    // What is said meanwhile counts as well.
    _ = book.note(outcome(device("awaited"), .failed))
    #expect(!book.mayHave(ring, DeviceID("awaited")))
  }

  @Test func `a device that is gone hears of no end, and nothing is written down of it`() {
    var book = RingBook()
    _ = book.begin(pushed(ring, "phone", "tablet"), now: 10)
    book.forget(DeviceID("phone"), of: bob)
    book.forget(DeviceID("tablet"), of: PersonID("eve"))
    let phone = book.note(outcome(device("phone"), .delivered))
    let tablet = book.note(outcome(device("tablet"), .delivered))
    #expect(phone == nil && tablet != nil && !book.mayHave(ring, DeviceID("phone")))
    #expect(end(&book, ring, now: 20)?.devices.map(\.id) == ["tablet"])
  }

  @Test func `of those who were given an end none but the ring's own devices are kept`() {
    var book = RingBook()
    _ = book.begin(pushed(ring, "phone"), now: 10)
    for number in 0..<1_000 {
      book.noteEnd(of: ring, givenTo: DeviceID("made up \(number)"), of: bob)
    }
    book.noteEnd(of: ring, givenTo: DeviceID("phone"), of: bob)
    #expect(book.informed(ofEndOf: ring) == [DeviceID("phone")])
  }

  @Test func `a ring of the process before ends where that one has brought it`() {
    var book = RingBook()
    book.restore(pushed(ring, "taken", "refused"), unreached: [DeviceID("refused")], now: 10)
    #expect(book.goesOn(ring))
    #expect(end(&book, ring, now: 20)?.devices.map(\.id) == ["taken"])
    #expect(!book.goesOn(ring))
  }

  @Test func `a ring is pushed once`() {
    var book = RingBook()
    let first = book.begin(pushed(ring, "a"), now: 10)
    let second = book.begin(pushed(ring, "a"), now: 11)
    #expect(first && !second)
  }

  @Test func `a minute behind its end a ring is forgotten`() {
    var book = RingBook()
    _ = book.begin(pushed(ring, "a"), now: 10)
    let (ended, again) = (end(&book, ring, now: 20), end(&book, ring, now: 200))
    #expect(ended != nil && again == nil)
  }

  @Test func `ten thousand rings are remembered and no more`() {
    var book = RingBook()
    let rings = (0..<10_100).map { CallUUID(random: (UInt64($0) << 16, 7)) }
    for (number, ring) in rings.enumerated() {
      _ = book.begin(pushed(ring, until: 40_000 + Int64(number) * 1_000), now: 10)
    }
    var known = 0
    for ring in rings.reversed() where end(&book, ring, now: 11) != nil { known += 1 }
    #expect(known == 10_000)
  }

  @Test func `why a push was given up is kept in the words of those who give it up`() {
    #expect(PushDrop.ringOver.rawValue == CallDelivery.ringOver)
  }

  @Test func `full, it lets the first go, without looking at all others`() {
    var book = RingBook()
    let began = ContinuousClock.now
    for number in 0..<40_000 as Range<UInt64> {
      _ = book.begin(pushed(CallUUID(random: (number << 16, 7)), until: 40_000), now: 10)
    }
    // Thirty thousand times ten thousand would take minutes.
    #expect(ContinuousClock.now - began < .seconds(20))
    let (first, last) = (CallUUID(random: (0, 7)), CallUUID(random: (39_999 << 16, 7)))
    let (forgotten, known) = (end(&book, first, now: 11), end(&book, last, now: 11))
    #expect(forgotten == nil && known != nil)
  }
}
