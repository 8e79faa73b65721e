import Model
import Testing

@Suite("Instants, spans and wall time", .timeLimit(.minutes(2)))
struct TimeTests {
  @Test func `a span is whole nanoseconds, and saturates at both ends`() {
    #expect(Duration.nanoseconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.nanoseconds(Int64.min).wholeNanoseconds == .min)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
    let edge = 999_999_999_000_000_000 as Int64
    #expect(
      Duration(secondsComponent: 9_223_372_036, attosecondsComponent: edge).wholeNanoseconds == .max)
    #expect(
      Duration(secondsComponent: -9_223_372_036, attosecondsComponent: -edge).wholeNanoseconds == .min)
    #expect(Duration.milliseconds(-1).wholeNanoseconds == -1_000_000)
  }

  @Test func `instants are ordered and differ by spans`() {
    let start = Instant(nanoseconds: -5)
    #expect(start + .nanoseconds(7) == Instant(nanoseconds: 2))
    #expect(Instant(nanoseconds: 2) - start == .nanoseconds(7))
    #expect(start < .never)
    #expect(start.advanced(byNanoseconds: -1) < start)
  }

  @Test func `wall time has its known values`() {
    #expect(NTPTime(unixNanoseconds: 0).rawValue == 2_208_988_800 << 32)
    let half: UInt64 = 0x8000_0000
    #expect(NTPTime(unixNanoseconds: 500_000_000).rawValue == UInt64(2_208_988_800) << 32 + half)
    #expect(NTPTime(unixNanoseconds: -500_000_000).rawValue == UInt64(2_208_988_799) << 32 + half)
    #expect(NTPTime(rawValue: 0x1234_5678_9ABC_DEF0).middle == 0x5678_9ABC)
  }

  @Test func `differences of wall times are exact to a nanosecond, over the end of the era too`() {
    var random = RandomSource.seeded(state: 7)
    for _ in 0..<2_000 {
      let start = NTPTime(rawValue: random.next())
      let span = Int64.random(in: -1_000_000_000_000_000_000...1_000_000_000_000_000_000, using: &random)
      let error = start.advanced(byNanoseconds: span).nanoseconds(since: start) - span
      #expect(abs(error) <= 1)
    }
    let last = NTPTime(rawValue: .max)
    #expect(last.advanced(byNanoseconds: 2_000_000_000).nanoseconds(since: last) == 2_000_000_000)
  }

  @Test func `an epoch turns instants into wall time and back`() {
    let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_123_456_789))
    for nanoseconds: Int64 in [0, 1, 999_999_999, 86_400_000_000_000, -1_000] {
      let back = epoch.instant(at: epoch.ntp(at: Instant(nanoseconds: nanoseconds)))
      #expect(abs(back.nanoseconds - nanoseconds) <= 1)
    }
  }
}
