import Model
import Testing

@testable import Congestion

/// A path that loses nothing for seconds, and whose receiver estimates by itself and says so by REMB, as libwebrtc's does: 0.85 of what
/// came where a queue grows, more and more where none does.
@Suite("A remote's own estimate before a deep buffer", .timeLimit(.minutes(1)))
struct DeepBufferTests {
  /// A tenth of a second at a time.
  private struct Path {
    static let step = 0.1
    let capacity: Double
    /// Seconds of delay that fit into the buffer.
    let depth = 3.0
    /// Bits that wait.
    private(set) var queue = 0.0
    private(set) var delay = 0.0
    /// Of the last step, in bits per second.
    private(set) var arriving = 0.0
    private(set) var lost = 0.0

    init(capacity: Double) { self.capacity = capacity }

    mutating func carry(_ rate: Double) {
      let waiting = queue + rate * Self.step
      let carried = min(waiting, capacity * Self.step)
      queue = min(waiting - carried, capacity * depth)
      lost = waiting - carried - queue
      arriving = carried / Self.step
      delay = queue / capacity
    }
  }

  private struct Receiver {
    private var known = 300_000.0
    private var delays = (now: 0.0, before: 0.0)
    private var saidAt = -1.0
    private var cutAt = -1.0
    /// Smoothed, as what came within a second.
    private var incoming = 0.0

    /// - Returns: an estimate, each second and at each cut.
    mutating func take(_ path: Path, at time: Double) -> Double? {
      incoming += (path.arriving - incoming) * 0.2
      delays = (path.delay, delays.now)
      let growth = (delays.now - delays.before) / Path.step
      if growth > 0.01, delays.now > 0.02 {
        guard time - cutAt >= 0.3 else { return nil }
        (known, cutAt, saidAt) = (0.85 * incoming, time, time)
        return known
      }
      // While a queue drains it holds.
      if growth >= 0 { known = min(known * (1 + 0.08 * Path.step), 1.5 * incoming + 10_000) }
      guard time - saidAt >= 1 else { return nil }
      saidAt = time
      return known
    }
  }

  @Test(arguments: [150_000, 300_000, 1_000_000, 5_000_000], [1.02, 1.06, 1.1, 1.3, 3])
  func `no queue stands in it, and it is used`(capacity: Double, excess: Double) {
    let wanted = capacity * excess
    var (path, receiver, rate) = (Path(capacity: capacity), Receiver(), ReportedRate())
    var (sent, carried, lost, packets) = (0.0, 0.0, 0.0, 0.0)
    var delays: [Double] = []
    for tick in 1...1_200 {
      let time = Double(tick) * Path.step
      let now = Instant(nanoseconds: Int64(time * 1e9))
      let sending = min(rate.target(now: now) ?? wanted, wanted)
      path.carry(sending)
      sent += sending * Path.step
      packets += sending * Path.step / 8 / 1_200
      lost += path.lost / 8 / 1_200
      if tick > 200 {
        carried += path.arriving * Path.step
        delays.append(path.delay)
      }
      if let estimate = receiver.take(path, at: time) { rate.take(estimate: UInt64(estimate), now: now) }
      guard tick.isMultiple(of: 10) else { continue }
      rate.take(packets: packets, lost: lost, now: now)
      (packets, lost) = (0, 0)
      let trip = Duration.nanoseconds(Int64((path.delay + 0.05) * 1e9))
      rate.weigh(sent: UInt64(sent / 8), roundTrip: trip, now: now)
    }
    delays.sort()
    let (median, high) = (delays[delays.count / 2], delays[delays.count * 95 / 100])
    print(
      "figure: \(Int(capacity / 1_000)) kbit/s, \(excess) times as much wanted: used \(carried / 100 / capacity), delay \(median) s, p95 \(high) s"
    )
    #expect(high < 0.5 && median < 0.1)
    #expect(carried / 100 > capacity * 0.8)
  }
}
