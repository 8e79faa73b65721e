internal import Model
internal import SyntheticPeers

/// Sound on its way to one slot, packet by packet: how long each stayed in the server, whether it left, and what became of it.
struct SoundAudit {
  struct Packet {
    var track: TrackName
    /// Its number in the track.
    var number: Int
    /// At the server, so that the server had to take it; `.never`: before it was due.
    var arrivedAt: Instant
    var leftAt: Instant
    var isLost = false
    /// At the path's far end; nil: never.
    var cameAt: Instant?
  }

  /// In the order in which they left.
  var packets: [Packet] = []

  /// Sound leaves at once: a turn of the server's and the crossing to another worker take no longer.
  static let longestInside = Duration.milliseconds(20)

  /// Those that stayed in the server for longer.
  var held: [Packet] {
    packets.filter { $0.arrivedAt != .never && $0.leftAt - $0.arrivedAt > Self.longestInside }
  }

  /// Packets of a source that arrived between two that left one behind the other, and did not leave.
  /// - Parameters:
  ///   - arrival: when a packet of a track came to the server; nil or `.never`: not in time to be taken.
  ///   - isFedOn: whether the slot had the same source all the while.
  func withheld(
    arrival: (TrackName, Int) -> Instant?, isFedOn: (Instant, Instant) -> Bool
  ) -> [(track: TrackName, number: Int)] {
    var found: [(track: TrackName, number: Int)] = []
    for (before, next) in zip(packets, packets.dropFirst()) {
      guard before.track == next.track, next.number > before.number + 1,
        next.number - before.number < Self.farApart, isFedOn(before.leftAt, next.leftAt)
      else { continue }
      for number in before.number + 1..<next.number {
        guard let arrived = arrival(before.track, number), arrived > before.arrivedAt,
          arrived < next.arrivedAt
        else { continue }
        found.append((before.track, number))
      }
    }
    return found
  }
  /// The source has begun elsewhere.
  private static let farApart = 1_000

  /// Spans in which nothing came to the far end, of a slot that had the same source all the while.
  func silences(
    over longest: Duration, isFedOn: (Instant, Instant) -> Bool
  ) -> [(from: Instant, until: Instant)] {
    let came = packets.compactMap { packet in
      packet.cameAt.map { (leftAt: packet.leftAt, cameAt: $0) }
    }.sorted { $0.cameAt < $1.cameAt }
    var found: [(from: Instant, until: Instant)] = []
    for (before, next) in zip(came, came.dropFirst())
    where next.cameAt - before.cameAt > longest && isFedOn(before.leftAt, next.leftAt) {
      found.append((before.cameAt, next.cameAt))
    }
    return found
  }
}

/// What became of all sound on one path, by spans of two seconds.
struct SoundTally {
  struct Span {
    var sent = 0
    var lost = 0
    /// Waited before the path for longer than `longestWait`.
    var late = 0

    /// More was lost than the path loses by itself, and chance with it.
    func losesTooMany(_ loss: Double) -> Bool {
      let mean = Double(sent) * loss
      return Double(lost) > mean + 3 * (mean * (1 - loss)).squareRoot() + 2
    }

    /// More than a packet in twenty waited for long: the 95th percentile of a path's queue stays below that.
    var waitsTooLong: Bool { late * 20 > sent }
  }

  /// Nanoseconds.
  static let length: Int64 = 2_000_000_000
  static let longestWait = Duration.milliseconds(100)
  /// With fewer packets nothing is judged.
  static let least = 20

  /// By the number of the span.
  private(set) var spans: [Int64: Span] = [:]

  static func begin(_ span: Int64) -> Instant { Instant(nanoseconds: span * length) }

  /// - Parameter delay: of the path without a queue.
  mutating func add(_ packets: [SoundAudit.Packet], delay: Duration) {
    for packet in packets {
      let place = packet.leftAt.nanoseconds / Self.length
      spans[place, default: Span()].sent += 1
      if packet.isLost { spans[place, default: Span()].lost += 1 }
      if let cameAt = packet.cameAt, cameAt - packet.leftAt > delay + Self.longestWait {
        spans[place, default: Span()].late += 1
      }
    }
  }
}
