import Media
import Model
import Testing
import Wire

/// What passes through the sessions of publishers and subscribers, from the first packet to the reports, in plain packets.
@Suite("Media from publisher to subscriber without keys", .timeLimit(.minutes(2)))
struct SessionPassageTests {
  /// A subscriber with slots, each fed by a publisher of its own, whose SSRC is 10 for the first, 20 for the second.
  final class Room {
    let sources: [Person]
    let subscriber: Person
    /// By source: the number that its next packet has.
    private var next: [Int]

    init(sources count: Int = 1) {
      sources = (0..<count).map { index in
        let ssrc = UInt32(10 * (index + 1))
        return Person(
          UInt64(index + 1),
          AgreedMedia(
            receive: [section(.video, ssrc: ssrc, rtxSSRC: ssrc + 1)], allowsReducedSizeRTCP: true))
      }
      subscriber = Person(
        9,
        AgreedMedia(
          send: (0..<count).map { index in
            SendSection(
              index: UInt16(index), mid: "s\(index)", kind: .video,
              codecs: [
                NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true, pli: true)
              ], extensions: HeaderExtensionMap(), ssrc: 7_000 + UInt32(10 * index),
              rtxSSRC: 7_001 + UInt32(10 * index), cname: "us", streamID: "s\(index)")
          }))
      next = (0..<count).map { 100 + 1_000 * $0 }
      for (slot, source) in sources.enumerated() {
        _ = subscriber.session.setSource(slot: slot, source.key, clock: nil)
      }
    }

    func packet(_ number: Int, of source: Int = 0, key: Bool = false) -> RTPPacket {
      RTPPacket(
        sequence: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 900,
        ssrc: UInt32(10 * (source + 1)), payload: vp8(key: key) + [UInt8(number & 255)])
    }

    /// Packets that a source sends, the first of them a key frame if so; those of `lost` never arrive.
    func send(_ count: Int, of source: Int = 0, key: Bool = false, lost: Set<Int> = []) {
      for index in 0..<count {
        defer { next[source] += 1 }
        if lost.contains(index) { continue }
        arrive(packet(next[source], of: source, key: key && index == 0).bytes, of: source)
      }
    }

    /// - Returns: whether the subscriber was sent it.
    @discardableResult
    func arrive(_ bytes: [UInt8], of source: Int = 0) -> Bool {
      guard let taken = sources[source].publish(bytes, at: milliseconds(next[source] * 10)) else {
        return false
      }
      return subscriber.forward(taken.packet, taken.info, slot: source)
    }

    func asks(again numbers: [UInt16], slot: Int = 0) {
      subscriber.hear {
        $0.append(nack: numbers.span, FeedbackSources(sender: 50, media: 7_000 + UInt32(10 * slot)))
      }
      settle()
    }

    func settle() {
      if sources.count == 2 {
        subscriber.settle(with: sources[0], sources[1], at: milliseconds(20_000))
      } else {
        subscriber.settle(with: sources[0], at: milliseconds(20_000))
      }
    }

    /// What came in one stream of the subscriber's, by its numbers.
    func got(_ ssrc: UInt32) -> [UInt16: [UInt8]] {
      Dictionary(
        subscriber.got.filter { $0.header.ssrc == ssrc }.map { ($0.header.sequence, $0.payload) },
        uniquingKeysWith: { first, _ in first })
    }
  }

  @Test func `what is lost on the way in is asked for by its number, and its retransmission takes its place`()
    throws
  {
    let room = Room()
    room.send(6, key: true, lost: [2, 3])
    let before = room.got(7_000)
    #expect(before.count == 4)
    let source = room.sources[0]
    let kinds = source.poll(source.session.feedbackDeadline)
    #expect(kinds.first == .nack)
    #expect(source.asked == [102, 103])
    for (outer, number) in [102, 103].enumerated() {
      let again = room.packet(number).repeated(ssrc: 11, payloadType: 97, sequence: UInt16(500 + outer))
      #expect(room.arrive(again))
    }
    let after = room.got(7_000)
    let first = try #require(room.subscriber.got.first?.header.sequence)
    #expect(Set(after.keys) == Set((0..<6).map { first &+ $0 }))
    // Each in its place: the last byte says which it was.
    #expect((0..<6).map { after[first &+ $0]?.last } == (100..<106).map { UInt8($0) })
    #expect(source.context.counters.retransmissionsReceived == 2)
    #expect(!room.arrive(room.packet(102).repeated(ssrc: 11, payloadType: 97, sequence: 502)), "twice")
  }

  @Test func `a subscriber's requests are answered from its own slot's source, each slot in its own stream`()
    throws
  {
    let room = Room(sources: 2)
    for source in 0..<2 { room.send(4, of: source, key: true) }
    let firsts = try [7_000, 7_010].map { ssrc in
      try #require(room.subscriber.got.first { $0.header.ssrc == ssrc }?.header.sequence)
    }
    for (slot, ssrc) in [UInt32(7_000), 7_010].enumerated() {
      #expect(Set(room.got(ssrc).keys) == Set((0..<4).map { firsts[slot] &+ $0 }))
    }
    room.asks(again: [firsts[1] &+ 2], slot: 1)
    let again = try #require(room.subscriber.got.last)
    #expect(again.header.ssrc == 7_011 && again.header.payloadType == 101)
    #expect(again.payload.last == UInt8(1_102 & 255), "the third packet of the second publisher")
    // A number that slot never had is none of the other's.
    let count = room.subscriber.got.count
    room.asks(again: [firsts[1] &+ 40], slot: 1)
    #expect(room.subscriber.got.count == count)
  }

  @Test func `a request for a key frame goes to the publisher whose picture it is, and to no other`() {
    let room = Room(sources: 2)
    for source in 0..<2 {
      room.send(3, of: source, key: true)
      _ = room.sources[source].poll(milliseconds(15_000))
    }
    room.subscriber.hear { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_010)) }
    room.settle()
    let asked = room.sources.map { $0.poll(milliseconds(30_000)) }
    #expect(!asked[0].contains(.pictureLoss) && asked[1].contains(.pictureLoss))
    #expect(room.subscriber.context.counters.keyFrameRequestsReceived == 1)
  }

  @Test func `a track that is muted reaches no one, and begins with a key frame and without a gap`() throws {
    let room = Room()
    room.send(3, key: true)
    let source = room.sources[0]
    _ = source.poll(milliseconds(5_000))
    source.session.setMuted(track: 0, true)
    room.send(4)
    #expect(room.subscriber.got.count == 3)
    source.session.setMuted(track: 0, false)
    #expect(source.poll(milliseconds(30_000)).contains(.pictureLoss))
    #expect(source.asked == [], "what was sent while it was muted is not missed")
    room.send(2)
    #expect(room.subscriber.got.count == 3, "there is nothing to be shown before the key frame")
    room.send(2, key: true)
    let numbers = room.subscriber.got.map(\.header.sequence)
    #expect(numbers == (0..<5).map { numbers[0] &+ $0 })
    #expect(Set(room.subscriber.got.map(\.header.ssrc)) == [7_000])
  }

  @Test func `after a change of source nothing of the one before is sent again`() throws {
    let room = Room(sources: 2)
    room.send(4, of: 0, key: true)
    let first = try #require(room.subscriber.got.first?.header.sequence)
    _ = room.subscriber.session.setSource(slot: 0, room.sources[1].key, clock: nil)
    let needs = room.subscriber.session.needsKeyFrame(slot: 0)
    #expect(needs)
    let taken = try #require(
      room.sources[1].publish(room.packet(1_100, of: 1, key: true).bytes, at: milliseconds(11_000)))
    #expect(room.subscriber.forward(taken.packet, taken.info, slot: 0))
    #expect(room.subscriber.got.last?.header.sequence == first &+ 4)
    #expect(room.subscriber.got.last?.header.ssrc == 7_000)
    let count = room.subscriber.got.count
    room.asks(again: [first &+ 1])
    #expect(room.subscriber.got.count == count, "the source's history is another's")
  }

  @Test func `a publisher's stream that comes under another SSRC goes on in the same slot`() {
    let room = Room()
    room.send(3, key: true)
    let source = room.sources[0]
    var random = RandomSource.seeded(state: 1)
    _ = source.session.apply(
      AgreedMedia(receive: [section(.video, ssrc: 30, rtxSSRC: 31)], allowsReducedSizeRTCP: true),
      random: &random, context: &source.context)
    var packet = room.packet(40_000, key: true)
    packet.ssrc = 30
    #expect(room.arrive(packet.bytes))
    packet = room.packet(103)
    #expect(!room.arrive(packet.bytes), "the old SSRC is no one's")
    let numbers = room.subscriber.got.map(\.header.sequence)
    #expect(numbers == (0..<4).map { numbers[0] &+ $0 })
  }

  @Test func `what was lost on either way is in the reports of both sides`() throws {
    let room = Room()
    room.send(10, key: true, lost: [4])
    let source = room.sources[0]
    _ = source.poll(milliseconds(1_100))
    let report = try #require(source.blocks.first)
    #expect(report.ssrc == 10 && report.cumulativeLost == 1 && report.highestSequence == 109)
    #expect(report.fractionLost == 256 / 10)
    #expect(room.subscriber.got.count == 9)
    room.subscriber.hear(at: milliseconds(1_200)) { writer in
      writer.append(ReceiverReport(ssrc: 50))
      _ = writer.append(
        ReportBlock(
          ssrc: 7_000, fractionLost: 0, cumulativeLost: 0, highestSequence: 9, jitter: 0,
          lastSenderReport: 0, delaySinceLastSenderReport: 0))
    }
    _ = room.subscriber.poll(milliseconds(2_200))
    #expect(room.subscriber.session.loss == 0)
  }
}
