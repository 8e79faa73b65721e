internal import Model
internal import SyntheticPeers

/// Sound on narrow paths: it leaves the server as it comes, and what the paths do to it stays within bounds.
extension Conference {
  func auditSound(_ books: LayerBooks, until end: Instant) {
    for participant in participants where participant.handle == nil {
      var tally = SoundTally()
      let planned = books.plan.viewer(participant.number)
      for stream in participant.peer.streams where stream.section.kind == .audio {
        let sound = readSound(in: stream)
        auditDepartures(sound, stream, participant)
        guard let planned, let path = books.paths[participant.number] else { continue }
        auditSilences(sound, stream, participant, planned, path, books, until: end)
        tally.add(sound.packets, delay: .nanoseconds(planned.delay))
      }
      guard let planned, let path = books.paths[participant.number] else { continue }
      judge(tally, participant, planned, path, until: end)
    }
  }

  // MARK: - What left

  /// Of a number that never came it is known which packet it was where those beside it are of one source, and as far apart there.
  private func readSound(in stream: ReceivedStream) -> SoundAudit {
    let departures = journal.departures[stream.log]
    var sound = SoundAudit()
    guard departures.count > 0, stream.highest != .min else { return sound }
    var last: (track: TrackName, shift: Int64)?
    var unknown: [(extended: Int64, departure: Departure)] = []
    for extended in departures.base...departures.highest {
      guard let departure = departures[extended] else { continue }
      guard let entry = stream[extended] else {
        unknown.append((extended, departure))
        continue
      }
      let (track, shift) = (entry.trackName, extended - Int64(entry.packet))
      if let last, last.track == track, last.shift == shift {
        for open in unknown {
          if let packet = makePacket(Int(open.extended - shift), of: track, open.departure, cameAt: nil) {
            sound.packets.append(packet)
          }
        }
      }
      unknown = []
      last = (track, shift)
      let cameAt = entry.viaRTX ? nil : entry.receivedAt
      if let packet = makePacket(Int(entry.packet), of: track, departure, cameAt: cameAt) {
        sound.packets.append(packet)
      }
    }
    return sound
  }

  private func makePacket(
    _ number: Int, of name: TrackName, _ departure: Departure, cameAt: Instant?
  ) -> SoundAudit.Packet? {
    guard let track = journal.track(name), track.packets.indices.contains(number) else { return nil }
    return SoundAudit.Packet(
      track: name, number: number, arrivedAt: track.packets[number].arrivedAt, leftAt: departure.sentAt,
      isLost: departure.lost > 0, cameAt: cameAt)
  }

  private func auditDepartures(_ sound: SoundAudit, _ stream: ReceivedStream, _ subscriber: Participant) {
    let name = "slot \(stream.section.index) of \(subscriber.number)"
    let held = sound.held
    if let packet = held.first {
      let wait = (packet.leftAt - packet.arrivedAt).wholeNanoseconds / 1_000_000
      journal.violation(
        now,
        "\(name): \(held.count) packets of sound stay in the server, the first of \(packet.track.publisher) for \(wait) ms"
          + " from \(packet.arrivedAt.milliseconds) ms on")
    }
    let withheld = sound.withheld(
      arrival: { [journal] in journal.track($0)?.packets[$1].arrivedAt },
      isFedOn: { isFedOn(subscriber, stream, from: $0, until: $1) })
    if let packet = withheld.first {
      journal.violation(
        now,
        "\(name): \(withheld.count) packets of sound came to the server and did not leave, the first is \(packet.number)"
          + " of \(packet.track.publisher)")
    }
  }

  private func isFedOn(
    _ subscriber: Participant, _ stream: ReceivedStream, from: Instant, until: Instant
  ) -> Bool {
    !(subscriber.feeds[stream.section.index] ?? []).contains { $0.from >= from && $0.from <= until }
  }

  // MARK: - What came

  /// Beside what is lost in a row and the queue before the path.
  private static let unevenness: Int64 = 100_000_000
  private static let soundInterval: Int64 = 20_000_000

  /// On a path that has been the same for long enough.
  private func auditSilences(
    _ sound: SoundAudit, _ stream: ReceivedStream, _ viewer: Participant, _ planned: LayerPlan.Viewer,
    _ path: PathRecord, _ books: LayerBooks, until end: Instant
  ) {
    let worst = books.plan.viewers.filter(\.speaks).map(\.loss).max() ?? 0
    let lost = Int64(StillBound.tries(1 - (1 - worst) * (1 - planned.loss)))
    let longest = Duration.nanoseconds((lost + 1) * Self.soundInterval + planned.queue + Self.unevenness)
    let silences = sound.silences(
      over: longest, isFedOn: { isFedOn(viewer, stream, from: $0, until: $1) })
    for span in path.spans(until: end) {
      let first = span.from + settling(viewer, at: span.rate)
      for silence in silences where silence.from >= first && silence.until <= span.until {
        journal.violation(
          now,
          "\(viewer.number) hears nothing in slot \(stream.section.index) from \(silence.from.milliseconds) to \(silence.until.milliseconds) ms"
        )
      }
    }
  }

  private func judge(
    _ tally: SoundTally, _ viewer: Participant, _ planned: LayerPlan.Viewer, _ path: PathRecord,
    until end: Instant
  ) {
    for span in path.spans(until: end) {
      let first = span.from + settling(viewer, at: span.rate)
      for (place, judged) in tally.spans.sorted(by: { $0.key < $1.key }) {
        let begin = SoundTally.begin(place)
        guard begin >= first, SoundTally.begin(place + 1) <= span.until, judged.sent >= SoundTally.least
        else {
          continue
        }
        journal.count(.soundJudged)
        let isLost = judged.losesTooMany(planned.loss)
        // Below that no bound is promised for a path's queue.
        let isLate = span.rate >= Self.narrow && judged.waitsTooLong
        if isLost { journal.count(.soundLost) }
        if isLate { journal.count(.soundWaited) }
        guard isLost || isLate else { continue }
        journal.trace(
          now,
          "of \(judged.sent) packets of sound to \(viewer.number) on \(span.rate / 1_000) kbit/s from \(begin.milliseconds) ms"
            + " \(judged.lost) are lost and \(judged.late) wait for 100 ms")
      }
    }
  }
}
