internal import Model

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

  private struct Segment {
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
  private var content: ContentAudit {
    ContentAudit(section: stream.section, dialect: subscriber.peer.configuration.dialect)
  }

  private var name: String { "slot \(stream.section.index) of \(subscriber.number)" }
  private func complain(_ text: String) { journal.violation(end, "\(name): \(text)") }

  func run() {
    guard stream.highest != .min else { return }
    var segment: Segment?
    var last: (extended: Int64, entry: ReceivedStream.Entry)?
    for extended in stream.base...stream.highest {
      guard let entry = stream[extended] else { continue }
      guard let source = track(Int(entry.publisher), Int(entry.track)),
        Int(entry.packet) < source.packets.count
      else {
        complain("a packet of no known track")
        return
      }
      let packet = source.packets[Int(entry.packet)]
      guard packet.startsFrame == entry.startsFrame || !entry.isVideo, packet.frame == entry.frame else {
        complain("packet \(entry.packet) of \(source.name) is not what was sent")
        return
      }
      if let problem = content.problem(packet, entry, journal) {
        complain("packet \(entry.packet) of \(source.name) comes \(problem)")
        return
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
      if let current = segment, let last {
        auditGap(after: last.extended, before: extended, current, next)
        if isSame(current, next) {
          // What this packet does not say, those before it did.
          next.pictureID = next.pictureID ?? current.pictureID
          next.tl0PictureIndex = next.tl0PictureIndex ?? current.tl0PictureIndex
          next.frameNumber = next.frameNumber ?? current.frameNumber
          if !isEqual(current, next), isJoinedAnew(source, from: left(last), to: left((extended, entry))) {
            // The same source again, whose numbers happened to go on where they were.
            auditJoint(current, last, next, extended, entry)
            segment = next
          } else {
            auditConstants(current, next, extended)
            next.startedAt = current.startedAt
            segment = next
          }
        } else {
          auditJoint(current, last, next, extended, entry)
          segment = next
        }
      } else {
        if entry.isVideo { auditStart(next, after: .min / 2, extended, entry) }
        segment = next
      }
      last = (extended, entry)
    }
  }

  private func isSame(_ a: Segment, _ b: Segment) -> Bool {
    a.track === b.track && a.run == b.run && a.number == b.number
  }

  private func isEqual(_ a: Segment, _ b: Segment) -> Bool {
    a.timestamp == b.timestamp && isEqual(a.pictureID, b.pictureID)
      && Self.agree(a.tl0PictureIndex, b.tl0PictureIndex) && Self.agree(a.frameNumber, b.frameNumber)
  }

  private func isEqual(_ a: (difference: UInt16, mask: UInt16)?, _ b: (difference: UInt16, mask: UInt16)?)
    -> Bool
  {
    guard let a, let b, a.mask == b.mask else { return true }
    return a.difference == b.difference
  }

  /// Where only one is known there is nothing to compare.
  private static func agree<T: Equatable>(_ a: T?, _ b: T?) -> Bool { a == nil || b == nil || a == b }

  /// A packet with the time at which it left first: what came may be a repair, sent long after.
  private func left(_ packet: (extended: Int64, entry: ReceivedStream.Entry)) -> ReceivedStream.Entry {
    var entry = packet.entry
    entry.sentAt = departures[packet.extended]?.sentAt ?? entry.sentAt
    return entry
  }

  /// Whether the stream had a reason to be anchored anew between two packets of one track: its slot was assigned, the
  /// track was held, or came in a codec that the subscriber lacks.
  private func isJoinedAnew(
    _ track: PublishedTrack, from last: ReceivedStream.Entry, to next: ReceivedStream.Entry
  ) -> Bool {
    if isFedAnew(from: last, to: next) { return true }
    if track.isHeld(from: last.sentAt, until: next.sentAt) { return true }
    if isRunAhead(track, from: last, to: next) { return true }
    let span = min(last.packet, next.packet)...max(last.packet, next.packet)
    return track.packets[Int(span.lowerBound)...Int(span.upperBound)].contains { content.lacks($0.codec) }
  }

  /// So many numbers of the source in a row of which nothing is sent close up: the stream goes on behind what was sent.
  private static let runAhead = 512

  /// Whether between two packets of one track so many in a row did not reach the server that the stream was joined to
  /// the source again.
  private func isRunAhead(
    _ track: PublishedTrack, from last: ReceivedStream.Entry, to next: ReceivedStream.Entry
  ) -> Bool {
    var missing = 0
    for packet in track.packets[Int(min(last.packet, next.packet))...Int(max(last.packet, next.packet))] {
      let hasArrived = packet.arrivedAt <= next.sentAt
      missing = hasArrived ? 0 : missing + 1
      if missing >= Self.runAhead { return true }
    }
    return false
  }

  /// Whether the slot was assigned between two packets of one publisher.
  private func isFedAnew(from last: ReceivedStream.Entry, to next: ReceivedStream.Entry) -> Bool {
    subscriber.endOfFeed(stream.section.index, by: last.trackName, at: last.sentAt) <= next.sentAt
  }

  private func auditConstants(_ current: Segment, _ next: Segment, _ extended: Int64) {
    if next.timestamp != current.timestamp {
      complain("timestamps of \(current.track.name) shift at \(extended)")
    }
    guard stream.section.kind == .video else { return }
    if !isEqual(next.pictureID, current.pictureID) {
      complain("picture ids of \(current.track.name) shift at \(extended)")
    }
    if !Self.agree(next.tl0PictureIndex, current.tl0PictureIndex) {
      complain("TL0PICIDX of \(current.track.name) shifts at \(extended)")
    }
    if !Self.agree(next.frameNumber, current.frameNumber) {
      complain("frame numbers of \(current.track.name) shift at \(extended)")
    }
  }

  /// Video begins with a key frame, unless its first packet was lost for good.
  private func auditStart(
    _ segment: Segment, after last: Int64, _ extended: Int64, _ entry: ReceivedStream.Entry
  ) {
    let isLost = (max(last + 1, departures.base)..<max(extended, departures.base)).contains {
      departures[$0] != nil
    }
    if isLost { return }
    if !(entry.startsFrame && entry.isKeyFrame) {
      complain("\(segment.track.name) begins at \(extended) in the middle of things")
    }
  }

  private func auditJoint(
    _ old: Segment, _ last: (extended: Int64, entry: ReceivedStream.Entry), _ new: Segment,
    _ extended: Int64, _ entry: ReceivedStream.Entry
  ) {
    if old.track === new.track && old.run == new.run,
      !isJoinedAnew(new.track, from: left(last), to: left((extended, entry)))
    {
      complain(
        "numbers of \(old.track.name) shift by \(new.number - old.number) at \(extended), with no change of source"
      )
    }
    if entry.isVideo { auditStart(new, after: last.extended, extended, entry) }
    // A source that takes over goes on where the stream was.
    if extended > last.extended + 1,
      !((last.extended + 1)..<extended).contains(where: { departures[$0] != nil })
    {
      complain("numbers jump from \(last.extended) to \(extended), where \(new.track.name) takes over")
    }
    // Samples of the new source come as much later as they were taken later, as far as that is known.
    // The time until a change is counted by the clock before it (RFC 7160 §4.2), and where packets were lost on the
    // joint nobody can tell when that was, nor whose clocks there were in between.
    var rates = [last.entry.codec.clockRate]
    if extended > last.extended + 1 {
      rates +=
        [entry.codec.clockRate] + clockRates(from: left(last).sentAt, until: left((extended, entry)).sentAt)
    }
    let steps = Int64(Int32(bitPattern: entry.timestamp &- last.entry.timestamp))
    let spans = rates.map { steps * 1_000 / Int64($0) }
    let (least, most) = (spans.min() ?? 0, spans.max() ?? 0)
    let real = (left((extended, entry)).sentAt.nanoseconds - left(last).sentAt.nanoseconds) / 1_000_000
    if steps <= 0 { complain("timestamps go back by \(-most) ms at \(extended)") }
    if steps > 0, least > real + 2_000 || most < real - 2_000 {
      complain(
        "timestamps go \(most) ms ahead at \(extended), \(real) ms later: from \(old.track.name)'s packet \(last.entry.packet), "
          + "left at \(left(last).sentAt.milliseconds) ms, to \(new.track.name)'s \(entry.packet), "
          + "left at \(left((extended, entry)).sentAt.milliseconds) ms")
    }
    guard entry.isVideo, extended == last.extended + 1 else { return }
    if !entry.descriptor.isEmpty, !last.entry.descriptor.isEmpty,
      entry.frameNumber != last.entry.frameNumber &+ 1
    {
      complain("frame number \(entry.frameNumber) follows \(last.entry.frameNumber) at \(extended)")
    }
    guard entry.pictureMask != 0, last.entry.pictureMask != 0 else { return }
    if entry.pictureID != (last.entry.pictureID &+ 1) & entry.pictureMask {
      complain("picture id \(entry.pictureID) follows \(last.entry.pictureID) at \(extended)")
    }
    if entry.tl0PictureIndex != last.entry.tl0PictureIndex &+ 1 {
      complain("TL0PICIDX \(entry.tl0PictureIndex) follows \(last.entry.tl0PictureIndex) at \(extended)")
    }
  }

  /// Of all that anybody sent who fed the slot at some moment of a span.
  private func clockRates(from: Instant, until: Instant) -> Set<UInt32> {
    let feeding = Set(
      subscriber.feeds[stream.section.index, default: []].filter { $0.from <= until }.compactMap(\.track))
    let tracks = journal.tracks.filter { feeding.contains($0.trackName) }
    return Set(
      tracks.flatMap { track in
        track.packets.lazy.filter { from <= $0.sentAt && $0.sentAt <= until }.map { $0.codec.clockRate }
      })
  }

  // MARK: What is missing

  private func auditGap(after: Int64, before: Int64, _ old: Segment, _ new: Segment) {
    guard before - after > 1 else { return }
    for extended in (after + 1)..<before {
      if let departure = departures[extended] {
        auditLost(extended, departure, old)
      } else if isFedBetween(old, new, after, before) {
        // Somebody else was heard in between, of whom nothing came.
        continue
      } else if !explains(old, extended) && (isSame(old, new) || !explains(new, extended)),
        !isExplainedBetween(old, after, extended)
      {
        complain(missing(extended, old))
      }
    }
  }

  /// Whether the old source was joined to the stream anew behind what came last, and the number is explained by that
  /// segment, of which nothing came: the last packet that left in it tells its numbers, by what reached the server at
  /// that very moment.
  private func isExplainedBetween(_ old: Segment, _ after: Int64, _ extended: Int64) -> Bool {
    guard let last = stream[after],
      let number = ((after + 1)..<extended).last(where: { departures[$0] != nil }),
      let moment = departures[number]?.sentAt
    else { return false }
    let before = left((after, last))
    let feeds = subscriber.feeds[stream.section.index, default: []]
    let fedSince = feeds.last { $0.track == old.track.trackName && $0.from <= moment }?.from
    return old.track.packets.indices.contains { packet in
      guard old.track.packets[packet].arrivedAt == moment, old.track.packets[packet].run == old.run else {
        return false
      }
      var next = last
      next.packet = UInt32(packet)
      next.sentAt = moment
      var between = old
      between.number = number - Int64(packet)
      between.startedAt = max(before.sentAt, fedSince ?? before.sentAt)
      return isJoinedAnew(old.track, from: before, to: next) && explains(between, extended)
    }
  }

  /// Whether a third source, or an earlier run of the new one, fed the slot between two packets.
  private func isFedBetween(_ old: Segment, _ new: Segment, _ after: Int64, _ before: Int64) -> Bool {
    // A whole run of which nothing came has numbers that nobody can tell.
    if old.track === new.track, new.run > old.run + 1 { return true }
    guard let first = stream[after]?.sentAt, let last = stream[before]?.sentAt else { return false }
    // As has a later run of the old one.
    if old.track !== new.track, old.run + 1 < old.track.runs.count,
      old.track.runs[old.run + 1].startedAt < last
    {
      return true
    }
    let newRunSince = new.track.runs[new.run].startedAt
    return subscriber.feeds[stream.section.index]?.contains { feed in
      guard let track = feed.track, feed.from >= first, feed.from <= last,
        track != old.track.trackName
      else { return false }
      return track != new.track.trackName || (new.run > 0 && newRunSince > feed.from)
    } == true
  }

  /// It left the server and never came, nor did a repair.
  private func auditLost(_ extended: Int64, _ departure: DepartureLog.Entry, _ segment: Segment) {
    guard departure.lost > 0 || isExcused(departure.sentAt, departure.sentAt) else {
      // The subscriber may not have had its keys when the first packets came.
      if departure.sentAt <= subscriber.mediaReadyAt { return }
      // Nor the answer that names the stream.
      if departure.sentAt <= stream.knownSince { return }
      // Nor was it there any more when the last ones came.
      if departure.sentAt.advanced(byNanoseconds: 500_000_000) >= end { return }
      // Or it was overtaken across more numbers than libsrtp remembers.
      if departures.wasPassed(extended + 1_000, before: departure.sentAt.advanced(byNanoseconds: 500_000_000))
      {
        return
      }
      return complain("number \(extended) was delivered and is missing")
    }
    guard stream.codec.nack, extended > stream.first, !stream.isAwaited(extended),
      !stream.notAskedFor.contains(extended)
    else {
      return
    }
    let until = departure.sentAt.advanced(byNanoseconds: 2_000_000_000)
    guard until < end, !isExcused(departure.sentAt, until),
      !isCutOff(segment.track.publisher, departure.sentAt, until)
    else { return }
    let isFedOn = subscriber.feeds[stream.section.index]?.allSatisfy { feed in
      feed.from <= departure.sentAt.advanced(byNanoseconds: -500_000_000) || feed.from >= until
    }
    guard isFedOn == true else { return }
    // The numbers went on so far that the server's memory of packets, a ring by number, holds others in its place:
    // 1,024 of the source's, or 256 sealed ones for who has no retransmission stream.
    let remembered: Int64 = subscriber.peer.configuration.dialect.acceptsRTX ? 900 : 225
    if departures.wasPassed(extended + remembered, before: until) { return }
    // A source that starts over takes places in that ring from anywhere.
    let restarted = segment.track.runs.contains {
      $0.startedAt > departure.sentAt.advanced(byNanoseconds: -500_000_000) && $0.startedAt < until
    }
    if restarted { return }
    // Sealed packets are no part of a peer's state: who has no retransmission stream does without those.
    if !subscriber.peer.configuration.dialect.acceptsRTX,
      subscriber.replacedAt.contains(where: { departure.sentAt <= $0 && $0 < until })
    {
      return
    }
    complain(
      "number \(extended), sent at \(departure.sentAt.milliseconds) ms and lost, was never repaired (\(subscriber.peer.configuration.dialect.acceptsRTX ? "RTX" : "no RTX"))"
    )
  }

  /// Whether the source's packet of that number gave the server no reason to send it in this segment.
  private func explains(_ segment: Segment, _ extended: Int64) -> Bool {
    let number = Int(extended - segment.number)
    guard number >= 0, number < segment.track.packets.count else { return false }
    let packet = segment.track.packets[number]
    guard packet.run == segment.run else { return false }
    if packet.arrivedAt == .never || packet.arrivedAt <= segment.startedAt || packet.arrivedAt >= end {
      return true
    }
    if content.lacks(packet.codec) { return true }
    // It came after the stream had been given up for a while: held, or in a codec that the subscriber lacks.
    if segment.track.isHeld(from: packet.sentAt, until: packet.arrivedAt) { return true }
    let isLacking = segment.track.packets[number...].prefix(1_000).contains {
      content.lacks($0.codec) && $0.arrivedAt <= packet.arrivedAt
    }
    if isLacking { return true }
    let lasted = subscriber.endOfFeed(
      stream.section.index, by: segment.track.trackName, at: segment.startedAt)
    if packet.arrivedAt >= lasted { return true }
    // Too far behind what came before it to be told from a duplicate.
    if segment.track.packets[number...].dropFirst(1_000).contains(where: { $0.arrivedAt <= packet.arrivedAt })
    {
      return true
    }
    // Its source started over meanwhile: what comes from before is late.
    let runs = segment.track.runs
    if packet.run + 1 < runs.count {
      let first = runs[packet.run + 1].firstPacket
      let begun = segment.track.packets[first...].lazy.map(\.arrivedAt).prefix(50).min() ?? .never
      if packet.arrivedAt >= begun { return true }
    }
    return false
  }

  private func missing(_ extended: Int64, _ segment: Segment) -> String {
    let number = Int(extended - segment.number)
    guard number >= 0, number < segment.track.packets.count else {
      return "number \(extended) is nobody's, after \(segment.track.name)"
    }
    let packet = segment.track.packets[number]
    return
      "packet \(number) of \(segment.track.name) came to the server at \(packet.arrivedAt.milliseconds) ms and did not leave it (number \(extended), segment since \(segment.startedAt.milliseconds) ms)"
  }
}

extension Instant {
  var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
