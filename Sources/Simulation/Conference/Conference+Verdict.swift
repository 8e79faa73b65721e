internal import Engine
internal import Model
internal import Peer
internal import SyntheticPeers
internal import Wire

extension Conference {
  /// Lets what is lost be repaired, compares everything, sends all away, and looks at what is left.
  func finish() {
    stoppedAt = now
    for number in living { participants[number].peer.stopPublishing() }
    for number in living { flush(participants[number]) }
    run(until: now + .seconds(2))
    endSinks()
    auditTracks()
    auditUnmutes()
    auditStreams()
    if let layers { auditLayers(layers, until: stoppedAt) }
    settle()
    end()
    auditSessions()
    auditTables()
    for record in books.sockets.values { record.socket.hangUp(inGoodOrder: false) }
  }

  // MARK: Streams

  private func auditStreams() {
    for participant in participants {
      for stream in participant.peer.streams where layers == nil || stream.section.kind == .audio {
        let audit = StreamAudit(
          journal: journal, subscriber: participant, stream: stream,
          departures: journal.departures[stream.log],
          track: { [journal] in journal.track(TrackName($0, $1)) },
          isExcused: { participant.isDisturbed(from: $0, until: $1) },
          isCutOff: {
            self.participants[$0].presence.leftAt <= $2
              || self.participants[$0].isDisturbed(from: $1, until: $2)
          },
          end: participant.isPresent ? now : participant.presence.leftAt)
        audit.run()
        auditFlow(participant, stream)
      }
    }
  }

  /// The longest silence in a slot that is fed, with nothing in the way: pictures may have to wait for a key frame,
  /// which is asked for once a second.
  private static let longestSilence: [MediaKind: Int64] = [.audio: 1_500_000_000, .video: 4_000_000_000]

  /// Where a track is subscribed to, something comes.
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
        subscriber.connection.nominatedAt != .never
      else { continue }
      // The keys may be there seconds before the nomination is, whose checks can be lost one after another.
      var last = max(
        feed.from, publisher.peer.connectedAt, subscriber.peer.connectedAt, subscriber.connection.nominatedAt,
        stream.knownSince, track.runs.first?.startedAt ?? feed.from)
      let end = min(
        index + 1 < feeds.count ? feeds[index + 1].from : .never, publisher.presence.leftAt,
        subscriber.presence.leftAt,
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

  /// Whether the track was muted in a span, or came in a codec that the subscriber lacks.
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
      let ended = min(publisher.isPresent ? now : publisher.presence.leftAt, track.endedAt)
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
          packet.sentAt > publisher.connection.connectedAt.advanced(byNanoseconds: 500_000_000),
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

  /// A subscriber of a track that is unmuted can show nothing before a key frame, so one is asked for at once, unless one
  /// was asked for within the last second.
  private func auditUnmutes() {
    for track in journal.tracks where track.kind == .video {
      let publisher = participants[track.publisher]
      // It has been asked before: the server has its packets, and the publisher a way to be asked.
      guard let first = track.keyFrameRequests.first else { continue }
      for index in stride(from: 1, to: track.holds.count, by: 2) {
        let (held, unmuted) = (track.holds[index - 1], track.holds[index])
        let before = unmuted.advanced(byNanoseconds: -1_100_000_000)
        let after = unmuted.advanced(byNanoseconds: 100_000_000)
        let next = index + 1 < track.holds.count ? track.holds[index + 1] : .never
        guard first < held, publisher.connection.connectedAt < before,
          after < min(publisher.presence.leftAt, stoppedAt, next, track.endedAt),
          // Without a path there is no one to ask; a source under another SSRC isn't known before its first packet.
          !publisher.isDisturbed(from: before, until: after),
          !track.runs.contains(where: { before < $0.startedAt && $0.startedAt < after && $0.firstPacket > 0 }
          ),
          !track.keyFrameRequests.contains(where: { before < $0 && $0 < unmuted })
        else { continue }
        // It flows: what isn't sent isn't asked for.
        let flows = [(-500_000_000, 0), (0, 500_000_000)].allSatisfy { from, until in
          let span =
            unmuted.advanced(byNanoseconds: Int64(from))...unmuted.advanced(byNanoseconds: Int64(until))
          return track.packets.contains { span.contains($0.reachedAt) }
        }
        guard flows else { continue }
        let soon = unmuted.advanced(byNanoseconds: 5_000_000)
        if track.keyFrameRequests.contains(where: { unmuted <= $0 && $0 <= soon }) {
          journal.count(.unmuteAsked)
        } else {
          journal.violation(
            now,
            "\(track.name) was unmuted at \(unmuted.milliseconds) ms, and no key frame was asked for")
        }
      }
    }
  }
}
