import Congestion
import Model
import Testing
import Wire

@Suite("Arrivals by stream, RFC 8888", .timeLimit(.minutes(2)))
struct StreamFeedbackTests {
  private struct Said: Hashable {
    var ssrc: UInt32
    var sequence: UInt16
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Everything that is due: what arrived with its offset, and what is missing.
  private func flush(
    _ feedback: inout StreamFeedback, now: Instant
  ) throws -> (received: [(Said, UInt16?)], missing: [Said], messages: Int) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 1)
    defer { buffer.deallocate() }
    var received: [(Said, UInt16?)] = []
    var missing: [Said] = []
    var messages = 0
    while let size = feedback.write(into: buffer, senderSSRC: 1, timestamp: 77, now: now) {
      #expect(size <= StreamFeedback.maximumSize)
      var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
      let packet = try reader.next()
      let message = try CongestionFeedback(try #require(packet))
      #expect(message.timestamp == 77)
      var streams = message.streams
      while let stream = streams.next() {
        for index in 0..<stream.count {
          let said = Said(ssrc: stream.ssrc, sequence: stream.begin &+ UInt16(index))
          let report = try #require(stream[index])
          if report.isReceived { received.append((said, report.offset)) } else { missing.append(said) }
        }
      }
      messages += 1
      try #require(messages < 10_000)
    }
    return (received, missing, messages)
  }

  @Test func `nothing is due before the interval has passed since the first arrival`() throws {
    var feedback = StreamFeedback()
    #expect(feedback.deadline == .never)
    feedback.received(ssrc: 7, sequence: 65_535, at: at(100))
    feedback.received(ssrc: 8, sequence: 3, at: at(110))
    feedback.received(ssrc: 7, sequence: 1, at: at(120))
    #expect(feedback.deadline == at(150))
    #expect(try flush(&feedback, now: at(149)).messages == 0)
    let said = try flush(&feedback, now: at(150))
    #expect(said.received.map(\.0.ssrc) == [7, 7, 8])
    #expect(said.received.map(\.0.sequence) == [65_535, 1, 3])
    // 50, 30 and 40 ms before.
    #expect(said.received.map(\.1) == [51, 30, 40])
    #expect(said.missing == [Said(ssrc: 7, sequence: 0)])
    #expect(feedback.deadline == .never)
  }

  @Test func `what is missing between two messages is in the second, and what comes late is said then`()
    throws
  {
    var feedback = StreamFeedback()
    feedback.received(ssrc: 7, sequence: 10, at: at(0))
    _ = try flush(&feedback, now: at(50))
    feedback.received(ssrc: 7, sequence: 13, at: at(60))
    #expect(try flush(&feedback, now: at(110)).missing.map(\.sequence) == [11, 12])
    feedback.received(ssrc: 7, sequence: 11, at: at(120))
    feedback.received(ssrc: 7, sequence: 15, at: at(121))
    let said = try flush(&feedback, now: at(170))
    #expect(said.received.map(\.0.sequence) == [11, 15])
    #expect(said.missing.map(\.sequence) == [14])
    feedback.received(ssrc: 7, sequence: 11, at: at(180))
    #expect(feedback.duplicates == 1)
    #expect(try flush(&feedback, now: at(300)).messages == 0)
  }

  @Test func `a sender that starts over has lost nothing`() throws {
    var feedback = StreamFeedback()
    feedback.received(ssrc: 7, sequence: 10, at: at(0))
    _ = try flush(&feedback, now: at(50))
    feedback.received(ssrc: 7, sequence: 30_000, at: at(60))
    let said = try flush(&feedback, now: at(110))
    #expect(said.missing.isEmpty && said.received.map(\.0.sequence) == [30_000])
  }

  @Test func `streams beyond the bound wait for one that is quiet, and arrivals beyond it are left out`()
    throws
  {
    var feedback = StreamFeedback()
    for ssrc in 0..<100 as Range<UInt32> { feedback.received(ssrc: ssrc, sequence: 1, at: at(0)) }
    #expect(feedback.pendingCount == StreamFeedback.streams && feedback.overflows == 36)
    #expect(try flush(&feedback, now: at(50)).received.count == StreamFeedback.streams)
    feedback.received(ssrc: 99, sequence: 1, at: at(60))
    #expect(feedback.overflows == 36)
    for sequence in 0..<3_000 { feedback.received(ssrc: 99, sequence: UInt16(sequence + 2), at: at(61)) }
    #expect(feedback.pendingCount == StreamFeedback.capacity)
    #expect(feedback.deadline <= at(61))
    let said = try flush(&feedback, now: at(61))
    #expect(said.received.count == StreamFeedback.capacity && said.messages == 2)
  }

  @Test func `each arrival is said once, whatever the order, and nothing that came is said to be missing`()
    throws
  {
    var random = RandomSource.seeded(state: 8_888)
    for _ in 0..<100 {
      var feedback = StreamFeedback()
      var given: Set<Said> = []
      var said: [Said] = []
      var tops: [UInt16] = (0..<5).map { _ in UInt16(truncatingIfNeeded: random.next()) }
      var now = at(0)
      for _ in 0..<400 {
        now = now + .milliseconds(Int64(random.next() % 20))
        let stream = Int(random.next() % 5)
        let steps: [UInt16] = [1, 1, 1, 2, 5, 400, 65_535, 65_500]
        tops[stream] &+= steps[Int(random.next() % 8)]
        let packet = Said(ssrc: UInt32(stream), sequence: tops[stream])
        let before = (feedback.duplicates, feedback.overflows)
        feedback.received(ssrc: packet.ssrc, sequence: packet.sequence, at: now)
        if feedback.duplicates == before.0, feedback.overflows == before.1 { given.insert(packet) }
        if random.next() % 50 == 0 {
          var writer = StateWriter()
          feedback.encode(into: &writer)
          var reader = StateReader(writer.bytes)
          feedback = try StreamFeedback(from: &reader)
        }
        guard random.next() % 6 == 0 else { continue }
        let part = try flush(&feedback, now: now)
        said += part.received.map(\.0)
        let isTrue = part.missing.allSatisfy { !given.contains($0) }
        #expect(isTrue)
      }
      said += try flush(&feedback, now: now + .seconds(1)).received.map(\.0)
      #expect(Set(said) == given)
      #expect(feedback.pendingCount == 0)
    }
  }
}

@Suite("What a path carries by RFC 8888", .timeLimit(.minutes(2)))
struct NamedPacketsTests {
  @Test func `packets are found by stream and number, through wraps, as long as they are kept`() {
    var estimator = BandwidthEstimator()
    for index in 0..<200_000 {
      let now = Instant(nanoseconds: Int64(index) * 1_000_000)
      let ssrc = UInt32(index % 3) &* 0x55AA_1234
      estimator.leave(ssrc: ssrc, sequence: UInt16(truncatingIfNeeded: index / 3), size: 1_200, now: now)
      guard index >= 60 else { continue }
      var feedback = estimator.takeFeedback(now: now)
      let back = index - 50
      estimator.note(
        ssrc: UInt32(back % 3) &* 0x55AA_1234, sequence: UInt16(truncatingIfNeeded: back / 3),
        .known(Int64(back) * 1_000_000 + 20_000_000), in: &feedback)
      let isKnown = estimator.finish(feedback)
      if !isKnown { Issue.record("packet \(back) isn't known") }
    }
    #expect(abs((estimator.arriving ?? 0) - 9_600_000) < 200_000)
    #expect(estimator.loss == 0)
  }

  @Test func `what was never sent, or long ago, is none`() {
    var estimator = BandwidthEstimator()
    var feedback = estimator.takeFeedback(now: Instant(nanoseconds: 1))
    estimator.note(ssrc: 1, sequence: 1, .known(5), in: &feedback)
    let isKnown1 = estimator.finish(feedback)
    #expect(!isKnown1)
    for index in 0..<20_000 {
      estimator.leave(ssrc: 1, sequence: UInt16(index), size: 100, now: Instant(nanoseconds: Int64(index)))
    }
    for sequence in [0, 5, 11_000, 20_000, 65_535] as [UInt16] {
      var feedback = estimator.takeFeedback(now: Instant(nanoseconds: 30_000))
      estimator.note(ssrc: 1, sequence: sequence, .known(5), in: &feedback)
      let isKnown2 = estimator.finish(feedback)
      #expect(!isKnown2, "\(sequence)")
    }
    feedback = estimator.takeFeedback(now: Instant(nanoseconds: 30_000))
    estimator.note(ssrc: 2, sequence: 19_000, .lost, in: &feedback)
    let isKnown3 = estimator.finish(feedback)
    #expect(!isKnown3)
    estimator.note(ssrc: 1, sequence: 19_000, .unknown, in: &feedback)
    let isKnown4 = estimator.finish(feedback)
    #expect(isKnown4)
  }
}
