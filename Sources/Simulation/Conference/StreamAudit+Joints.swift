internal import Model
internal import SyntheticPeers

/// Where a stream goes on from one source to another, or from one incarnation of a source to the next.
extension StreamAudit {
  /// Whether the stream had a reason to be anchored again between two packets of one track: its slot was assigned, the
  /// track was muted, or came in a codec that the subscriber lacks.
  func isJoinedAgain(
    _ track: PublishedTrack, from last: ReceivedStream.Entry, to next: ReceivedStream.Entry
  ) -> Bool {
    if isFedAgain(from: last, to: next) { return true }
    if track.isHeld(from: last.sentAt, until: next.sentAt) { return true }
    if isRunAhead(track, from: last, to: next) { return true }
    let span = min(last.packet, next.packet)...max(last.packet, next.packet)
    return track.packets[Int(span.lowerBound)...Int(span.upperBound)].contains { content.lacks($0.codec) }
  }

  /// So many numbers of the source in a row of which nothing is sent close up: the stream goes on behind what was sent.
  static let runAhead = 512

  /// Whether between two packets of one track so many in a row did not reach the server that the stream was joined to
  /// the source again.
  func isRunAhead(
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
  func isFedAgain(from last: ReceivedStream.Entry, to next: ReceivedStream.Entry) -> Bool {
    subscriber.endOfFeed(stream.section.index, by: last.trackName, at: last.sentAt) <= next.sentAt
  }

  func auditConstants(_ current: Segment, _ next: Segment, _ extended: Int64) {
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

  /// Whether a packet is of what a stream begins with of the time before it was joined to the source: it had reached the server by then,
  /// or a later one had, and it was repaired meanwhile.
  func isPast(_ segment: Segment, _ entry: ReceivedStream.Entry) -> Bool {
    let (packets, place) = (segment.track.packets, Int(entry.packet))
    guard entry.isVideo, place < packets.count else { return false }
    if packets[place].arrivedAt < segment.startedAt { return true }
    // What came before it was due is taken all the same, where the server happened to be ready a little earlier.
    if packets[place].arrivedAt == .never, packets[place].reachedAt <= segment.startedAt { return true }
    guard packets[place].sentAt < segment.startedAt else { return false }
    return packets[(place + 1)...].prefix(Self.runAhead).contains { $0.arrivedAt < segment.startedAt }
  }

  /// Pictures of the time before are drawn together: each stands behind the one before it, and no further than at its source.
  func auditPast(
    _ segment: Segment, _ last: (extended: Int64, entry: ReceivedStream.Entry), _ extended: Int64,
    _ entry: ReceivedStream.Entry
  ) {
    journal.count(.pastDrawn)
    let packets = segment.track.packets
    let source = Int32(
      bitPattern: packets[Int(entry.packet)].timestamp &- packets[Int(last.entry.packet)].timestamp)
    let step = Int32(bitPattern: entry.timestamp &- last.entry.timestamp)
    let isRight =
      source == 0 ? step == 0 : source > 0 ? step > 0 && step <= source : step < 0 && step >= source
    if !isRight {
      complain(
        "timestamps of \(segment.track.name) go \(step) at \(extended), in pictures of before, where its source's go \(source)"
      )
    }
  }

  /// Video begins with a key frame, unless its first packet was lost for good.
  func auditStart(
    _ segment: Segment, after last: Int64, _ extended: Int64, _ entry: ReceivedStream.Entry
  ) {
    let isLost = (max(last + 1, departures.base)..<max(extended, departures.base)).contains {
      departures[$0] != nil
    }
    if isLost { return }
    if !(entry.startsFrame && entry.isKeyFrame) {
      complain(
        "\(segment.track.name) begins at \(extended) in the middle of things, with packet \(entry.packet) of run \(segment.run), left at \(left((extended, entry)).sentAt.milliseconds) ms"
      )
    }
  }

  func auditJoint(
    _ old: Segment, _ last: (extended: Int64, entry: ReceivedStream.Entry), _ new: Segment,
    _ extended: Int64, _ entry: ReceivedStream.Entry
  ) {
    if old.track === new.track && old.run == new.run,
      !isJoinedAgain(new.track, from: left(last), to: left((extended, entry)))
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
    // joint it can't be known when that was, nor whose clocks there were in between.
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
  func clockRates(from: Instant, until: Instant) -> Set<UInt32> {
    let feeding = Set(
      subscriber.feeds[stream.section.index, default: []].filter { $0.from <= until }.compactMap(\.track))
    let tracks = journal.tracks.filter { feeding.contains($0.trackName) }
    return Set(
      tracks.flatMap { track in
        track.packets.lazy.filter { from <= $0.sentAt && $0.sentAt <= until }.map { $0.codec.clockRate }
      })
  }

  /// A source takes over from one that was hostile: it goes on behind the last number that left, later than everything
  /// that was shown, and with a key frame.
  func auditTakeover(
    _ old: Segment, _ last: (extended: Int64, entry: ReceivedStream.Entry), _ new: Segment, _ extended: Int64,
    _ entry: ReceivedStream.Entry
  ) {
    guard !new.track.isHostile else { return }
    journal.count(.hostileTakenOver)
    let before = (departures.base..<extended).last { departures[$0] != nil }
    let changed = subscriber.feeds[stream.section.index, default: []].last {
      $0.track == new.track.trackName && $0.from <= left((extended, entry)).sentAt
    }?.from
    if let before, before < extended - 1, let changed, let departure = departures[before],
      departure.sentAt < changed
    {
      complain(
        "numbers jump from \(before) to \(extended), where \(new.track.name) takes over from a hostile one")
    }
    var latest: UInt32?
    for number in max(departures.base, extended - 4_000)..<extended {
      guard let departure = departures[number], changed.map({ departure.sentAt < $0 }) ?? true else {
        continue
      }
      if latest.map({ Int32(bitPattern: departure.timestamp &- $0) > 0 }) ?? true {
        latest = departure.timestamp
      }
    }
    if let latest, Int32(bitPattern: entry.timestamp &- latest) <= 0 {
      complain(
        "timestamps go back by \(latest &- entry.timestamp), where \(new.track.name) takes over from a hostile one"
      )
    }
    if entry.isVideo { auditStart(new, after: last.extended, extended, entry) }
  }
}
