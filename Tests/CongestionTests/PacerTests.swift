import Model
import Testing

@testable import Congestion

@Suite("How much may leave at once", .timeLimit(.minutes(1)))
struct PacerTests {
  private static func at(_ milliseconds: Double) -> Instant {
    Instant(nanoseconds: Int64(milliseconds * 1e6))
  }

  /// Packets of 1,000 bytes that leave within a span, where always one more waits.
  private func left(_ pacer: inout Pacer, from begin: Double, to end: Double) -> Int {
    var count = 0
    for tenth in Int(begin * 10)..<Int(end * 10) {
      while pacer.mayLeave(Self.at(Double(tenth) / 10)) {
        pacer.charge(1_000)
        count += 1
      }
    }
    return count
  }

  @Test func `what waits leaves at two and a half times the target`() {
    for target in [300e3, 1e6, 8e6] {
      var pacer = Pacer()
      pacer.setTarget(target)
      let packets = left(&pacer, from: 0, to: 2_000)
      let expected = target * 2.5 * 2 / 8_000
      #expect(abs(Double(packets) - expected) <= max(2, expected * 0.02), "\(packets) of \(expected)")
    }
  }

  @Test func `nothing waits before 5 ms of that rate are spent`() {
    var pacer = Pacer()
    pacer.setTarget(16e6)
    // 40 Mbit/s: 25,000 bytes in 5 ms.
    var now = Self.at(0)
    for _ in 0..<3 {
      var bytes = 0
      while pacer.mayLeave(now) {
        pacer.charge(500)
        bytes += 500
      }
      #expect((25_000...25_500).contains(bytes))
      now = now + .seconds(1)
    }
  }

  @Test func `a target that isn't known withholds nothing, and one that is known once more begins full`() {
    var pacer = Pacer()
    for _ in 0..<10_000 {
      let may = pacer.mayLeave(Self.at(0))
      #expect(may)
      pacer.charge(1_500)
    }
    pacer.setTarget(1e6)
    let may = pacer.mayLeave(Self.at(0))
    #expect(may)
  }

  @Test func `the next may leave when what was spent has come back`() {
    var pacer = Pacer()
    pacer.setTarget(1e6)
    var now = Self.at(100)
    for _ in 0..<50 {
      while pacer.mayLeave(now) { pacer.charge(1_200) }
      let next = pacer.next(now)
      #expect(next > now && next - now < .milliseconds(10))
      now = next
      let may = pacer.mayLeave(now)
      #expect(may)
    }
  }

  @Test func `what leaves without waiting is charged, and holds back no more than three tenths of a second`()
  {
    var pacer = Pacer()
    pacer.setTarget(1e6)
    // Ten seconds of sound at 6 Mbit/s.
    for step in 0..<1_000 {
      _ = pacer.mayLeave(Self.at(Double(step) * 10))
      for _ in 0..<6 { pacer.charge(1_250) }
    }
    let end = 9_990.0
    let early = pacer.mayLeave(Self.at(end + 250))
    #expect(!early, "it is owed")
    let late = pacer.mayLeave(Self.at(end + 305))
    #expect(late)
  }
}
