import Media
import Model
import Testing

@Suite("Asking for lost packets, RFC 4585 §6.2.1", .timeLimit(.minutes(5)))
struct NACKGeneratorTests {
  /// A generator with the time of its tests.
  struct Asking {
    var nack = NACKGenerator()
    var wished = 0
    var roundTrip = Duration.milliseconds(100)

    mutating func receive(_ sequences: Int64..., at now: Instant = start) {
      for sequence in sequences where nack.received(sequence, now: now) { wished += 1 }
    }
    mutating func due(_ now: Instant) -> [UInt16] {
      var asked: [UInt16] = []
      nack.due(now: now, roundTrip: roundTrip) { asked.append($0) }
      return asked
    }
  }

  @Test func `nothing is missing in order, nor at the beginning`() {
    var asking = Asking()
    asking.receive(70_000, 70_001, 70_002)
    #expect(asking.nack.count == 0)
    #expect(asking.nack.deadline == .never)
    #expect(asking.due(milliseconds(1_000)) == [])
  }

  @Test func `a gap is asked for after a short wait, in order`() {
    var asking = Asking()
    asking.receive(10, 12, 15)
    #expect(asking.nack.deadline == milliseconds(8))
    #expect(asking.due(milliseconds(7)) == [])
    #expect(asking.due(milliseconds(8)) == [11, 13, 14])
  }

  @Test func `what was only reordered is not asked for`() {
    var asking = Asking()
    asking.receive(10, 13, 11, 12)
    #expect(asking.nack.count == 0)
    #expect(asking.due(milliseconds(100)) == [])
  }

  @Test func `what would come too late to be taken is not asked for`() {
    var asking = Asking()
    asking.receive(10, 13, 1_010)
    #expect(asking.nack.count == 2, "the jump is too long to be asked for, what was missing before is not")
    asking.receive(1_011)
    #expect(asking.due(milliseconds(8)) == [12])
    asking.receive(1_012)
    #expect(asking.nack.count == 0 && asking.nack.deadline == .never)
    #expect(asking.due(milliseconds(500)) == [])
  }

  @Test func `it is asked for again a round trip later, not sooner`() {
    var asking = Asking()
    asking.receive(1, 3)
    #expect(asking.due(milliseconds(8)) == [2])
    #expect(asking.due(milliseconds(132)) == [])
    #expect(asking.nack.deadline == milliseconds(133))
    #expect(asking.due(milliseconds(133)) == [2])
    asking.receive(2, at: milliseconds(140))
    #expect(asking.due(milliseconds(500)) == [])
    #expect(asking.nack.deadline == .never)
  }

  @Test func `a short round trip does not make a storm`() {
    var asking = Asking()
    asking.roundTrip = .zero
    asking.receive(1, 3)
    let asked = (0..<1_000).reduce(0) { $0 + asking.due(milliseconds($1)).count }
    #expect(asked == 10)
    #expect(asking.nack.count == 0)
  }

  /// A publisher that restarts ICE, or changes its path, hears nothing for some tenths of a second.
  @Test func `on a short round trip it is asked for at once, and still after more than half a second`() {
    var asking = Asking()
    asking.roundTrip = .zero
    asking.receive(1, 3)
    let asked = (0..<1_000).filter { !asking.due(milliseconds($0)).isEmpty }
    #expect(asked.prefix(4) == [8, 28, 48, 68], "\(asked)")
    #expect(asked.last.map { $0 >= 600 } == true, "\(asked)")
    #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 <= 160 }, "\(asked)")
  }

  @Test func `after a second it is given up`() {
    var asking = Asking()
    asking.roundTrip = .milliseconds(400)
    asking.receive(1, 3)
    #expect(asking.due(milliseconds(8)) == [2])
    #expect(asking.due(milliseconds(508)) == [2])
    #expect(asking.due(milliseconds(1_008)) == [])
    #expect(asking.nack.count == 0)
    #expect(asking.nack.deadline == .never)
  }

  @Test func `numbers stand as in packets, over the wrap too`() {
    var asking = Asking()
    asking.receive(0x1_FFFD, 0x2_0001)
    #expect(asking.due(milliseconds(8)) == [65_534, 65_535, 0])
  }

  @Test func `a hole too long to ask for is given up for a key frame, what was missing before it is not`() {
    var asking = Asking()
    asking.receive(0, 2, 300)
    #expect(asking.wished == 1)
    #expect(asking.nack.count == 1)
    // What was given up comes after all; what is missing from now on is asked for.
    asking.receive(100, 302)
    #expect(asking.due(milliseconds(8)) == [1, 301])
    asking.receive(302 + 258)
    #expect(asking.wished == 2)
  }

  @Test func `a full list takes no more and asks for a key frame instead`() {
    var asking = Asking()
    asking.receive(0, 257)
    #expect(asking.nack.count == 256)
    #expect(asking.wished == 0)
    asking.receive(259)
    #expect(asking.wished == 1)
    #expect(asking.nack.count == 256)
    // One came, so there is a place again.
    asking.receive(100, 261)
    #expect(asking.wished == 1)
    #expect(asking.nack.count == 256)
  }

  @Test func `late and repeated packets that were not missing change nothing`() {
    var asking = Asking()
    asking.receive(100, 102)
    asking.receive(50, 102, 102, 101, 101)
    #expect(asking.nack.count == 0)
    asking.receive(104)
    #expect(asking.due(milliseconds(8)) == [103])
  }

  @Test func `after a restart nothing old is asked for`() {
    var asking = Asking()
    asking.receive(10, 20)
    asking.nack.reset()
    asking.receive(500_000)
    #expect(asking.due(milliseconds(100)) == [])
    asking.receive(500_002)
    #expect(asking.nack.count == 1)
  }

  @Test func `the deadline is never late, against a random stream`() throws {
    var random = RandomSource.seeded(state: 3)
    var asking = Asking()
    var sequence: Int64 = 65_000
    var missing: Set<Int64> = []
    for step in 0..<4_000 {
      let now = milliseconds(step * 5)
      let lost = Int64(random.next() % 10 == 0 ? random.next() % 6 : 0)
      for number in 0..<lost { missing.insert(sequence + 1 + number) }
      sequence += lost + 1
      asking.receive(sequence, at: now)
      if let late = missing.randomElement(using: &random), random.next() % 3 == 0 {
        missing.remove(late)
        asking.receive(late, at: now)
      }
      // As bytes and back: it goes on from there.
      var writer = StateWriter()
      asking.nack.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = asking
      copy.nack = try NACKGenerator(from: &reader)
      let early = asking.nack.deadline > now
      let asked = asking.due(now)
      #expect(asked == copy.due(now))
      if early { #expect(asked.isEmpty) }
      #expect(asking.nack.count <= missing.count)
      let wide = asked.map { number in missing.contains { UInt16(truncatingIfNeeded: $0) == number } }
      #expect(!wide.contains(false), "only what is missing is asked for")
      #expect(asking.nack.deadline > now)
    }
  }

  @Test func `more than it can hold is no state of its own`() {
    var writer = StateWriter()
    writer.write(Int64(0))
    writer.write(Instant.never)
    writer.write(UInt32(257))
    var reader = StateReader(writer.bytes)
    #expect(throws: StateError.invalid(field: "count 257 over 256", offset: 16)) {
      _ = try NACKGenerator(from: &reader)
    }
  }
}
