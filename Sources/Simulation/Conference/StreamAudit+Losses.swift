internal import Model
internal import SyntheticPeers

/// What a subscriber did not get, or not when it came.
extension StreamAudit {
  func auditGap(after: Int64, before: Int64, _ old: Segment, _ new: Segment) {
    guard before - after > 1 else { return }
    for extended in (after + 1)..<before {
      if let departure = departures[extended] {
        auditLost(extended, departure, old)
      } else if isFedBetween(old, new, after, before) {
        // Another source was heard in between, of which nothing came.
        continue
      } else if !explains(old, extended) && (isSame(old, new) || !explains(new, extended)),
        !isExplainedBetween(old, after, extended)
      {
        complain(missing(extended, old))
      }
    }
  }

  /// Whether the old source was joined to the stream again behind what came last, and the number is explained by that
  /// segment, of which nothing came: the last packet that left in it tells its numbers, by what reached the server at
  /// that very moment.
  func isExplainedBetween(_ old: Segment, _ after: Int64, _ extended: Int64) -> Bool {
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
      return isJoinedAgain(old.track, from: before, to: next) && explains(between, extended)
    }
  }

  /// Whether a third source, or an earlier run of the new one, fed the slot between two packets.
  func isFedBetween(_ old: Segment, _ new: Segment, _ after: Int64, _ before: Int64) -> Bool {
    // A whole run of which nothing came has numbers that can't be known.
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
  func auditLost(_ extended: Int64, _ departure: Departure, _ segment: Segment) {
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
    let until = noticed(extended, departure).advanced(byNanoseconds: 2_000_000_000)
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

  /// When the subscriber could know of a loss: of the last before a silence, such as a mute, once something comes behind it.
  private func noticed(_ extended: Int64, _ departure: Departure) -> Instant {
    let next = ((extended + 1)...(extended + ReceivedStream.gapLimit)).lazy.compactMap { stream[$0]?.sentAt }
      .min()
    guard let next, next > departure.sentAt.advanced(byNanoseconds: 500_000_000) else {
      return departure.sentAt
    }
    return next
  }

  /// Whether the source's packet of that number gave the server no reason to send it in this segment.
  func explains(_ segment: Segment, _ extended: Int64) -> Bool {
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
    // Too far behind what came before it to be distinguished from a duplicate.
    if segment.track.packets[number...].dropFirst(1_000).contains(where: { $0.arrivedAt <= packet.arrivedAt })
    {
      return true
    }
    // Overtaken by a jump behind which the stream was joined to the source again.
    if isOvertakenByJump(packet, number, segment.track) { return true }
    // Its source started over meanwhile: what comes from before is late.
    let runs = segment.track.runs
    if packet.run + 1 < runs.count {
      let first = runs[packet.run + 1].firstPacket
      let begun = segment.track.packets[first...].lazy.map(\.arrivedAt).prefix(50).min() ?? .never
      if packet.arrivedAt >= begun { return true }
    }
    return false
  }

  private func isOvertakenByJump(
    _ packet: PublishedTrack.Packet, _ number: Int, _ track: PublishedTrack
  ) -> Bool {
    var gap = 0
    for next in track.packets[(number + 1)...].prefix(5_000) {
      if next.arrivedAt > packet.arrivedAt {
        gap += 1
      } else if gap > Self.runAhead - 20 {
        return true
      } else {
        gap = 0
      }
    }
    return false
  }

  func missing(_ extended: Int64, _ segment: Segment) -> String {
    let number = Int(extended - segment.number)
    guard number >= 0, number < segment.track.packets.count else {
      return "number \(extended) is no track's, after \(segment.track.name)"
    }
    let packet = segment.track.packets[number]
    return
      "packet \(number) of \(segment.track.name) came to the server at \(packet.arrivedAt.milliseconds) ms and did not leave it (number \(extended), segment since \(segment.startedAt.milliseconds) ms)"
  }

  /// What came to the server in time leaves it by itself, not only when it is asked for.
  func auditRetransmission(_ segment: Segment, _ extended: Int64, _ entry: ReceivedStream.Entry) {
    guard entry.viaRTX, departures[extended] == nil, !explains(segment, extended) else { return }
    complain("\(missing(extended, segment)); it came when it was asked for")
  }
}
