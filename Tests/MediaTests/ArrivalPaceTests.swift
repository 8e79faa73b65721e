import Media
import Model
import Testing

@Suite("A clock's pace by the arrival of packets", .timeLimit(.minutes(5)))
struct ArrivalPaceTests {
  /// Packets of 20 ms from a card that counts `pace` more, over a way with jitter, for some seconds.
  struct Sound {
    var rate = 48_000
    var base: UInt32 = 0xFFFF_0000
    var moment = 0
    var pace = ArrivalPace()
    var random = RandomSource.seeded(state: 4)

    mutating func send(_ milliseconds: Int, fast: Double, jitter: Int = 5, growing: Double = 0) {
      for _ in 0..<milliseconds / 20 {
        let late = Int(random.next() % UInt64(jitter + 1)) + Int(Double(moment) * growing)
        let arrival = start.advanced(byNanoseconds: Int64(moment + late) * 1_000_000)
        let count = Double(moment * rate / 1_000) * (1 + fast)
        let timestamp = base &+ UInt32(truncatingIfNeeded: Int64(count))
        let units = UInt32(truncatingIfNeeded: arrival.nanoseconds / 1_000 * Int64(rate) / 1_000_000)
        pace.note(transit: units &- timestamp, arrival: arrival, rate: UInt32(rate))
        moment += 20
      }
    }
    var fraction: Double? { pace.fraction(rate: UInt32(rate)) }
  }

  @Test(arguments: [-0.08, -0.07, -0.034, 0.03, 0.06])
  func `two seconds tell a clock that is per cents off, and four tell it well`(fast: Double) throws {
    for rate in [8_000, 48_000] {
      var sound = Sound(rate: rate)
      sound.send(1_900, fast: fast)
      #expect(sound.fraction == nil)
      sound.send(400, fast: fast)
      #expect(abs(try #require(sound.fraction) - fast) < 0.006)
      sound.send(2_000, fast: fast)
      #expect(abs(try #require(sound.fraction) - fast) < 0.003)
    }
  }

  @Test func `jitter, and a path that fills up, are no pace`() {
    for (jitter, growing) in [(40, 0.0), (5, 0.01), (1, 0.012)] {
      var sound = Sound()
      sound.send(10_000, fast: 0, jitter: jitter, growing: growing)
      #expect(sound.fraction == 0)
    }
  }

  @Test func `a change of pace is followed within the windows that are kept`() throws {
    var sound = Sound()
    sound.send(10_000, fast: 0)
    #expect(sound.fraction == 0)
    // The card counts on from where it was.
    sound.base &+= UInt32(truncatingIfNeeded: Int64(Double(sound.moment * 48) * 0.05))
    sound.send(5_000, fast: -0.05)
    #expect(abs(try #require(sound.fraction) + 0.05) < 0.003)
  }

  @Test func `after a silence or a clock that was set it is unknown again`() {
    var silent = Sound()
    silent.send(4_000, fast: -0.05)
    silent.moment += 3_000
    silent.send(1_000, fast: -0.05)
    #expect(silent.fraction == nil)
    var set = Sound()
    set.send(4_000, fast: -0.05)
    set.base &+= 480_000
    set.send(1_000, fast: -0.05)
    #expect(set.fraction == nil)
  }

  @Test func `no packet traps anything, and its state goes on identically`() throws {
    var random = RandomSource.seeded(state: 6)
    var pace = ArrivalPace()
    for step in 0..<5_000 {
      var writer = StateWriter()
      pace.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = try ArrivalPace(from: &reader)
      try reader.finish()
      let arrival = start.advanced(byNanoseconds: Int64(step) * Int64(random.next() % 400_000_000))
      let transit = step % 2 == 0 ? UInt32(truncatingIfNeeded: random.next()) : UInt32(step)
      let rate = [0, 1, 8_000, .max][step % 4] as UInt32
      pace.note(transit: transit, arrival: arrival, rate: rate)
      copy.note(transit: transit, arrival: arrival, rate: rate)
      #expect(copy.fraction(rate: 48_000) == pace.fraction(rate: 48_000))
      if let fraction = pace.fraction(rate: rate) { #expect(fraction.magnitude <= 0.15) }
    }
  }
}
