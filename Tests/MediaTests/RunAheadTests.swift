import Media
import Model
import Testing
import Wire

/// Numbers that a source counts and that are not sent must not carry a slot's stream away from its receiver, whose
/// estimate of the SRTP index holds for less than 32,768 numbers (RFC 3711 §3.3.1).
@Suite("A source that runs ahead of its slots", .timeLimit(.minutes(5)))
struct RunAheadTests {
  /// A payload that no VP8 decoder takes: it is counted and goes nowhere.
  static let malformed: [UInt8] = [0x80, 0x80]

  /// Moves the source by strides below what counts as a jump, with packets of which none is sent.
  func stride(_ source: Source, times: Int, from moment: Int) {
    for step in 0..<times {
      let sent = source.next(at: moment + step) {
        $0.sequence &+= 2_900
        $0.payload = Self.malformed
      }
      #expect(sent == nil)
    }
  }

  @Test func `strides of packets that are not sent do not move the stream's index`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1, pictureID: 10)
    slot.feed(source)
    var last = try some(slot.forward(try some(source.next(at: 0, key: true))))
    for round in 1...5 {
      stride(source, times: 13, from: round * 1_000)
      let next = try some(source.next(at: round * 1_000 + 500, key: true))
      let sent = try some(slot.forward(next))
      #expect(sent.sequence == last.sequence + 1)
      #expect(Int32(bitPattern: sent.timestamp &- last.timestamp) > 0)
      last = sent
    }
    #expect(source.receiver.restarts == 0, "the source has not started over")
  }

  @Test func `timestamps keep their difference behind a jump that waits for a key frame`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0, key: true))))
    // Not a key frame: it is counted and not sent.
    #expect(slot.forward(try some(source.next(at: 100) { $0.sequence &+= 1_000 })) == nil)
    #expect(slot.needsKeyFrame)
    // It comes 30 ms later than it was taken.
    let packet = try some(source.next(at: 330, key: true) { $0.timestamp &-= 30 * 90 })
    let sent = try some(slot.forward(packet))
    #expect(sent.sequence == first.sequence + 1)
    #expect(sent.timestamp == first.timestamp &+ 300 * 90)
  }

  @Test func `the next publisher in the slot goes on behind the last packet sent`() throws {
    let slot = Slot(.video)
    let hostile = Source(.video, peer: 1)
    slot.feed(hostile)
    let last = try some(slot.forward(try some(hostile.next(at: 0, key: true))))
    stride(hostile, times: 13, from: 100)
    // Not a key frame: it is counted and not sent.
    let packet = try some(hostile.next(at: 300))
    #expect(slot.forward(packet) == nil)
    #expect(slot.needsKeyFrame)

    let honest = Source(.video, peer: 2, sequence: 60_000)
    slot.feed(honest)
    let sent = try some(slot.forward(try some(honest.next(at: 400, key: true))))
    #expect(sent.sequence == last.sequence + 1)
  }

  @Test(arguments: [510, 511, 512]) func `what a subscriber may still ask for keeps its place`(
    lost: Int
  ) throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0))))
    let packet = try some(source.next(at: lost * 20) { $0.sequence &+= UInt16(lost) })
    let sent = try some(slot.forward(packet))
    let distance = lost < 512 ? Int64(lost + 1) : 1
    #expect(sent.sequence == first.sequence + distance)
    #expect(sent.timestamp == first.timestamp &+ UInt32(lost * 20 * 48), "its clock goes on either way")
  }

  @Test func `packets left out for their size do not move the stream's index`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0))))
    slot.room = 40
    for index in 1...40 {
      let large = try some(
        source.next(at: index * 20) {
          $0.sequence &+= 900
          $0.payload = Array(repeating: 1, count: 200)
        })
      #expect(slot.forward(large) == nil)
    }
    slot.room = 1_600
    let sent = try some(slot.forward(try some(source.next(at: 1_000))))
    #expect(sent.sequence <= first.sequence + 2, "the one before it keeps its number")
  }

  @Test func `the first packet that is sent is near the stream's beginning`() throws {
    let slot = Slot(.audio, seed: 3)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    slot.room = 40
    let large = try some(source.next(at: 0) { $0.payload = Array(repeating: 1, count: 200) })
    #expect(slot.forward(large) == nil)
    for index in 1...13 { _ = source.next(at: index * 20) { $0.sequence &+= 2_900 } }
    slot.room = 1_600
    let sent = try some(slot.forward(try some(source.next(at: 1_000))))
    #expect(sent.sequence < 0x8000 + 512)
  }

  @Test func `a late packet from before the new beginning is dropped, one behind it goes out`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    _ = slot.forward(try some(source.next(at: 0)))
    let late = try some(source.next(at: 20))
    let after = try some(source.next(at: 20_000) { $0.sequence &+= 1_000 })
    let overtaken = try some(source.next(at: 20_020))
    let last = try some(source.next(at: 20_040))
    let joined = try some(slot.forward(after))
    #expect(slot.forward(late) == nil)
    #expect(try some(slot.forward(last)).sequence == joined.sequence + 2)
    #expect(try some(slot.forward(overtaken)).sequence == joined.sequence + 1)
  }

  /// The second leap comes round to a little behind where the first began.
  @Test(arguments: [
    (MediaKind.video, true), (.video, false), (.audio, false),
  ])
  func `a timestamp that leaps by more than an hour does not leave as it is`(
    kind: MediaKind, isKey: Bool
  ) throws {
    let slot = Slot(kind)
    let hostile = Source(kind, peer: 1)
    slot.feed(hostile)
    let rate: UInt32 = kind == .video ? 90_000 : 48_000
    var last = try some(slot.forward(try some(hostile.next(at: 0, key: true)))).timestamp
    let leaps: [UInt32] = [1 << 30, 1 << 31 + rate, 0, 3 << 30, 3_600 * rate + 40 * rate / 1_000]
    for (index, leap) in leaps.enumerated() {
      let packet = try some(
        hostile.next(at: (index + 1) * 33, key: isKey) { $0.timestamp = $0.timestamp &+ leap })
      guard let sent = slot.forward(packet) else {
        #expect(kind == .video && !isKey, "a picture goes on with a key frame alone")
        continue
      }
      let step = Int32(bitPattern: sent.timestamp &- last)
      #expect(step >= 0 && UInt32(step) < rate, "\(leap)")
      last = sent.timestamp
    }
    let honest = Source(kind, peer: 2, base: 77)
    slot.feed(honest)
    let sent = try some(slot.forward(try some(honest.next(at: 700, key: true))))
    let step = Int32(bitPattern: sent.timestamp &- last)
    #expect(step > 0 && UInt32(step) < rate)
  }

  @Test func `a source that was silent for less than an hour goes on by its own clock`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0))))
    let sent = try some(slot.forward(try some(source.next(at: 3_599_000))))
    #expect(sent.timestamp == first.timestamp &+ 3_599 * 48_000)
    #expect(slot.counters.anchors == 1)
  }

  @Test func `a slot that nothing feeds sends nothing`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    #expect(slot.forward(try some(source.next(at: 0))) == nil)
    slot.feed(source)
    #expect(slot.forward(try some(source.next(at: 20))) != nil)
    slot.feed(nil)
    #expect(slot.forward(try some(source.next(at: 40))) == nil)
  }

  /// Ten minutes are passed on, three hours are joined again.
  @Test(arguments: [54_000_000, 1 << 30] as [UInt32])
  func `timestamps that alternate do not hold back the next source`(leap: UInt32) throws {
    let slot = Slot(.video)
    let hostile = Source(.video, peer: 1)
    slot.feed(hostile)
    var highest = try some(slot.forward(try some(hostile.next(at: 0, key: true)))).timestamp
    for index in 1...20 {
      let packet = try some(
        hostile.next(at: index * 33, key: true) { if index % 2 == 1 { $0.timestamp &+= leap } })
      let sent = try some(slot.forward(packet))
      if Int32(bitPattern: sent.timestamp &- highest) > 0 { highest = sent.timestamp }
    }
    let honest = Source(.video, peer: 2, base: 77)
    slot.feed(honest)
    let sent = try some(slot.forward(try some(honest.next(at: 700, key: true))))
    let step = Int32(bitPattern: sent.timestamp &- highest)
    #expect(step > 0 && step < 90_000, "just behind the latest that its receiver has seen")
  }
}
