internal import Model

/// Gathers packets into groups that left together and compares each group with the one before it
/// (draft-ietf-rmcat-gcc-02 §5.2): what a group's arrivals lie further apart than its departures, a queue has grown.
struct ArrivalGroups: BitwiseCopyable {
  /// How two groups that follow each other differ, in nanoseconds.
  struct Difference: BitwiseCopyable, Equatable {
    var departure: Int64
    var arrival: Int64
    /// When the later group's last packet arrived, on the receiver's clock.
    var arrivedAt: Int64
  }

  /// Packets that leave within 5 ms are of one group: pacers send in bursts.
  private static let burst: Int64 = 5_000_000
  /// The longest burst of arrivals that counts as one group.
  private static let longestBurst: Int64 = 100_000_000
  /// A clock that stands so far from what it was is another.
  private static let jump: Int64 = 3_000_000_000
  private static let reordered = 3

  private struct Group: BitwiseCopyable {
    var firstSent: Int64 = 0
    var lastSent: Int64 = 0
    var firstArrived: Int64 = 0
    var lastArrived: Int64 = 0
    /// When feedback about it came.
    var reported: Int64 = 0
    var isEmpty = true
  }

  private var current = Group()
  private var previous = Group()
  private var reorderedInRow = 0

  init() {}

  /// Takes a packet that arrived; packets come in the order of their numbers.
  /// - Parameters:
  ///   - arrived: on the receiver's clock.
  ///   - now: when its feedback came.
  /// - Returns: the difference of the two groups before, where this packet begins another.
  mutating func take(sent: Int64, arrived: Int64, now: Instant) -> Difference? {
    guard !current.isEmpty else {
      begin(sent, arrived, now)
      return nil
    }
    // Sent before the group that is being gathered.
    guard sent >= current.firstSent else { return nil }
    var difference: Difference?
    if beginsGroup(sent, arrived) {
      if !previous.isEmpty {
        let departure = current.lastSent &- previous.lastSent
        let arrival = current.lastArrived &- previous.lastArrived
        let heard = current.reported &- previous.reported
        if arrival &- heard > Self.jump {
          self = ArrivalGroups()
          begin(sent, arrived, now)
          return nil
        }
        if arrival < 0 {
          // Groups overtook each other, or the receiver's clock went back.
          reorderedInRow += 1
          if reorderedInRow >= Self.reordered {
            self = ArrivalGroups()
            begin(sent, arrived, now)
          }
          return nil
        }
        reorderedInRow = 0
        difference = Difference(departure: departure, arrival: arrival, arrivedAt: current.lastArrived)
      }
      previous = current
      begin(sent, arrived, now)
    }
    current.lastSent = max(current.lastSent, sent)
    current.lastArrived = arrived
    current.reported = now.nanoseconds
    return difference
  }

  private mutating func begin(_ sent: Int64, _ arrived: Int64, _ now: Instant) {
    current = Group(
      firstSent: sent, lastSent: sent, firstArrived: arrived, lastArrived: arrived, reported: now.nanoseconds,
      isEmpty: false)
  }

  private func beginsGroup(_ sent: Int64, _ arrived: Int64) -> Bool {
    // Held up on the way and let go together: faster behind each other than they left.
    let arrival = arrived &- current.lastArrived
    let departure = sent &- current.lastSent
    if arrival >= 0, arrival &- departure < 0, arrival <= Self.burst,
      arrived &- current.firstArrived < Self.longestBurst
    {
      return false
    }
    return sent &- current.firstSent > Self.burst
  }
}
