internal import Model
internal import SyntheticPeers

/// Holds what a subscriber received in one slot against what publishers sent, what reached the server, and what
/// left it.
///
/// A stream consists of segments, in each of which sequence numbers, timestamps and picture ids are those of one
/// run of one source plus constants. Between segments everything goes on by one.
struct StreamAudit {
  let journal: Journal
  let subscriber: Participant
  let stream: ReceivedStream
  let departures: DepartureLog
  /// By publisher and track.
  let track: (_ publisher: Int, _ index: Int) -> PublishedTrack?
  /// Whether something kept the subscriber from being repaired between two moments.
  let isExcused: (_ from: Instant, _ until: Instant) -> Bool
  /// Whether something kept a publisher's packets from the server: a loss shows by the packet after it.
  let isCutOff: (_ publisher: Int, _ from: Instant, _ until: Instant) -> Bool
  let end: Instant

  struct Segment {
    var track: PublishedTrack
    var run: Int
    /// What is added to the source's packet number, timestamp, picture id and TL0PICIDX.
    var number: Int64
    var timestamp: UInt32
    /// Nil before the first packet that has one, and in another width.
    var pictureID: (difference: UInt16, mask: UInt16)?
    var tl0PictureIndex: UInt8?
    var frameNumber: UInt16?
    var startedAt: Instant
  }

  /// What the subscriber takes, for the comparison of packets.
  var content: ContentAudit {
    ContentAudit(section: stream.section, dialect: subscriber.peer.configuration.dialect)
  }

  var name: String { "slot \(stream.section.index) of \(subscriber.number)" }
  func complain(_ text: String) { journal.violation(end, "\(name): \(text)") }

  func run() {
    guard stream.highest != .min else { return }
    var segment: Segment?
    var last: (extended: Int64, entry: ReceivedStream.Entry)?
    for extended in stream.base...stream.highest {
      guard let entry = stream[extended] else { continue }
      guard let next = found(extended, entry) else { return }
      if let current = segment, let last {
        segment = follow(current, last, next, extended, entry)
      } else {
        if entry.isVideo { auditStart(next, after: .min / 2, extended, entry) }
        segment = next
      }
      last = (extended, entry)
    }
  }

  /// The segment that a packet alone tells of.
  /// - Returns: nil, and complained of, where it isn't what was sent.
  private func found(_ extended: Int64, _ entry: ReceivedStream.Entry) -> Segment? {
    guard let source = track(Int(entry.publisher), Int(entry.track)),
      Int(entry.packet) < source.packets.count
    else {
      complain("a packet of no known track")
      return nil
    }
    let packet = source.packets[Int(entry.packet)]
    guard packet.startsFrame == entry.startsFrame || !entry.isVideo, packet.frame == entry.frame else {
      complain("packet \(entry.packet) of \(source.name) is not what was sent")
      return nil
    }
    if let problem = content.problem(packet, entry, journal) {
      complain("packet \(entry.packet) of \(source.name) comes \(problem)")
      return nil
    }
    var next = Segment(
      track: source, run: packet.run, number: extended - Int64(entry.packet),
      timestamp: entry.timestamp &- packet.timestamp, startedAt: entry.sentAt)
    if entry.pictureMask != 0 {
      next.pictureID = ((entry.pictureID &- packet.pictureID) & entry.pictureMask, entry.pictureMask)
      next.tl0PictureIndex = entry.tl0PictureIndex &- packet.tl0PictureIndex
    }
    if !entry.descriptor.isEmpty {
      next.frameNumber = entry.frameNumber &- UInt16(truncatingIfNeeded: packet.frame)
    }
    return next
  }

  /// Holds a packet's segment against the one before it.
  /// - Returns: the segment that goes on behind it.
  private func follow(
    _ current: Segment, _ last: (extended: Int64, entry: ReceivedStream.Entry), _ found: Segment,
    _ extended: Int64, _ entry: ReceivedStream.Entry
  ) -> Segment {
    if current.track.isHostile || found.track.isHostile {
      // Of one that does as it likes nothing is expected, but that what comes after it is none the worse.
      if current.track !== found.track { auditTakeover(current, last, found, extended, entry) }
      return found
    }
    auditGap(after: last.extended, before: extended, current, found)
    guard isSame(current, found) else {
      auditJoint(current, last, found, extended, entry)
      return found
    }
    auditRetransmission(current, extended, entry)
    var next = found
    // What this packet does not say, those before it did.
    next.pictureID = next.pictureID ?? current.pictureID
    next.tl0PictureIndex = next.tl0PictureIndex ?? current.tl0PictureIndex
    next.frameNumber = next.frameNumber ?? current.frameNumber
    var drawn = next
    drawn.timestamp = current.timestamp
    if isPast(current, last.entry) || isPast(current, entry), isEqual(current, drawn) {
      auditPast(current, last, extended, entry)
      if isPast(current, entry) { next.timestamp = current.timestamp }
      next.startedAt = current.startedAt
    } else if !isEqual(current, next),
      isJoinedAgain(next.track, from: left(last), to: left((extended, entry)))
    {
      // The same source again, whose numbers happened to go on where they were.
      auditJoint(current, last, next, extended, entry)
    } else {
      auditConstants(current, next, extended)
      next.startedAt = current.startedAt
    }
    return next
  }

  func isSame(_ a: Segment, _ b: Segment) -> Bool {
    a.track === b.track && a.run == b.run && a.number == b.number
  }

  func isEqual(_ a: Segment, _ b: Segment) -> Bool {
    a.timestamp == b.timestamp && isEqual(a.pictureID, b.pictureID)
      && Self.agree(a.tl0PictureIndex, b.tl0PictureIndex) && Self.agree(a.frameNumber, b.frameNumber)
  }

  func isEqual(_ a: (difference: UInt16, mask: UInt16)?, _ b: (difference: UInt16, mask: UInt16)?)
    -> Bool
  {
    guard let a, let b, a.mask == b.mask else { return true }
    return a.difference == b.difference
  }

  /// Where only one is known there is nothing to compare.
  static func agree<T: Equatable>(_ a: T?, _ b: T?) -> Bool { a == nil || b == nil || a == b }

  /// A packet with the time at which it left first: what came may be a repair, sent long after.
  func left(_ packet: (extended: Int64, entry: ReceivedStream.Entry)) -> ReceivedStream.Entry {
    var entry = packet.entry
    entry.sentAt = departures[packet.extended]?.sentAt ?? entry.sentAt
    return entry
  }
}

extension Instant {
  var milliseconds: Int64 { nanoseconds / 1_000_000 }
  func earlier(by span: Duration) -> Instant { advanced(byNanoseconds: -span.wholeNanoseconds) }
}
