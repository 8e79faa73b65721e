internal import Engine
internal import Model
internal import Peer
internal import Wire

extension Conference {
  /// Lets what is lost be repaired, compares everything, sends all away, and looks at what is left.
  func finish() {
    stoppedAt = now
    for number in living { participants[number].peer.stopPublishing() }
    for number in living { flush(participants[number]) }
    run(until: now + .seconds(2))
    auditTracks()
    auditStreams()
    settle()
    end()
    auditSessions()
    auditTables()
    for record in sockets.values { record.socket.hangUp(inGoodOrder: false) }
  }

  // MARK: Streams

  private func auditStreams() {
    for participant in participants {
      for stream in participant.peer.streams {
        let audit = StreamAudit(
          journal: journal, subscriber: participant, stream: stream,
          departures: journal.departures[stream.log],
          track: { [journal] in journal.track(TrackName($0, $1)) },
          isExcused: { participant.isDisturbed(from: $0, until: $1) },
          isCutOff: {
            self.participants[$0].leftAt <= $2 || self.participants[$0].isDisturbed(from: $1, until: $2)
          },
          end: participant.isPresent ? now : participant.leftAt)
        audit.run()
        auditFlow(participant, stream)
      }
    }
  }

  /// The longest silence in a slot that is fed, with nothing in the way: pictures may have to wait for a key frame,
  /// which is asked for once a second.
  private static let longestSilence: [MediaKind: Int64] = [.audio: 1_500_000_000, .video: 4_000_000_000]

  /// Where somebody is subscribed to, something comes.
  private func auditFlow(_ subscriber: Participant, _ stream: ReceivedStream) {
    let slot = stream.section.index
    let longest = Self.longestSilence[stream.section.kind] ?? 0
    let feeds = subscriber.feeds[slot] ?? []
    for (index, feed) in feeds.enumerated() {
      guard let name = feed.track,
        let track = journal.track(name), !track.isHostile
      else { continue }
      let number = name.publisher
      let publisher = participants[number]
      guard publisher.peer.connectedAt != .never, subscriber.peer.connectedAt != .never,
        subscriber.nominatedAt != .never
      else { continue }
      // The keys may be there seconds before the nomination is, whose checks can be lost one after another.
      var last = max(
        feed.from, publisher.peer.connectedAt, subscriber.peer.connectedAt, subscriber.nominatedAt,
        stream.knownSince, track.runs.first?.startedAt ?? feed.from)
      let end = min(
        index + 1 < feeds.count ? feeds[index + 1].from : .never, publisher.leftAt, subscriber.leftAt,
        track.endedAt, stoppedAt)
      let moments = stream.entries.lazy.filter { $0.trackName == name }.map(\.sentAt).sorted()
      for moment in moments.filter({ $0 > last && $0 < end }) + [end] {
        defer { last = max(last, moment) }
        guard moment.nanoseconds - last.nanoseconds > longest,
          !subscriber.isDisturbed(from: last, until: moment),
          !publisher.isDisturbed(from: last, until: moment),
          !isKeptBack(track, stream, subscriber, from: last, until: moment)
        else { continue }
        journal.violation(
          now,
          "slot \(stream.section.index) of \(subscriber.number) (\(track.name)) got nothing from \(last.milliseconds) to \(moment.milliseconds) ms"
        )
      }
    }
  }

  /// Whether the track was held in a span, or came in a codec that the subscriber lacks.
  private func isKeptBack(
    _ track: PublishedTrack, _ stream: ReceivedStream, _ subscriber: Participant, from: Instant,
    until: Instant
  ) -> Bool {
    let content = ContentAudit(
      section: stream.section, dialect: subscriber.peer.configuration.dialect)
    if track.isHeld(from: from, until: until) { return true }
    return track.packets.contains {
      $0.sentAt >= from && $0.sentAt <= until && content.lacks($0.codec)
    }
  }

  /// The server asks for every packet of a repaired track whose successors it got.
  private func auditTracks() {
    for track in journal.tracks where track.isRepaired && !track.isHostile {
      let publisher = participants[track.publisher]
      let ended = min(publisher.isPresent ? now : publisher.leftAt, track.endedAt)
      guard let last = track.packets.lastIndex(where: { $0.arrivedAt != .never }) else { continue }
      var gap = 0..<0
      for number in 0..<last {
        let packet = track.packets[number]
        guard packet.arrivedAt == .never else { continue }
        if !gap.contains(number) {
          gap = number..<(track.packets[number...].firstIndex { $0.arrivedAt != .never } ?? last)
        }
        let until = packet.sentAt == .never ? .never : packet.sentAt.advanced(byNanoseconds: 1_500_000_000)
        let run = track.runs[packet.run]
        guard packet.requests == 0, until < ended, gap.count < 200, number - run.firstPacket > 100,
          packet.sentAt > publisher.connectedAt.advanced(byNanoseconds: 500_000_000),
          // A source that has started over doesn't know what it was asked for.
          !track.runs.contains(where: { $0.startedAt > packet.sentAt && $0.startedAt <= until }),
          // What was missed while it was held is of no use any more; nor does anybody miss what was lost after it,
          // before the first packet that came.
          !track.isHeld(from: track.packets[gap.lowerBound].sentAt, until: until),
          !publisher.isDisturbed(from: packet.sentAt, until: until),
          missed(with: number, track) < 200,
          awaited(before: number, track) + gap.count < 200
        else { continue }
        journal.violation(
          now,
          "packet \(number) of \(track.name), sent at \(packet.sentAt.milliseconds) ms and lost on its way to the server, was never asked for; "
            + "\(gap.count) are missing, the next came at \(track.packets[gap.upperBound].arrivedAt.milliseconds) ms"
        )
      }
    }
  }

  /// How many packets before this one may still be waited for, and leave no room for it: numbers that the source left
  /// out are asked for like others, for a second.
  private func awaited(before number: Int, _ track: PublishedTrack) -> Int {
    let since = track.packets[number].sentAt.advanced(byNanoseconds: -1_500_000_000)
    return track.packets[..<number].reversed().prefix { $0.sentAt == .never || $0.sentAt >= since }
      .count { $0.arrivedAt == .never }
  }

  /// How many packets the server missed when it first saw that this one was not there: beyond what it can wait for it
  /// asks for none of them, and some may only have been overtaken.
  private func missed(with number: Int, _ track: PublishedTrack) -> Int {
    let packets = track.packets
    let run = packets[number].run
    let behind = (number + 1..<packets.count).prefix { packets[$0].run == run }
    guard let next = behind.min(by: { (packets[$0].arrivedAt, $0) < (packets[$1].arrivedAt, $1) }) else {
      return 0
    }
    let before = (track.runs[run].firstPacket..<number).last {
      packets[$0].arrivedAt < packets[next].arrivedAt
    }
    return next - (before ?? track.runs[run].firstPacket) - 1
  }

  // MARK: Lip sync

  /// Audio and video of one instant must carry one server time, by the sender reports that a subscriber gets.
  func checkLipSync(_ subscriber: Participant, _ index: Int, _ report: SenderReport) {
    let stream = subscriber.peer.streams[index]
    let slot = stream.section.index
    subscriber.reports[slot] = (report.ntp, report.rtpTimestamp, now)
    let pair = subscriber.pair(of: slot)
    guard let audio = pair.audio, let video = pair.video,
      let sound = subscriber.reports[audio], let picture = subscriber.reports[video],
      sound.ntp == picture.ntp,
      let soundError = captureError(subscriber, audio, sound.timestamp, told: sound.ntp),
      let pictureError = captureError(subscriber, video, picture.timestamp, told: picture.ntp),
      soundError.publisher == pictureError.publisher
    else { return }
    journal.count(.lipSyncChecked)
    let clock = participants[soundError.publisher].peer.clock
    if clock.drift.magnitude >= 50 { journal.count(.lipSyncDrifting) }
    if clock.soundDrift != 0 { journal.count(.lipSyncSlowSound) }
    if let feeds = subscriber.feeds[video], feeds.count > 1, let last = feeds.last,
      now.nanoseconds - last.from.nanoseconds < 2_000_000_000
    {
      journal.count(.lipSyncAfterSwitch)
    }
    if soundError.isClockChange { journal.count(.lipSyncAfterClockChange) }
    let difference = soundError.nanoseconds - pictureError.nanoseconds
    // Until the clock has been told, the network's jitter is in it; while it is young, what is left of that once the
    // least delay has been seen.
    let tolerance: UInt64 =
      soundError.isGuessed ? 150_000_000 : soundError.isYoung ? 20_000_000 : 5_000_000
    if difference.magnitude > tolerance {
      journal.violation(
        now,
        "sender reports to \(subscriber.number) put sound and picture of \(soundError.publisher) \(difference / 1_000) us apart"
      )
    }
  }

  /// How far the publisher's own time that a timestamp stands for is from its time when it was told.
  /// - Parameter told: when the report was made.
  /// - Returns: nil for a report from before the slot got its source, and while a source that started over may not
  ///   have told its clock anew.
  private func captureError(
    _ subscriber: Participant, _ slot: UInt16, _ timestamp: UInt32, told: NTPTime
  ) -> (publisher: Int, nanoseconds: Int64, isGuessed: Bool, isYoung: Bool, isClockChange: Bool)? {
    let told = told.nanoseconds(since: NTPTime(unixNanoseconds: VirtualClock.wallTimeAtZero))
    guard let stream = subscriber.peer.streams.first(where: { $0.section.index == slot }),
      let entry = stream[stream.highest],
      let feed = subscriber.feeds[slot]?.last, feed.track == entry.trackName,
      told > feed.from.nanoseconds, entry.sentAt >= feed.from,
      let track = journal.track(entry.trackName), !track.isHostile,
      let run = track.runs.last,
      run.isClockChange || now.nanoseconds - run.startedAt.nanoseconds > 2_000_000_000,
      // Whoever vanished before its first sender report said nothing of its clock.
      !participants[track.publisher].peer.isClosed
    else { return nil }
    // Who vanished before the first sender report came has a clock that is only guessed, some time later.
    guard participants[track.publisher].isPresent else { return nil }
    let packet = track.packets[Int(entry.packet)]
    guard packet.run == track.runs.count - 1,
      // The stream may have been anchored anew since, also since the report was made.
      packet.sentAt >= max(track.holds.last ?? packet.sentAt, track.codecChanges.last ?? packet.sentAt),
      told > (track.holds.last?.nanoseconds ?? 0) + 200_000_000
    else { return nil }
    let rate = run.rate
    let clock = participants[track.publisher].peer.clock
    let isYoung = now.nanoseconds - run.startedAt.nanoseconds < 8_000_000_000
    let isDisturbed = participants[track.publisher].isDisturbed(from: run.startedAt, until: now)
    // A slow sound needs two reports, which may have been lost.
    let isGuessed =
      run.isClockChange && (isYoung || isDisturbed) || clock.soundDrift != 0 && isYoung && isDisturbed
    let expected =
      run.base &+ DriftingClock.units(clock.media(Instant(nanoseconds: told), track.kind), rate: rate)
    let source = timestamp &- (entry.timestamp &- packet.timestamp)
    let steps = Int64(Int32(bitPattern: source &- expected))
    let second = DriftingClock.units(clock.media(Instant(nanoseconds: 1_000_000_000), track.kind), rate: rate)
    return (
      track.publisher, steps * 1_000_000_000 / Int64(second), isGuessed, isYoung,
      run.isClockChange && isGuessed
    )
  }

  // MARK: Tables

  /// Nothing is left of anybody.
  private func auditTables() {
    for participant in participants where participant.key != nil && participant.closedAt == .never {
      journal.violation(now, "the server never said that peer \(participant.number) is gone")
    }
    for report in server.reports(now: now) {
      let left = [
        ("peers", report.peers), ("tracks", report.tracks), ("paths", report.paths),
        ("timers", report.timers), ("home records", report.homeRecords), ("fragments", report.fragments),
        ("pending checks", report.pendingChecks),
      ]
      for (name, count) in left where count != 0 {
        journal.violation(now, "worker \(report.worker) has \(count) \(name) left")
      }
      let counters = report.counters
      for reason in [
        PeerDrop.sealRefused, .sealFailed, .srtpAuthentication, .srtpMalformed, .srtpOther, .rtpMalformed,
        .rtcpMalformed, .payloadMalformed, .unknownPayloadType, .streamTableFull, .unknownProtocol,
        .dtlsMalformed,
      ] where counters[reason] != 0 {
        journal.violation(now, "worker \(report.worker) dropped \(counters[reason]) for \(reason)")
      }
      let routing = report.routing
      let losses = [
        ("handovers", routing.handoverDropped), ("relayed packets", routing.relayDropped),
        ("messages", routing.messagesDropped), ("paths for want of room", routing.pathTableFull),
        ("datagrams of no protocol", routing.noProtocol),
      ]
      for (name, count) in losses where count != 0 {
        journal.violation(now, "worker \(report.worker) lost \(count) \(name)")
      }
      journal.count(.adoption, Int(routing.adopted))
      journal.count(.move, Int(routing.moved))
      journal.count(.handover, Int(routing.handedOver))
      journal.count(.relay, Int(routing.relayed))
      journal.count(.pictureReplay, Int(routing.pictureReplays))
    }
  }
}
