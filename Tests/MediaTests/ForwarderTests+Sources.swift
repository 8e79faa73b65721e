import Media
import Model
import Testing
import Wire

/// One source after the other in the same slot, and one that starts over.
extension ForwarderTests {
  @Test(arguments: [true, false]) func `streams of three sources are one stream`(reported: Bool) throws {
    let slot = Slot(.video)
    var stream: [Sent] = []
    for (number, base) in [0xFFFF_F000, 17, 0x8000_0000].enumerated() as EnumeratedSequence<[UInt32]> {
      let source = Source(
        .video, peer: UInt64(number + 1), sequence: UInt16(60_000 + number * 2_500), base: base,
        pictureID: UInt16(number * 10_000 + 32_760), tl0: UInt8(250 - number))
      if reported { source.report() }
      #expect(slot.feed(source))
      // From the middle of the old picture on: never a packet before the key frame.
      #expect(slot.forward(try some(source.next(at: number * 1_000))) == nil)
      stream += try run(source, into: slot, at: number * 1_000 + 33, count: 20, keyFirst: true)
    }
    expectContinuous(stream)
    for (a, b) in zip(stream, stream.dropFirst()) {
      #expect(b.pictureID == (try some(a.pictureID) + 1) & 0x7FFF)
      #expect(b.tl0 == (try some(a.tl0)) &+ 1)
    }
    // On the time line, too: a second between two sources is a second, to the sample if their clocks are known.
    let distance = Int64(stream[20].timestamp &- stream[0].timestamp)
    #expect(abs(distance - 90_000) <= (reported ? 2 : 90))
    #expect(slot.counters.anchors == 3)
  }

  @Test func `the sources' delays don't shift the time line when their clocks are known`() throws {
    for reported in [true, false] {
      let slot = Slot(.audio)
      let near = Source(.audio, peer: 1)
      let far = Source(.audio, peer: 2, base: 99)
      if reported {
        near.report()
        far.report()
      }
      slot.feed(near)
      let a = try some(slot.forward(try some(near.next(at: 0, delay: 5))))
      slot.feed(far)
      let b = try some(slot.forward(try some(far.next(at: 500, delay: 305))))
      #expect(b.timestamp &- a.timestamp == (reported ? 24_000 : 38_400))
    }
  }

  @Test func `a source that lies back in time still goes forward`() throws {
    let slot = Slot(.audio)
    let near = Source(.audio, peer: 1)
    let far = Source(.audio, peer: 2)
    near.report()
    far.report()
    slot.feed(near)
    let a = try some(slot.forward(try some(near.next(at: 1_000))))
    slot.feed(far)
    let b = try some(slot.forward(try some(far.next(at: 400, delay: 650))))
    #expect((1...960).contains(b.timestamp &- a.timestamp))
    #expect(b.sequence == a.sequence + 1)
  }

  @Test func `an hour of silence between two sources is no jump beyond an hour`() throws {
    let slot = Slot(.audio)
    let one = Source(.audio, peer: 1)
    slot.feed(one)
    let a = try some(slot.forward(try some(one.next(at: 0))))
    slot.feed(nil)
    let two = Source(.audio, peer: 2)
    slot.feed(two)
    let b = try some(slot.forward(try some(two.next(at: 100_000_000))))
    #expect(b.timestamp &- a.timestamp == 3_600 * 48_000)
  }

  @Test func `picture ids go on between sources of 7 and of 15 bits`() throws {
    let slot = Slot(.video)
    let short = Source(.video, peer: 1, pictureID: 120)
    short.isLong = false
    let long = Source(.video, peer: 2, pictureID: 20_000)
    slot.feed(short)
    let first = try run(short, into: slot, at: 0, count: 20, keyFirst: true).compactMap(\.pictureID)
    #expect(first == (0..<20).map { UInt16((121 + $0) & 0x7F) })
    slot.feed(long)
    let second = try run(long, into: slot, at: 1_000, count: 3, keyFirst: true).compactMap(\.pictureID)
    #expect(second == [13, 14, 15])
    slot.feed(short)
    let third = try run(short, into: slot, at: 2_000, count: 3, keyFirst: true).compactMap(\.pictureID)
    #expect(third == [16, 17, 18])
  }

  @Test func `a payload that is a descriptor alone is rewritten like the others, none is left untouched`()
    throws
  {
    let slot = Slot(.video)
    for (source, long) in [
      (Source(.video, peer: 1, pictureID: 5), false), (Source(.video, peer: 2, pictureID: 90), true),
    ] {
      source.isLong = long
      slot.feed(source)
      let key = try some(slot.forward(try some(source.next(at: 0, key: true))))
      let bare = try some(source.next(at: 33) { $0.payload.removeLast(3) })
      #expect(try some(slot.forward(bare)).pictureID == (try some(key.pictureID)) + 1)
    }
  }

  @Test func `after silence the same source is joined again`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1, pictureID: 4)
    slot.feed(source)
    var stream = try run(source, into: slot, at: 0, count: 3, keyFirst: true)
    #expect(!slot.feed(source), "the same again changes nothing")
    slot.feed(nil)
    #expect(slot.source == nil)
    _ = source.next(at: 500, key: true)
    #expect(slot.feed(source))
    stream += try run(source, into: slot, at: 1_000, count: 3, keyFirst: true)
    expectContinuous(stream)
  }

  @Test func `a source that starts over goes on from a key frame`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1, pictureID: 4)
    slot.feed(source)
    var stream = try run(source, into: slot, at: 0, count: 5, keyFirst: true)
    source.sequence = 40_000
    #expect(source.next(at: 200) == nil)
    #expect(slot.forward(try some(source.next(at: 233))) == nil)
    #expect(slot.needsKeyFrame)
    stream += try run(source, into: slot, at: 266, count: 5, keyFirst: true)
    expectContinuous(stream)
    #expect(slot.counters.anchors == 2)
  }

  @Test func `a packet from before the restart does not go back`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    slot.feed(source)
    _ = try run(source, into: slot, at: 0, count: 5)
    source.sequence = 50
    source.receiver.rebind(ssrc: 5)
    let restarted = try some(source.next(at: 300))
    let a = try some(slot.forward(restarted))
    let early = try some(source.next(at: 280) { $0.sequence = 49 })
    #expect(slot.forward(early) == nil)
    source.sequence = 51
    #expect(slot.forward(try some(source.next(at: 320)))?.sequence == a.sequence + 1)
  }
}
