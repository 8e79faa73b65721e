import Testing
import Wire

@Suite("Transport-wide feedback", .timeLimit(.minutes(2)))
struct TransportFeedbackTests {
  typealias Entry = TransportFeedback.Entry
  let sources = FeedbackSources(sender: 1, media: 2)

  /// A message with the given head fields and whatever follows.
  func message(base: UInt16, count: UInt16, reference: UInt32 = 0, _ rest: [UInt8]) -> [UInt8] {
    let padded = rest + Array(repeating: 0, count: (4 - rest.count % 4) % 4)
    let words = UInt8(4 + padded.count / 4)
    let big = { (value: UInt16) in [UInt8(value >> 8), UInt8(value & 255)] }
    let time = [UInt8(reference >> 16 & 255), UInt8(reference >> 8 & 255), UInt8(reference & 255)]
    return [0x8F, 205, 0, words, 0, 0, 0, 1, 0, 0, 0, 2] + big(base) + big(count) + time + [77] + padded
  }

  func read(_ bytes: [UInt8]) throws -> [Entry] {
    try first(bytes) { packet throws(RTCPError) in
      let feedback = try TransportFeedback(packet)
      #expect(feedback.sources == sources)
      var entries = feedback.entries
      var found: [Entry] = []
      while let entry = entries.next() { found.append(entry) }
      #expect(found.count == feedback.statusCount)
      return found
    }
  }

  @Test func `a run, a one-bit and a two-bit chunk are walked across the wrap`() throws {
    // 3 small, then 1 0 1 (14 symbols in all), then large, small, not received; only 20 statuses count.
    let oneBit: UInt16 = 0x8000 | 0b10_1000_0000_0000
    let twoBit: UInt16 = 0xC000 | 0b10_01_00_11_11_11_11
    let bytes = message(
      base: 65_534, count: 20, reference: 5,
      [0x20, 3, UInt8(oneBit >> 8), UInt8(oneBit & 255), UInt8(twoBit >> 8), UInt8(twoBit & 255)]
        + [1, 2, 3, 4, 5, 0xFF, 0x00, 255])
    let entries = try read(bytes)
    #expect(entries.count == 20)
    #expect(entries.map(\.sequence) == (0..<20).map { 65_534 &+ $0 })
    let received = entries.filter(\.received)
    #expect(received.map(\.sequence) == [65_534, 65_535, 0, 1, 3, 15, 16])
    #expect(received.map(\.delta) == [1, 2, 3, 4, 5, -256, 255])
    #expect(received.map(\.arrival) == [1_281, 1_283, 1_286, 1_290, 1_295, 1_039, 1_294])
  }

  @Test func `the head is read, the reference time with its sign`() throws {
    try first(message(base: 9, count: 1, reference: 0xFF_FFFE, [0x20, 1, 4])) { packet throws(RTCPError) in
      let feedback = try TransportFeedback(packet)
      #expect(feedback.baseSequence == 9)
      #expect(feedback.referenceTime == -2)
      #expect(feedback.feedbackCount == 77)
    }
  }

  @Test(
    arguments: [
      (0, [0x20, 1, 4], .noStatuses), (3, [0x20, 1, 0x20, 1], .statusesMissing(announced: 3, found: 2)),
      (2, [0, 0, 0, 0, 0, 0, 0, 0], .statusesMissing(announced: 2, found: 0)),
      (1, [0x60, 1, 0, 0], .reservedSymbol(index: 0)), (2, [0x20, 1, 0xF0, 0], .reservedSymbol(index: 1)),
      (4, [0x20, 4, 1, 1], .bodyTooShort(type: 205, needs: 22, size: 20)),
      (2, [0x40, 2, 1, 1], .bodyTooShort(type: 205, needs: 22, size: 20)),
      (65_535, [0x5F, 0xFF, 0x5F, 0xFF], .statusesMissing(announced: 65_535, found: 16_382)),
    ] as [(UInt16, [UInt8], RTCPError)])
  func `statuses and deltas that are not there are refused`(count: UInt16, rest: [UInt8], error: RTCPError) {
    #expect(throws: error) { try read(message(base: 1, count: count, rest)) }
  }

  @Test func `a reserved symbol beyond the announced statuses means nothing`() throws {
    #expect(try read(message(base: 1, count: 1, [0xD7, 0xFF, 9, 0])).map(\.delta) == [9])
    #expect(try read(message(base: 1, count: 1, [0x60, 0, 0x20, 1, 9])).map(\.delta) == [9])
  }

  /// Appends statuses (nil is lost) until the message is full.
  func write(_ deltas: [Int32?], base: UInt16 = 0, capacity: Int = 1_200) -> (bytes: [UInt8]?, taken: Int) {
    var taken = 0
    let bytes = written(capacity: capacity) { buffer in
      guard
        var writer = TransportFeedbackWriter(
          into: buffer, sources: sources, baseSequence: base, referenceTime: 3, feedbackCount: 77)
      else { return nil }
      while taken < deltas.count {
        if let delta = deltas[taken] {
          guard writer.appendReceived(delta: delta) else { break }
          taken += 1
        } else {
          let run = deltas[taken...].prefix { $0 == nil }.count
          let added = writer.appendLost(run)
          taken += added
          guard added == run else { break }
        }
      }
      return writer.finish()
    }
    return (bytes, taken)
  }

  @Test func `small deltas alone are a run, padded with a count`() {
    let (bytes, _) = write([4, 5, 6], base: 9)
    #expect(
      bytes == [0xAF, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 3, 0, 0, 3, 77, 0x20, 3, 4, 5, 6, 0, 0, 3])
  }

  @Test(arguments: [-32_769, 32_768, .max, .min] as [Int32])
  func `a delta beyond 16 bits is refused and leaves the message as it was`(delta: Int32) throws {
    let (bytes, taken) = write([1, delta])
    #expect(taken == 1)
    #expect(try read(try #require(bytes)).map(\.delta) == [1])
  }

  @Test func `the extremes of both delta sizes survive`() throws {
    let deltas: [Int32?] = [0, 255, 256, -1, 32_767, -32_768, nil, 1]
    let entries = try read(try #require(write(deltas).bytes))
    #expect(entries.map { $0.received ? Int32($0.delta) : nil } == deltas)
  }

  @Test func `a message about nothing is none`() {
    #expect(write([]).bytes == nil)
    #expect(write([1], capacity: 19).bytes == nil)
    #expect(write([1], capacity: 23).bytes == nil)
    #expect(write([1], capacity: 24).bytes?.count == 24)
  }

  @Test func `runs of any length are as short as a chunk allows`() throws {
    for length in [1, 13, 14, 15, 500, 8_191, 8_192, 20_000] {
      let (bytes, taken) = write(Array(repeating: nil, count: length) + [7])
      #expect(taken == length + 1)
      let entries = try read(try #require(bytes))
      #expect(entries.count == length + 1)
      #expect(entries.filter(\.received).map(\.sequence) == [UInt16(length)])
      #expect(try #require(bytes).count <= 32)
    }
  }

  @Test func `65,535 statuses are the most`() {
    #expect(write(Array(repeating: nil, count: 65_540)).taken == 65_535)
  }

  @Test func `what is written is what is read, for random losses, deltas and rooms`() throws {
    var random = SplitMix(state: 11)
    for round in 0..<1_500 {
      // Stretches of one kind, so that every chunk form and every change between them occurs.
      var deltas: [Int32?] = []
      while deltas.count < round % 120 {
        let kind = Int.random(in: 0..<4, using: &random)
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          switch kind {
          case 0: deltas.append(nil)
          case 1: deltas.append(.random(in: 0...255, using: &random))
          case 2: deltas.append(.random(in: -32_768...32_767, using: &random))
          default: deltas.append(Bool.random(using: &random) ? nil : .random(in: 0...300, using: &random))
          }
        }
      }
      let base = UInt16.random(in: 0...65_535, using: &random)
      let capacity = Int.random(in: 24...200, using: &random)
      let (bytes, taken) = write(deltas, base: base, capacity: capacity)
      guard let bytes else {
        #expect(taken == 0)
        continue
      }
      #expect(bytes.count <= capacity && bytes.count % 4 == 0)
      let entries = try read(bytes)
      #expect(entries.map { $0.received ? Int32($0.delta) : nil } == Array(deltas[..<taken]))
      #expect(entries.first?.sequence == base)
      if taken < deltas.count {
        // Full means that not even the smallest rest was left: a chunk and a delta of two bytes, and their word.
        #expect(bytes.count + 8 > capacity)
      }
    }
  }
}
