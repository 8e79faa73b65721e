import Model
import Testing
import Wire

@testable import Media

@Suite("A conference's media without keys", .timeLimit(.minutes(2)))
struct MediaSessionTests {
  private static let slot = SendSection(
    index: 0, mid: "s", kind: .video,
    codecs: [NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true)],
    extensions: HeaderExtensionMap(), ssrc: 7_000, rtxSSRC: 7_001, cname: "us", streamID: "s")

  private func publisher(_ number: UInt64, ssrc: UInt32) -> Person {
    Person(
      number,
      AgreedMedia(receive: [section(.video, ssrc: ssrc, rtxSSRC: ssrc + 1)], allowsReducedSizeRTCP: true))
  }
  private func subscriber() -> Person { Person(9, AgreedMedia(send: [Self.slot])) }

  /// Sends packet `number` of a publisher to a subscriber.
  @discardableResult
  private func pass(
    _ number: Int, from source: Person, ssrc: UInt32, to subscriber: Person, key: Bool = false
  ) -> Bool {
    let packet = RTPPacket(
      sequence: UInt16(number), timestamp: UInt32(number) * 900, ssrc: ssrc,
      payload: vp8(key: key) + [UInt8(number & 255)])
    guard let taken = source.publish(packet.bytes, at: milliseconds(number * 10)) else { return false }
    return subscriber.forward(taken.packet, taken.info)
  }

  @Test func `a subscriber gets nothing before a key frame, which its publisher is asked for`() {
    let (source, subscriber) = (publisher(1, ssrc: 10), subscriber())
    let asks = subscriber.session.setSource(slot: 0, source.key, clock: nil)
    #expect(asks)
    #expect(!pass(100, from: source, ssrc: 10, to: subscriber))
    let needs = subscriber.session.needsKeyFrame(slot: 0)
    #expect(needs)
    subscriber.session.requestAwaitedPictures(context: &subscriber.context)
    subscriber.settle(with: source, at: milliseconds(1_010))
    #expect(source.poll(milliseconds(1_010)).contains(.pictureLoss))
    #expect(pass(101, from: source, ssrc: 10, to: subscriber, key: true))
    #expect(pass(102, from: source, ssrc: 10, to: subscriber))
    #expect(subscriber.got.map(\.header.ssrc) == [7_000, 7_000])
    #expect(subscriber.got[1].header.sequence == subscriber.got[0].header.sequence &+ 1)
  }

  @Test func `a packet that a subscriber lost comes again in its retransmission stream`() {
    let (source, subscriber) = (publisher(1, ssrc: 10), subscriber())
    _ = subscriber.session.setSource(slot: 0, source.key, clock: nil)
    for number in 100..<105 { pass(number, from: source, ssrc: 10, to: subscriber, key: number == 100) }
    let lost = subscriber.got[2]
    subscriber.hear { writer in
      let numbers: [UInt16] = [lost.header.sequence]
      writer.append(nack: numbers.span, FeedbackSources(sender: 50, media: 7_000))
    }
    subscriber.settle(with: source, at: milliseconds(2_000))
    #expect(subscriber.got.count == 6 && subscriber.context.counters.nackedPackets == 1)
    let again = subscriber.got[5]
    #expect(again.header.ssrc == 7_001 && again.header.payloadType == 101)
    let number = [UInt8(lost.header.sequence >> 8), UInt8(lost.header.sequence & 255)]
    #expect(again.payload == number + lost.payload)
  }

  @Test func `what a publisher's numbers skip is asked for`() {
    let (source, subscriber) = (publisher(1, ssrc: 10), subscriber())
    for number in [100, 101, 104] { pass(number, from: source, ssrc: 10, to: subscriber) }
    let due = source.session.feedbackDeadline
    #expect(due < .never)
    #expect(source.poll(due).contains(.nack))
  }

  @Test func `another source goes on where the one before ended`() {
    let (one, other, subscriber) = (publisher(1, ssrc: 10), publisher(2, ssrc: 20), subscriber())
    _ = subscriber.session.setSource(slot: 0, one.key, clock: nil)
    for number in 100..<103 { pass(number, from: one, ssrc: 10, to: subscriber, key: number == 100) }
    _ = subscriber.session.setSource(slot: 0, other.key, clock: nil)
    for number in 60_000..<60_003 {
      pass(number, from: other, ssrc: 20, to: subscriber, key: number == 60_000)
    }
    let numbers = subscriber.got.map(\.header.sequence)
    #expect(numbers == (0..<6).map { numbers[0] &+ $0 })
    #expect(Set(subscriber.got.map(\.header.ssrc)) == [7_000])
  }

  @Test func `reports speak of what came and of what went, and quality is measured by them`() {
    let (source, subscriber) = (publisher(1, ssrc: 10), subscriber())
    let clock = ClockMapping(timestamp: 0, ntp: epoch.ntp(at: start), rate: 90_000, isReported: true)
    _ = subscriber.session.setSource(slot: 0, source.key, clock: clock)
    for number in 100..<105 { pass(number, from: source, ssrc: 10, to: subscriber, key: number == 100) }
    #expect(source.poll(milliseconds(1_100)).starts(with: [.receiverReport]))
    #expect(subscriber.poll(milliseconds(1_100)).starts(with: [.senderReport, .sourceDescription]))
    #expect(subscriber.context.effects.qualityMeasured)
    subscriber.hear(at: milliseconds(1_200)) { writer in
      writer.append(ReceiverReport(ssrc: 50))
      _ = writer.append(
        ReportBlock(
          ssrc: 7_000, fractionLost: 128, cumulativeLost: 2, highestSequence: 4, jitter: 0,
          lastSenderReport: 0, delaySinceLastSenderReport: 0))
    }
    _ = subscriber.poll(milliseconds(2_200))
    #expect(subscriber.session.loss > 0)
  }

  @Test func `streams that come to be tracks', or are no more, are named in order`() {
    let source = publisher(1, ssrc: 10)
    source.context.streamChanges = []
    var random = RandomSource.seeded(state: 1)
    _ = source.session.apply(
      AgreedMedia(receive: [section(.video, ssrc: 30, rtxSSRC: 31)]), random: &random,
      context: &source.context)
    #expect(source.context.streamChanges.prefix(2).map(\.ssrc) == [30, 31])
    #expect(source.context.streamChanges.prefix(2).allSatisfy { $0.isMapped })
    #expect(Set(source.context.streamChanges.dropFirst(2).map(\.ssrc)) == [10, 11])
    #expect(source.context.streamChanges.dropFirst(2).allSatisfy { !$0.isMapped })
  }

  @Test func `a session goes on from its bytes, and refuses versions that it doesn't know`() throws {
    let (source, subscriber) = (publisher(1, ssrc: 10), subscriber())
    _ = subscriber.session.setSource(slot: 0, source.key, clock: nil)
    for number in 100..<105 { pass(number, from: source, ssrc: 10, to: subscriber, key: number == 100) }
    for person in [source, subscriber] {
      var writer = StateWriter()
      person.session.encode(into: &writer)
      var changes: [StreamChange] = []
      var reader = StateReader(writer.bytes)
      person.session = try MediaSession.decode(&reader, changes: &changes)
      var again = StateWriter()
      person.session.encode(into: &again)
      #expect(again.bytes == writer.bytes)
      #expect(changes.count == (person === source ? 2 : 0))
      do throws(StateError) {
        var unknown = StateReader([99] + writer.bytes.dropFirst())
        _ = try MediaSession.decode(&unknown, changes: &changes)
        #expect(Bool(false), "version 99 is none")
      } catch {
        #expect(error == .version(99, of: "media session", known: 1...3, offset: 0))
      }
    }
    #expect(pass(105, from: source, ssrc: 10, to: subscriber))
    let numbers = subscriber.got.map(\.header.sequence)
    #expect(numbers == (0..<6).map { numbers[0] &+ $0 })
  }
}
