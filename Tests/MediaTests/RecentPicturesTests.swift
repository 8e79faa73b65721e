import Model
import Testing

@testable import Media

/// Streams that begin with what their source showed until now.
@Suite("Recent pictures", .timeLimit(.minutes(1)))
struct RecentPicturesTests {
  /// What a source has shown since a key frame, and its newest moment in milliseconds.
  private func shown(_ source: Source, from first: Int, pictures: Int) throws -> [Source.Packet] {
    try (0..<pictures).map { try some(source.next(at: first + $0 * 33, key: $0 == 0)) }
  }

  private func past(_ packets: [Source.Packet]) throws -> RecentPictures {
    let (first, last) = (try some(packets.first).info, try some(packets.last).info)
    return RecentPictures(
      first: first.extendedSequence, last: last.extendedSequence, encoding: 0, bytes: packets.count * 100,
      frames: packets.count, keyTimestamp: first.timestamp, timestamp: last.timestamp, arrival: last.arrival)
  }

  @Test
  func `its pictures are drawn together to a millisecond each, and the next stands where it would without`()
    throws
  {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1, pictureID: 7)
    let packets = try shown(source, from: 0, pictures: 46)
    slot.feed(source)
    let recent = try past(packets)
    #expect(slot.begin(with: recent))
    let sent = packets.compactMap { slot.forward($0) }
    #expect(sent.count == 46)
    for (one, next) in zip(sent, sent.dropFirst()) {
      #expect(next.sequence == one.sequence + 1)
      #expect((80...100).contains(next.timestamp &- one.timestamp))
      let id = try some(one.pictureID)
      #expect(next.pictureID == (id + 1) & 0x7FFF)
    }
    let live = try some(source.next(at: 46 * 33))
    let after = try some(slot.forward(live))
    #expect(after.timestamp &- (try some(sent.last).timestamp) == 33 * 90)
    // A subscriber that lost some gets them as they were.
    for lost in [sent[0], sent[20], sent[45], after] {
      let again = try some(slot.ask(UInt16(truncatingIfNeeded: lost.sequence), of: source))
      #expect(again.timestamp == lost.timestamp)
    }
    try slot.rebuild()
    let lost = sent[30]
    let again = slot.ask(UInt16(truncatingIfNeeded: lost.sequence), of: source, at: milliseconds(200_000))
    #expect(again?.timestamp == lost.timestamp)
  }

  @Test(arguments: [0, 1, 5, 20, 40, 400, 5_000])
  func `behind another source they stand between what was sent and the present`(gap: Int) throws {
    let slot = Slot(.video)
    let former = Source(.video, peer: 1)
    slot.feed(former)
    let source = Source(.video, peer: 2, sequence: 9_000, base: 77)
    let packets = try shown(source, from: 100_000, pictures: 40)
    let now = 100_000 + 39 * 33
    let last = try some(slot.forward(try some(former.next(at: now - gap, key: true))))
    slot.feed(source)
    let recent = try past(packets)
    #expect(slot.begin(with: recent))
    let sent = packets.compactMap { slot.forward($0) }
    #expect(sent.count == 40)
    var before = last.timestamp
    for packet in sent {
      let step = Int32(bitPattern: packet.timestamp &- before)
      #expect(step > 0 && step <= max(gap, 40) * 90)
      before = packet.timestamp
    }
    let delay = Int(Int32(bitPattern: before &- last.timestamp)) / 90
    #expect((gap...max(gap, 2) + 1).contains(delay), "the newest picture is no later than it has to be")
    #expect(sent[0].sequence == last.sequence + 1)
  }

  @Test func `nothing begins with them but what waits for that encoding's key frame`() throws {
    let source = Source(.video, peer: 1)
    let packets = try shown(source, from: 0, pictures: 3)
    let slot = Slot(.video)
    var other = try past(packets)
    #expect(!slot.begin(with: other), "nothing feeds it")
    slot.feed(source)
    other.encoding = 1
    #expect(!slot.begin(with: other))
    for packet in packets { _ = slot.forward(packet) }
    let recent = try past(packets)
    #expect(!slot.begin(with: recent), "it flows")
    let sound = Slot(.audio)
    sound.feed(Source(.audio, peer: 3))
    #expect(!sound.begin(with: recent))
  }

  @Test func `a stream that was cut isn't begun with what its path had no room for`() throws {
    let source = Source(.video, peer: 1)
    let packets = try shown(source, from: 0, pictures: 4)
    let slot = Slot(.video)
    slot.feed(source)
    _ = slot.forward(packets[0])
    let selection = try some(slot.select(packets[1]))
    slot.forwarder.drop(selection, sequence: packets[1].info.extendedSequence)
    let recent = try past(packets)
    #expect(slot.needsKeyFrame && !slot.begin(with: recent))
  }

  @Test func `a stream that was paused goes on with them on its own clock`() throws {
    let source = Source(.video, peer: 1)
    let slot = Slot(.video)
    slot.feed(source)
    let first = try some(slot.forward(try some(source.next(at: 0, key: true))))
    #expect(!slot.pause(true))
    let packets = try shown(source, from: 2_000, pictures: 30)
    let recent = try past(packets)
    #expect(slot.pause(false) && slot.begin(with: recent))
    let sent = packets.compactMap { slot.forward($0) }
    #expect(sent.count == 30)
    #expect(sent[29].timestamp &- first.timestamp == UInt32(2_000 + 29 * 33) * 90)
    #expect(sent[0].sequence == first.sequence + 1)
  }
}
