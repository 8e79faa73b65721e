public import Model

/// Which packets of one received stream are missing, and when to ask for them (RFC 4585 §6.2.1).
///
///     gap seen ──after a short wait──▶ asked ──a round trip without it──▶ asked again … ──▶ given up
///
/// A gap too long to ask for is given up at once: a key frame is the better answer.
public struct NACKGenerator: Sendable {
  /// The most packets that are waited for.
  public static let capacity = 256
  /// Reordering on real networks is mostly shorter than this.
  static let reorderingWait = Duration.milliseconds(8)
  static let giveUpAfter = Duration.seconds(1)
  static let tries = 10

  private struct Missing: BitwiseCopyable {
    var sequence: Int64 = 0
    var since = Instant(nanoseconds: 0)
    var due = Instant(nanoseconds: 0)
    var asked: UInt8 = 0
  }

  private var missing: InlineArray<256, Missing> = InlineArray(repeating: Missing())
  public private(set) var count = 0
  private var highest: Int64 = .min
  /// The earliest `due`; may be early, never late.
  public private(set) var deadline = Instant.never

  public init() {}

  /// A packet came, by whatever way.
  /// - Parameter mayBegin: false for a late packet: behind it all that has come would seem to be missing.
  /// - Returns: true when so much is missing that a key frame should be asked for instead.
  public mutating func received(_ sequence: Int64, mayBegin: Bool = true, now: Instant) -> Bool {
    guard highest != .min else {
      if mayBegin { highest = sequence }
      return false
    }
    guard sequence > highest else {
      remove(sequence)
      return false
    }
    let gap = sequence &- highest &- 1
    defer { highest = sequence }
    dropOverdue(before: sequence)
    guard gap > 0 else { return false }
    // What was missing before is still asked for; of the gap itself nothing is.
    guard gap <= Int64(Self.capacity &- count) else { return true }
    #if PLANTED_DEFECTS
      let due = PlantedDefect.isOn(.nackEarly) ? now : now + Self.reorderingWait
    #else
      let due = now + Self.reorderingWait
    #endif
    for step in 1...gap {
      missing[count] = Missing(sequence: highest &+ step, since: now, due: due)
      count &+= 1
    }
    deadline = min(deadline, due)
    return false
  }

  /// What is missing is asked for no more.
  public mutating func giveUp() {
    count = 0
    deadline = .never
  }

  /// The source started over: what was missing will never come.
  public mutating func reset() {
    count = 0
    highest = .min
    deadline = .never
  }

  /// Hands out what is to be asked for now, in order.
  /// - Parameters:
  ///   - roundTrip: how long an answer takes; asking again sooner would double the answer.
  ///   - body: gets each sequence number as it stands in packets.
  public mutating func due(now: Instant, roundTrip: Duration, _ body: (UInt16) -> Void) {
    guard now >= deadline else { return }
    let pause = max(roundTrip * 5 / 4, Self.leastPause)
    var kept = 0
    deadline = .never
    for index in 0..<count {
      var entry = missing[index]
      if now - entry.since >= Self.giveUpAfter || entry.asked >= Self.tries { continue }
      if now >= entry.due {
        body(UInt16(truncatingIfNeeded: entry.sequence))
        entry.asked &+= 1
        entry.due = now + Self.pause(pause, behind: entry.asked)
      }
      deadline = min(deadline, entry.due)
      missing[kept] = entry
      kept &+= 1
    }
    count = kept
  }

  /// What isn't answered soon is asked for less and less often: while a publisher changes its path, or restarts ICE, words to it are lost
  /// for some tenths of a second.
  private static func pause(_ least: Duration, behind asked: UInt8) -> Duration {
    guard asked > quickTries, least < longestPause else { return least }
    return min(least * (1 << Int(min(asked - quickTries, 8))), longestPause)
  }
  private static let leastPause = Duration.milliseconds(20)
  private static let longestPause = Duration.milliseconds(160)
  private static let quickTries: UInt8 = 3

  /// What would be too late to be taken, were it to come, is asked for no more (RFC 3550 A.1, MAX_MISORDER).
  private mutating func dropOverdue(before sequence: Int64) {
    let oldest = sequence &- ReceptionStatistics.maxMisorder
    guard count > 0, missing[0].sequence <= oldest else { return }
    var first = 1
    while first < count, missing[first].sequence <= oldest { first &+= 1 }
    for index in first..<count { missing[index &- first] = missing[index] }
    count &-= first
    if count == 0 { deadline = .never }
  }

  private mutating func remove(_ sequence: Int64) {
    var low = 0
    var high = count
    while low < high {
      let middle = (low &+ high) / 2
      if missing[middle].sequence < sequence { low = middle &+ 1 } else { high = middle }
    }
    guard low < count, missing[low].sequence == sequence else { return }
    for index in low..<count &- 1 { missing[index] = missing[index &+ 1] }
    count &-= 1
    if count == 0 { deadline = .never }
  }
}

extension NACKGenerator {
  public func encode(into writer: inout StateWriter) {
    writer.write(highest)
    writer.write(deadline)
    writer.write(UInt32(count))
    for index in 0..<count {
      writer.write(missing[index].sequence)
      writer.write(missing[index].since)
      writer.write(missing[index].due)
      writer.write(missing[index].asked)
    }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    highest = try reader.integer()
    deadline = try reader.instant()
    count = try reader.count(limit: Self.capacity)
    for index in 0..<count {
      missing[index] = Missing(
        sequence: try reader.integer(), since: try reader.instant(), due: try reader.instant(),
        asked: try reader.integer())
    }
  }
}
