import Congestion
import Model
import Testing
import Wire

@testable import Media

@Suite("What a subscriber's path carries, by whichever word it gives", .timeLimit(.minutes(2)))
struct SubscriberPathTests {
  private static let start = BandwidthEstimator.start

  /// - Parameter numbers: packets have transport-wide numbers.
  private func subscriber(numbers: Bool = false, slots: Int = 1) -> Person {
    var extensions = HeaderExtensionMap()
    if numbers { extensions[.transportSequence] = 5 }
    let codec = NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true)
    var sections: [SendSection] = []
    for slot in 0..<UInt16(slots) {
      let ssrc = 7_000 + 2 * UInt32(slot)
      sections.append(
        SendSection(
          index: slot, mid: "s\(slot)", kind: .video, codecs: [codec], extensions: extensions, ssrc: ssrc,
          rtxSSRC: ssrc + 1, cname: "us", streamID: "s\(slot)"))
    }
    return Person(9, AgreedMedia(send: sections))
  }

  private func target(_ person: Person, _ moment: Int) -> Double? {
    person.session.target(now: milliseconds(moment))
  }

  private func say(_ bitrate: UInt64, for ssrcs: [UInt32] = [7_000], by person: Person, at now: Instant) {
    person.hear(at: now) { writer in
      writer.append(estimate: bitrate, for: ssrcs.span, sender: 50)
    }
  }

  /// Sends packets for a while, which the subscriber reports on once a second.
  private func pass(_ person: Person, seconds: Range<Int>, fraction: UInt8?) {
    let source = Person(1, AgreedMedia(receive: [section(.video, ssrc: 10, rtxSSRC: 11)]))
    if seconds.lowerBound == 0 { _ = person.session.setSource(slot: 0, source.key, clock: nil) }
    for second in seconds {
      for number in second * 50..<second * 50 + 50 {
        let packet = RTPPacket(
          sequence: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 1_800, ssrc: 10,
          payload: vp8(key: number == seconds.lowerBound * 50) + Array(repeating: 7, count: 900))
        if let taken = source.publish(packet.bytes, at: milliseconds(number * 20)) {
          _ = person.forward(taken.packet, taken.info)
        }
      }
      let now = milliseconds(second * 1_000 + 1_000)
      if let fraction {
        person.hear(at: now) { writer in
          writer.append(ReceiverReport(ssrc: 50))
          _ = writer.append(ReportBlock(ssrc: 7_000, fractionLost: fraction))
        }
      }
      _ = person.poll(now + .milliseconds(400))
    }
  }

  @Test func `its estimate is what may be sent, and without any nothing is withheld`() {
    let person = subscriber()
    #expect(target(person, 0) == nil)
    say(400_000, by: person, at: milliseconds(10))
    #expect(target(person, 10) == 400_000)
    #expect(person.context.counters[.rtcpUnused] == 0)
  }

  @Test func `its retransmission stream may be named, and another's stream is no word about ours`() {
    let person = subscriber()
    say(300_000, for: [1, 2, 3], by: person, at: milliseconds(10))
    say(300_000, for: [], by: person, at: milliseconds(10))
    #expect(target(person, 10) == nil)
    #expect(person.context.counters[.rtcpForeignStream] == 2)
    say(300_000, for: [1, 7_001], by: person, at: milliseconds(20))
    #expect(target(person, 20) == 300_000)
    // However many others are named before it.
    say(200_000, for: Array(1...254) + [7_000], by: person, at: milliseconds(30))
    #expect(target(person, 30) == 200_000)
  }

  @Test func `what leaves in streams that it doesn't name comes on top`() throws {
    let person = subscriber(slots: 2)
    pass(person, seconds: 0..<5, fraction: 0)
    // Some 380 kbit/s leave in the first slot.
    say(200_000, for: [7_002], by: person, at: milliseconds(5_500))
    let beside = try #require(target(person, 5_500))
    #expect((540_000..<640_000).contains(beside))
    say(200_000, for: Array(1...253) + [7_002, 7_000], by: person, at: milliseconds(5_600))
    #expect(target(person, 5_600) == 200_000)
    // What is named twice leaves once.
    say(200_000, for: [7_000, 7_000, 7_002], by: person, at: milliseconds(5_700))
    #expect(target(person, 5_700) == 200_000)
  }

  @Test func `a flood of estimates is cut off, and counted`() {
    let person = subscriber()
    for index in 0..<1_000 { say(1_000_000 + UInt64(index), by: person, at: milliseconds(index)) }
    #expect(person.context.counters[.rtcpUnused] >= 900)
    #expect(target(person, 1_000) != nil)
  }

  @Test func `with arrival times it bounds them, until it is old`() {
    let person = subscriber(numbers: true)
    #expect(target(person, 0) == Self.start)
    say(250_000, by: person, at: milliseconds(10))
    #expect(target(person, 10) == 250_000)
    say(90_000_000, by: person, at: milliseconds(2_000))
    say(90_000_000, by: person, at: milliseconds(4_000))
    #expect(target(person, 4_000) == Self.start)
    say(100_000, by: person, at: milliseconds(5_000))
    for second in 6..<12 { _ = person.poll(milliseconds(second * 1_000)) }
    #expect(target(person, 12_000) == Self.start)
  }

  @Test func `by its reports alone nothing is withheld while little is lost, and less is sent with losses`()
    throws
  {
    let person = subscriber()
    pass(person, seconds: 0..<10, fraction: 0)
    #expect(target(person, 11_000) == nil)
    pass(person, seconds: 10..<14, fraction: 128)
    let fallen = try some(person.session.target(now: milliseconds(15_000)))
    #expect(fallen <= Self.start)
  }

  @Test func `one that says nothing gets everything for some seconds, and then what the start allows`() {
    let person = subscriber()
    pass(person, seconds: 0..<7, fraction: nil)
    #expect(target(person, 7_500) == nil)
    pass(person, seconds: 7..<12, fraction: nil)
    #expect(target(person, 12_500) == Self.start)
  }

  @Test func `no probe leaves that nothing would tell the fate of`() {
    let (silent, telling) = (subscriber(), subscriber(numbers: true))
    pass(silent, seconds: 0..<3, fraction: 0)
    let none = silent.session.takeProbe(now: milliseconds(3_100))
    #expect(none == nil)
    let plan = telling.session.takeProbe(now: milliseconds(0))
    #expect(plan != nil)
  }

  @Test func `at another address nothing is known, and what is known goes on from its bytes`() throws {
    let person = subscriber()
    say(200_000, by: person, at: milliseconds(10))
    var writer = StateWriter()
    person.session.encode(into: &writer)
    var changes: [StreamChange] = []
    var reader = StateReader(writer.bytes)
    person.session = try MediaSession.decode(&reader, changes: &changes)
    #expect(target(person, 20) == 200_000)
    person.session.peerMoved()
    #expect(target(person, 20) == nil)
  }

  @Test func `at another address its word of before bounds nothing, with arrival times as well`() {
    let person = subscriber(numbers: true)
    say(250_000, by: person, at: milliseconds(10))
    #expect(target(person, 20) == 250_000)
    person.session.peerMoved()
    #expect(target(person, 20) == Self.start)
    say(300_000, by: person, at: milliseconds(30))
    #expect(target(person, 30) == 300_000, "what it says from there on counts")
  }

  @Test func `arrivals by stream are as good as transport-wide ones`() {
    let person = Person(
      9,
      AgreedMedia(send: [
        SendSection(
          index: 0, mid: "s", kind: .video,
          codecs: [NegotiatedCodec(format: .vp8, payloadType: 100, ccfb: true)],
          extensions: HeaderExtensionMap(), ssrc: 7_000, rtxSSRC: nil, cname: "us", streamID: "s")
      ]))
    let hears = person.session.hearsStreams
    #expect(hears)
    // 100 packets a second, each 20 ms on the way, reported every 50 ms; the clock of the reports wraps meanwhile.
    for step in 0..<1_000 {
      person.session.left(
        ssrc: 7_000, sequence: UInt16(truncatingIfNeeded: 65_000 + step), size: 1_200, cluster: 0,
        now: milliseconds(step * 10))
      guard step % 5 == 4 else { continue }
      let now = step * 10 + 30
      hear(person, at: now) { writer in
        guard writer.begin(ssrc: 7_000, sequence: UInt16(truncatingIfNeeded: 65_000 + step - 4)) else {
          return
        }
        for back in (0..<5).reversed() {
          let offset = UInt16((10 + back * 10) * 1_024 / 1_000)
          _ = writer.append(CongestionFeedback.Report(isReceived: true, offset: offset))
        }
      }
    }
    #expect(person.context.counters[.rtcpUnused] == 0)
    let arriving = person.session.estimator.arriving ?? 0
    #expect(abs(arriving - 960_000) < 50_000)
    #expect((target(person, 10_030) ?? 0) > Self.start)
  }

  @Test
  func `arrivals by stream that were not agreed on, or of what was never sent, are counted and no more`() {
    let (plain, numbered) = (subscriber(), subscriber(numbers: true))
    for person in [plain, numbered] {
      hear(person, at: 10) { writer in
        guard writer.begin(ssrc: 7_000, sequence: 0) else { return }
        for _ in 0..<500 { _ = writer.append(CongestionFeedback.Report(isReceived: true, offset: 1)) }
      }
      #expect(person.context.counters[.rtcpUnused] == 1)
    }
    #expect(target(plain, 20) == nil && target(numbered, 20) == Self.start)
  }

  private func hear(
    _ person: Person, at moment: Int, _ write: (inout CongestionFeedbackWriter) -> Void
  ) {
    var bytes = [UInt8](repeating: 0, count: 1_200)
    let size = bytes.withUnsafeMutableBytes { buffer -> Int in
      guard var writer = CongestionFeedbackWriter(into: buffer, sender: 50) else { return 0 }
      write(&writer)
      let time = 0xFFFF_0000 &+ UInt32(moment) &* 65_536 / 1_000
      return writer.finish(timestamp: time) ?? 0
    }
    bytes.withUnsafeBytes {
      person.session.receive(
        rtcp: UnsafeRawBufferPointer(rebasing: $0[..<size]), now: milliseconds(moment),
        context: &person.context)
    }
  }

  /// - Parameter age: milliseconds, at 1,000.
  private func past(bytes: Int, age: Int = 0) -> RecentPictures {
    RecentPictures(
      first: 5, last: 20, encoding: 0, bytes: bytes, frames: 3, keyTimestamp: 1_000, timestamp: 7_000,
      arrival: milliseconds(1_000 - age))
  }

  private func begins(_ bytes: Int, age: Int = 0, estimate: UInt64? = 400_000) -> Bool {
    let person = subscriber()
    let source = Person(1, AgreedMedia(receive: [section(.video, ssrc: 10, rtxSSRC: 11)]))
    _ = person.session.setSource(slot: 0, source.key, clock: nil)
    if let estimate { say(estimate, by: person, at: milliseconds(990)) }
    return person.session.beginWith(past(bytes: bytes, age: age), slot: 0, now: milliseconds(1_000))
  }

  @Test func `a stream begins with past pictures that its path carries within 200 ms, and with no others`() {
    #expect(begins(10_000))
    #expect(!begins(10_001))
    #expect(begins(10_000, estimate: 3_000_000))
    // Of a path that says nothing 3 Mbit/s are assumed.
    #expect(begins(75_000, estimate: nil))
    #expect(!begins(75_001, estimate: nil))
  }

  @Test func `pictures of more than 200 ms ago begin no stream`() {
    #expect(begins(1_000, age: 200))
    #expect(!begins(1_000, age: 201))
  }

  @Test func `a subscriber that asks for more waits for nothing that failed before, and for less as before`()
  {
    let person = subscriber()
    var low = PicturePreference()
    low.quality = .low
    person.session.setPicture(slot: 0, low)
    // As an allocation leaves it that has just taken a step up back.
    let ladder = [100e3, 400e3].enumerated().map {
      LayerOption(encoding: UInt8($0.offset), rate: $0.element, peak: $0.element)
    }
    var demand = SlotDemand(slot: 0, kind: .video, options: ladder)
    for (second, target) in [(0, 10e6), (1, 10e6), (2, 380e3), (3, 380e3), (4, 380e3)] {
      demand.memory =
        Allocator.allocate(target, [demand], now: milliseconds(second * 1_000)).slots[0].memory
    }
    #expect(demand.memory.shown?.encoding == 0)
    func shown() -> UInt8? {
      demand.memory = person.session.memory(ofSlot: 0)
      return Allocator.allocate(560e3, [demand], now: milliseconds(5_000)).slots[0].option?.encoding
    }
    person.session.setMemory(slot: 0, demand.memory)
    person.session.setPicture(slot: 0, low)
    #expect(shown() == 0)
    person.session.setPicture(slot: 0, PicturePreference())
    #expect(shown() == 1)
  }
}
