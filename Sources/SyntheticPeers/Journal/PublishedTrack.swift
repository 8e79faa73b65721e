package import Model

/// One track of all.
package struct TrackName: Hashable {
  /// A participant's number.
  package var publisher: Int
  /// Of the server's `ReceiveSection`.
  package var index: Int

  package init(_ publisher: Int, _ index: Int) {
    self.publisher = publisher
    self.index = index
  }
}

/// Everything that was ever sent in one track, and what of it arrived.
package final class PublishedTrack {
  package struct Packet {
    package var sequence: UInt16
    package var timestamp: UInt32
    /// How often the source had started over.
    package var run: Int
    package var pictureID: UInt16
    package var tl0PictureIndex: UInt8
    package var frame: UInt32
    package var startsFrame: Bool
    package var isKeyFrame: Bool
    package var codec = Codec.opus
    /// The dependency descriptor as it left; empty where there was none.
    package var descriptor: [UInt8] = []
    /// `.never` for a number that was skipped.
    package var sentAt: Instant
    /// When it first reached the server so that the server had to take it.
    package var arrivedAt = Instant.never
    /// When copies of it came to the server's door, the first and the last.
    package var reachedAt = Instant.never
    package var reachedLast = Instant.never
    /// The server has seen it, and a second copy is a duplicate.
    var cameWhileHeld = false
    /// How often the server asked for it again, whether the request came or not.
    package internal(set) var requests = 0
    /// Copies, retransmissions included, that were sent and that the network lost.
    package var copies = 0
    package var lost = 0
  }

  /// The clock of one run: timestamps are `base` at the publisher's own time zero.
  package struct Run {
    package var firstPacket: Int
    package var base: UInt32
    package var ssrc: UInt32
    package var startedAt: Instant
    package var rate: UInt32
    /// It goes on with the stream, and the codec has another clock.
    package var isClockChange: Bool
  }

  package let publisher: Int
  /// The peer's number of it, and the index of the server's `ReceiveSection`.
  package let index: Int
  package let kind: MediaKind
  package let name: String
  package private(set) var packets: [Packet] = []
  package private(set) var runs: [Run] = []
  /// Requests for lost packets that the server can make (audio has none).
  package var isRepaired = false
  /// Its publisher agreed to a way of asking for key frames.
  package var takesKeyFrameRequests = false

  package init(publisher: Int, index: Int, kind: MediaKind) {
    self.publisher = publisher
    self.index = index
    self.kind = kind
    name = index < 2 ? "\(kind) of \(publisher)" : "\(kind) \(index) of \(publisher)"
  }

  var nextPacket: Int { packets.count }
  package var trackName: TrackName { TrackName(publisher, index) }

  package func startRun(
    base: UInt32, ssrc: UInt32, now: Instant, rate: UInt32 = 48_000, isClockChange: Bool = false
  ) {
    runs.append(
      Run(
        firstPacket: packets.count, base: base, ssrc: ssrc, startedAt: now, rate: rate,
        isClockChange: isClockChange))
  }

  /// When the server was asked to mute the track and to let it flow again, in turns.
  package private(set) var holds: [Instant] = []
  package var isHeld: Bool { holds.count % 2 == 1 }
  /// When its section was stopped.
  package var endedAt = Instant.never
  /// Sent by a peer that does as it likes: numbers, timestamps and contents follow no rule.
  package var isHostile = false
  /// When requests for key frames left the server, whether they came or not.
  package var keyFrameRequests: [Instant] = []
  /// When the codec changed.
  package private(set) var codecChanges: [Instant] = []

  package func noteHold(now: Instant) { holds.append(now) }
  func noteCodecChange(now: Instant) { codecChanges.append(now) }

  /// Whether it was held at some moment of a span.
  package func isHeld(from: Instant, until: Instant) -> Bool {
    stride(from: 0, to: holds.count, by: 2).contains { index in
      holds[index] <= until && (index + 1 < holds.count ? holds[index + 1] : .never) >= from
    }
  }

  package func append(_ packet: Packet) { packets.append(packet) }

  func noteSent(_ number: Int) { packets[number].copies += 1 }
  package func noteLost(_ number: Int) { packets[number].lost += 1 }
  package func noteRequest(_ number: Int) { packets[number].requests += 1 }

  package func noteReached(_ number: Int, now: Instant) {
    if packets[number].reachedAt == .never { packets[number].reachedAt = now }
    packets[number].reachedLast = now
  }

  /// - Parameter isDue: the path was validated and the keys were there: nothing excuses the server.
  package func noteArrival(_ number: Int, now: Instant, isDue: Bool) {
    if isDue, isHeld { packets[number].cameWhileHeld = true }
    if isDue, !packets[number].cameWhileHeld, packets[number].arrivedAt == .never {
      packets[number].arrivedAt = now
    }
  }
}
