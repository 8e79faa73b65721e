import Congestion
import Model
import Testing
import Wire

/// One message as its reader sees it.
struct Message {
  var entries: [TransportFeedback.Entry] = []
  var base: UInt16 = 0
  var feedbackCount: UInt8 = 0
  var size = 0

  /// The numbers reported as received, with their times in ticks.
  var received: [UInt16: UInt32] {
    Dictionary(uniqueKeysWithValues: entries.filter(\.received).map { ($0.sequence, $0.arrival) })
  }
}

/// All messages that are due, each read back by the parser.
func flush(_ feedback: inout ArrivalFeedback, now: Instant, capacity: Int = 1_500) throws -> [Message] {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
  defer { buffer.deallocate() }
  var messages: [Message] = []
  while let size = feedback.write(into: buffer, senderSSRC: 1, mediaSSRC: 2, now: now) {
    var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
    let packet = try reader.next()
    let parsed = try TransportFeedback(try #require(packet))
    let next = try reader.next()
    #expect(next == nil)
    #expect(parsed.sources == FeedbackSources(sender: 1, media: 2))
    var message = Message(base: parsed.baseSequence, feedbackCount: parsed.feedbackCount, size: size)
    var entries = parsed.entries
    while let entry = entries.next() { message.entries.append(entry) }
    messages.append(message)
    try #require(messages.count <= 10_000)
  }
  return messages
}

@Suite("Arrival feedback", .timeLimit(.minutes(2)))
struct ArrivalFeedbackTests {
  func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `nothing is due before the interval has passed since the first arrival`() throws {
    var feedback = ArrivalFeedback()
    #expect(feedback.deadline == .never)
    #expect(try flush(&feedback, now: at(1_000_000)).isEmpty)
    feedback.received(sequence: 7, at: at(1_000))
    feedback.received(sequence: 8, at: at(1_030))
    #expect(feedback.deadline == at(1_050))
    #expect(try flush(&feedback, now: at(1_049)).isEmpty)
    let messages = try flush(&feedback, now: at(1_050))
    #expect(messages.count == 1)
    #expect(messages.first?.received == [7: 4_000, 8: 4_120])
    #expect(feedback.deadline == .never)
  }

  @Test func `many waiting arrivals are due at once`() {
    var feedback = ArrivalFeedback()
    for sequence in 0..<ArrivalFeedback.prompt - 1 {
      feedback.received(sequence: UInt16(sequence), at: at(10))
    }
    #expect(feedback.deadline == at(60))
    feedback.received(sequence: UInt16(ArrivalFeedback.prompt), at: at(11))
    #expect(feedback.deadline == at(11))
  }

  @Test func `what was lost between two messages is reported in the second`() throws {
    var feedback = ArrivalFeedback()
    feedback.received(sequence: 65_534, at: at(0))
    _ = try flush(&feedback, now: at(50))
    feedback.received(sequence: 2, at: at(60))
    let messages = try flush(&feedback, now: at(110))
    #expect(messages.count == 1)
    #expect(messages.first?.entries.map(\.sequence) == [65_535, 0, 1, 2])
    #expect(messages.first?.entries.map(\.received) == [false, false, false, true])
    #expect(messages.first?.feedbackCount == 1)
  }

  @Test func `a packet that comes late is reported alone, its neighbours not again`() throws {
    var feedback = ArrivalFeedback()
    for sequence in [10, 12, 13] as [UInt16] { feedback.received(sequence: sequence, at: at(0)) }
    _ = try flush(&feedback, now: at(50))
    feedback.received(sequence: 14, at: at(60))
    feedback.received(sequence: 11, at: at(61))
    let messages = try flush(&feedback, now: at(110))
    #expect(messages.map { $0.entries.map(\.sequence) } == [[11], [14]])
    #expect(messages.allSatisfy { $0.entries.allSatisfy(\.received) })
  }

  @Test func `a number that comes twice is counted and reported once`() throws {
    var feedback = ArrivalFeedback()
    feedback.received(sequence: 1, at: at(0))
    feedback.received(sequence: 1, at: at(1))
    #expect(try flush(&feedback, now: at(50)).first?.received == [1: 0])
    feedback.received(sequence: 1, at: at(60))
    #expect(try flush(&feedback, now: at(200)).isEmpty)
    #expect(feedback.duplicates == 2)
  }

  @Test func `arrivals more than eight seconds apart go into two messages`() throws {
    var feedback = ArrivalFeedback()
    feedback.received(sequence: 1, at: at(0))
    feedback.received(sequence: 2, at: at(8_191))
    feedback.received(sequence: 3, at: at(16_384))
    let messages = try flush(&feedback, now: at(20_000))
    #expect(messages.map(\.received) == [[1: 0, 2: 32_764], [3: 65_536]])
  }

  @Test func `an arrival before its predecessor's has a negative delta`() throws {
    var feedback = ArrivalFeedback()
    feedback.received(sequence: 2, at: at(1_000))
    feedback.received(sequence: 1, at: at(1_040))
    let messages = try flush(&feedback, now: at(1_050))
    #expect(messages.count == 1)
    #expect(messages.first?.received == [1: 4_160, 2: 4_000])
  }

  @Test func `the clock of the wire wraps after twelve days`() throws {
    var feedback = ArrivalFeedback()
    let wrap = Int64(1) << 32
    let start = Instant(nanoseconds: wrap * TransportFeedback.tick)
    feedback.received(sequence: 1, at: start.advanced(byNanoseconds: -TransportFeedback.tick))
    feedback.received(sequence: 2, at: start)
    let messages = try flush(&feedback, now: start + .seconds(1))
    #expect(messages.map(\.received) == [[1: .max, 2: 0]])
  }

  @Test func `no message is larger than 1,200 bytes and the split loses nothing`() throws {
    var feedback = ArrivalFeedback()
    for index in 0..<ArrivalFeedback.capacity {
      // Deltas of 100 ms take two bytes each.
      feedback.received(sequence: UInt16(truncatingIfNeeded: 65_000 + index), at: at(Int64(index) * 100))
    }
    let messages = try flush(&feedback, now: at(200_000))
    #expect(messages.count == 2)
    #expect(messages.allSatisfy { $0.size <= 1_200 })
    #expect(messages.flatMap { $0.received.keys }.count == ArrivalFeedback.capacity)
  }

  @Test func `the smallest buffer still makes progress`() throws {
    var feedback = ArrivalFeedback()
    feedback.received(sequence: 0, at: at(0))
    _ = try flush(&feedback, now: at(50))
    for sequence in [4_000, 4_001, 4_003] as [UInt16] { feedback.received(sequence: sequence, at: at(60)) }
    #expect(try flush(&feedback, now: at(200), capacity: 19).isEmpty)
    let messages = try flush(&feedback, now: at(200), capacity: 40)
    #expect(messages.flatMap { $0.received.keys }.sorted() == [4_000, 4_001, 4_003])
    #expect(messages.first?.entries.count(where: { !$0.received }) == 4_000)
  }

  @Test func `beyond its capacity the newest arrivals are left out and counted`() throws {
    var feedback = ArrivalFeedback()
    for index in 0..<ArrivalFeedback.capacity + 5 { feedback.received(sequence: UInt16(index), at: at(0)) }
    #expect(feedback.overflows == 5)
    #expect(feedback.pendingCount == ArrivalFeedback.capacity)
    let messages = try flush(&feedback, now: at(50))
    #expect(messages.flatMap { $0.received.keys }.count == ArrivalFeedback.capacity)
  }

  @Test(arguments: [32_767, 32_768, 32_769, 40_000, 5_000, 60_000] as [UInt16])
  func `a sender that jumps is followed, and what waited is still reported`(jump: UInt16) throws {
    var feedback = ArrivalFeedback()
    for index in 0..<10 as Range<UInt16> { feedback.received(sequence: 100 &+ index, at: at(Int64(index))) }
    for index in 0..<10 as Range<UInt16> { feedback.received(sequence: 100 &+ jump &+ index, at: at(20)) }
    let messages = try flush(&feedback, now: at(100))
    let wanted = (0..<10).flatMap { [100 &+ $0, 100 &+ jump &+ $0] as [UInt16] }.sorted()
    #expect(messages.flatMap { $0.received.keys }.sorted() == wanted)
    // The jump itself is no loss.
    #expect(messages.allSatisfy { $0.entries.allSatisfy(\.received) })

    // Losses after the jump are reported as ever.
    feedback.received(sequence: 100 &+ jump &+ 12, at: at(120))
    let later = try flush(&feedback, now: at(200))
    #expect(later.map { $0.entries.count(where: { !$0.received }) } == [2])
  }

  @Test func `numbers that jump about at every packet neither trap nor go unreported`() throws {
    var random = RandomSource.seeded(state: 5)
    var feedback = ArrivalFeedback()
    var reported: Set<UInt16> = []
    for round in 1...40 as ClosedRange<Int64> {
      var sent: Set<UInt16> = []
      for _ in 0..<300 {
        let sequence = UInt16.random(in: 0...65_535, using: &random)
        feedback.received(sequence: sequence, at: at(round * 50 - 50))
        sent.insert(sequence)
      }
      // A number that the window remembers is not reported again, but it was before.
      let now = try flush(&feedback, now: at(round * 50)).flatMap { $0.received.keys }
      #expect(sent.isSuperset(of: now))
      reported.formUnion(now)
      #expect(reported.isSuperset(of: sent))
    }
    #expect(feedback.overflows == 0)
  }

  /// A road on which packets are lost, overtake each other and come twice.
  @Test(arguments: 0..<12 as Range<UInt64>)
  func `every packet is reported exactly once, with its time, through loss and reordering`(seed: UInt64)
    throws
  {
    var random = RandomSource.seeded(state: seed)
    var feedback = ArrivalFeedback()
    let count = 8_000
    let lossPercent = Int.random(in: 0...30, using: &random)
    let maximumDelay = [0, 5, 80, 400][Int(seed % 4)]
    // Starting near the wrap.
    let start = UInt16.random(in: 60_000...65_535, using: &random)
    var arrivals: [(time: Int64, sequence: UInt16)] = []
    for index in 0..<count where Int.random(in: 0..<100, using: &random) >= lossPercent {
      let sent = Int64(index) * 2_000_000
      let copies = Int.random(in: 0..<50, using: &random) == 0 ? 2 : 1
      for _ in 0..<copies {
        let delay = Int64.random(in: 0...Int64(maximumDelay) * 1_000_000 + 1_000, using: &random)
        arrivals.append((sent + delay, start &+ UInt16(index)))
      }
    }
    arrivals.sort { $0.time < $1.time }

    var wanted: [UInt16: UInt32] = [:]
    var reported: [UInt16: UInt32] = [:]
    var reportedLost: Set<UInt16> = []
    var nextCount: UInt8 = 0
    var messageCount = 0
    var twice = 0
    let take = { (messages: [Message]) in
      for message in messages {
        #expect(message.feedbackCount == nextCount)
        nextCount &+= 1
        messageCount += 1
        for entry in message.entries {
          if entry.received {
            if reported.updateValue(entry.arrival, forKey: entry.sequence) != nil { twice += 1 }
          } else {
            // No packet that was reported is called lost afterwards.
            if reported[entry.sequence] != nil { twice += 1 }
            reportedLost.insert(entry.sequence)
          }
        }
      }
    }
    for (index, arrival) in arrivals.enumerated() {
      while feedback.deadline.nanoseconds <= arrival.time {
        take(try flush(&feedback, now: feedback.deadline))
      }
      feedback.received(sequence: arrival.sequence, at: Instant(nanoseconds: arrival.time))
      if wanted[arrival.sequence] == nil { wanted[arrival.sequence] = UInt32(arrival.time / 250_000) }
      // A move to another worker, in the middle of everything.
      if index % 997 == 0 { feedback = try rebuilt(feedback) }
    }
    take(try flush(&feedback, now: at(1_000_000)))

    #expect(twice == 0)
    #expect(reported == wanted)
    #expect(feedback.overflows == 0)
    #expect(feedback.duplicates == UInt64(arrivals.count - wanted.count))
    // A packet that never came was reported so, between the first and the last that did.
    let seen = (0..<count).map { start &+ UInt16($0) }.drop { wanted[$0] == nil }.reversed().drop {
      wanted[$0] == nil
    }
    #expect(seen.allSatisfy { wanted[$0] != nil || reportedLost.contains($0) })
    if maximumDelay == 0 { #expect(messageCount <= count * 2 / 50 + 1) }
  }

  func rebuilt(_ feedback: borrowing ArrivalFeedback) throws -> ArrivalFeedback {
    var writer = StateWriter()
    feedback.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    let copy = try ArrivalFeedback(from: &reader)
    try reader.finish()
    return copy
  }

  @Test func `state cut anywhere or of another version is refused`() throws {
    var feedback = ArrivalFeedback()
    for sequence in [5, 9, 7] as [UInt16] { feedback.received(sequence: sequence, at: at(3)) }
    var writer = StateWriter()
    feedback.encode(into: &writer)
    let bytes = writer.bytes
    for size in 0..<bytes.count {
      var reader = StateReader(Array(bytes[..<size]))
      #expect(throws: StateError.self) { _ = try ArrivalFeedback(from: &reader) }
    }
    var other = bytes
    other[0] = 2
    var reader = StateReader(other)
    #expect(throws: StateError.version(2, of: "arrival feedback", known: 1...1, offset: 0)) {
      _ = try ArrivalFeedback(from: &reader)
    }
  }

  @Test func `arrivals out of order are no state of ours`() throws {
    var feedback = ArrivalFeedback()
    for sequence in [5, 9] as [UInt16] { feedback.received(sequence: sequence, at: at(3)) }
    var writer = StateWriter()
    feedback.encode(into: &writer)
    var bytes = writer.bytes
    // The first of the two arrivals, of twelve bytes each, takes the second's number.
    bytes[bytes.count - 24] = 9
    var reader = StateReader(bytes)
    #expect(throws: StateError.invalid(field: "order of arrivals", offset: bytes.count - 12)) {
      _ = try ArrivalFeedback(from: &reader)
    }
  }
}
