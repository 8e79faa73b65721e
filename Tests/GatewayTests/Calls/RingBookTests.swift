import CallDesk
import Calls
import Model
import Testing

@testable import Gateway
@testable import Push

@Suite("Rings that were pushed")
struct RingBookTests {
  private let ring = CallUUID("0192a1b2-0000-7000-8000-0123456789ab")!
  private let bob = PersonID("bob")
  private let call = CallUUID("0192a1b2-1111-7000-8000-0123456789ab")!

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

  @Test func `the end goes to devices that neither ended it nor read events`() {
    var book = RingBook()
    let begins = book.begin(pushed(ring, "a", "b", "c", "d"), now: 10)
    book.noteStream(of: bob, DeviceID("b"))
    book.noteStream(of: PersonID("eve"), DeviceID("d"))
    let ended = end(&book, ring, except: "a", listening: [DeviceID("c")], now: 20)
    #expect(begins && ended?.devices.map(\.id) == ["d"] && ended?.callerName == "Ada")
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
}
