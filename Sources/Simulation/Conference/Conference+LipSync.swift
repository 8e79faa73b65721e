internal import Model
internal import SyntheticPeers
internal import Wire

extension Conference {
  /// Audio and video of one instant must carry one server time, by the sender reports that a subscriber gets.
  func checkLipSync(_ subscriber: Participant, _ index: Int, _ report: SenderReport) {
    let stream = subscriber.peer.streams[index]
    let slot = stream.section.index
    subscriber.reports[slot] = (report.ntp, report.rtpTimestamp, now)
    let pair = subscriber.pair(of: slot)
    guard let audio = pair.audio, let video = pair.video,
      let sound = subscriber.reports[audio], let picture = subscriber.reports[video],
      sound.ntp == picture.ntp,
      let soundError = captureError(subscriber, audio, sound.timestamp, reported: sound.ntp),
      let pictureError = captureError(subscriber, video, picture.timestamp, reported: picture.ntp),
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
    // Until the clock is reported, the network's jitter is in it; while it is young, what is left of that once the
    // least delay has been seen, and of a slow sound an eightieth of its age: so well do arrivals tell its rate until a
    // second report has come.
    let tolerance: UInt64 =
      soundError.isGuessed
      ? 150_000_000 : soundError.isYoung ? 20_000_000 + soundError.pace : 5_000_000
    if difference.magnitude > tolerance {
      journal.violation(
        now,
        "sender reports to \(subscriber.number) put sound and picture of \(soundError.publisher) \(difference / 1_000) us apart"
      )
    }
  }

  /// How far the publisher's own time that a timestamp stands for is from its time when it was reported.
  /// - Parameter reported: when the report was made.
  /// - Returns: nil for a report from before the slot got its source, and while a source that started over may not
  ///   have reported its clock again.
  private func captureError(
    _ subscriber: Participant, _ slot: UInt16, _ timestamp: UInt32, reported: NTPTime
  ) -> (
    publisher: Int, nanoseconds: Int64, isGuessed: Bool, isYoung: Bool, pace: UInt64, isClockChange: Bool
  )? {
    let reported = reported.nanoseconds(since: NTPTime(unixNanoseconds: VirtualClock.wallTimeAtZero))
    guard let stream = subscriber.peer.streams.first(where: { $0.section.index == slot }),
      let entry = stream[stream.highest],
      let feed = subscriber.feeds[slot]?.last, feed.track == entry.trackName,
      reported > feed.from.nanoseconds, entry.sentAt >= feed.from,
      let track = journal.track(entry.trackName), !track.isHostile,
      let run = track.runs.last,
      run.isClockChange || now.nanoseconds - run.startedAt.nanoseconds > 2_000_000_000,
      // One that vanished before its first sender report said nothing of its clock.
      !participants[track.publisher].peer.isClosed
    else { return nil }
    // Who vanished before the first sender report came has a clock that is only guessed, some time later.
    guard participants[track.publisher].isPresent else { return nil }
    let packet = track.packets[Int(entry.packet)]
    // A picture of the time before its stream began, or went on after a pause, stands elsewhere than where it was taken: by as much
    // as it had been kept.
    guard track.kind == .audio || entry.sentAt.nanoseconds - packet.arrivedAt.nanoseconds < 5_000_000,
      // Likewise one that came well before its viewer could be sent anything.
      track.kind == .audio
        || packet.arrivedAt.nanoseconds >= subscriber.peer.connectedAt.nanoseconds - 15_000_000
    else { return nil }
    guard packet.run == track.runs.count - 1,
      // The stream may have been anchored again since, also since the report was made.
      packet.sentAt >= max(track.holds.last ?? packet.sentAt, track.codecChanges.last ?? packet.sentAt),
      reported > (track.holds.last?.nanoseconds ?? 0) + 200_000_000
    else { return nil }
    let rate = run.rate
    let clock = participants[track.publisher].peer.clock
    let age = now.nanoseconds - run.startedAt.nanoseconds
    let isYoung = age < 8_000_000_000
    let isDisturbed = participants[track.publisher].isDisturbed(from: run.startedAt, until: now)
    // A slow sound needs two reports, which may have been lost.
    let isGuessed =
      run.isClockChange && (isYoung || isDisturbed) || clock.soundDrift != 0 && isYoung && isDisturbed
    // Each encoding has a time line of its own.
    let layers = journal.layered[entry.trackName]
    let base = layers.map { $0.bases[$0.frames[$0.packets[Int(entry.packet)].frame].encoding] } ?? run.base
    let expected =
      base &+ DriftingClock.units(clock.media(Instant(nanoseconds: reported), track.kind), rate: rate)
    let source = timestamp &- (entry.timestamp &- packet.timestamp)
    let steps = Int64(Int32(bitPattern: source &- expected))
    let second = DriftingClock.units(clock.media(Instant(nanoseconds: 1_000_000_000), track.kind), rate: rate)
    return (
      track.publisher, steps * 1_000_000_000 / Int64(second), isGuessed, isYoung,
      track.kind == .audio && clock.soundDrift != 0 ? UInt64(age / 80) : 0,
      run.isClockChange && isGuessed
    )
  }
}
