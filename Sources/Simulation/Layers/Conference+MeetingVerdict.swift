internal import Model
internal import SyntheticPeers

/// A meeting stays fluent for each viewer: everybody it asks for moves, as far as its path carries that, and nothing stands still for longer
/// than losses explain.
extension Conference {
  func auditMeeting(
    _ viewer: Participant, _ planned: LayerPlan.Viewer, _ path: PathRecord, _ books: LayerBooks,
    until end: Instant
  ) {
    guard let capacity = path.capacities.last else { return }
    let first = capacity.from + settling(viewer, at: capacity.rate)
    auditMoving(viewer, capacity.rate, path, books, from: first, until: end)
    for publisher in books.plan.publishers.indices {
      auditTile(viewer, planned, of: participants[publisher], books, from: first, until: end)
    }
  }

  // MARK: - Who is seen

  /// With half of a path's rate the lowest layers have to be there, but for so many spans of two seconds in a row; each span without
  /// them counts, and over all seeds together there is a bound (`Mechanism.bound`).
  private static let usedForAll = 0.5
  private static let longestLacking = 5

  private func auditMoving(
    _ viewer: Participant, _ rate: Int64, _ path: PathRecord, _ books: LayerBooks, from first: Instant,
    until end: Instant
  ) {
    var lacking = 0
    var start = first
    while start + .seconds(2) <= end {
      defer { start = start + .seconds(2) }
      let until = start + .seconds(2)
      guard !books.hasChangedView(viewer.number, from: start.earlier(by: .seconds(2)), until: until),
        let seen = countMoving(for: viewer.number, rate, path, books, from: start, until: until)
      else { continue }
      journal.count(.movingJudged)
      guard seen.moving < seen.fitting else {
        lacking = 0
        continue
      }
      lacking += 1
      journal.count(.pictureLacking)
      let text =
        "\(viewer.number) sees \(seen.moving) move from \(start.milliseconds) ms, where half of \(rate / 1_000) kbit/s carries \(seen.fitting)"
      journal.trace(now, text)
      if lacking == Self.longestLacking { journal.violation(now, "\(text), for ten seconds") }
    }
  }

  /// How many of those that a viewer asks for move, and how many fit at their lowest.
  private func countMoving(
    for viewer: Int, _ rate: Int64, _ path: PathRecord, _ books: LayerBooks, from start: Instant,
    until: Instant
  ) -> (moving: Int, fitting: Int)? {
    var rates: [Double] = []
    var moving = 0
    for publisher in books.plan.publishers.indices {
      guard let source = participants[publisher].peer.layered.first,
        let choices = LayerChoices(source.track, from: start.earlier(by: .seconds(2)), until: until)
      else { return nil }
      let name = source.log.trackName
      guard let lowest = choices.choices(books.view(of: name, by: viewer, at: start)).first else { continue }
      rates.append(lowest.rate)
      let pictures = books.streams.filter { $0.slot.subscriber == viewer }.flatMap {
        $0.pictures(from: start, until: until)
      }.filter { $0.track == name }
      // Half of those of the lowest layer of frame rate.
      let due = (until - start).wholeNanoseconds / source.track.video.slowestInterval
      if Int64(pictures.count) * 2 >= due { moving += 1 }
    }
    let sound = Double(path.sum(Int(start.nanoseconds / PathRecord.tenth), 20, \.audio)) * 4
    var (left, fitting) = (Double(rate) * Self.usedForAll - sound, 0)
    for lowest in rates.sorted() where lowest <= left {
      left -= lowest
      fitting += 1
    }
    return (moving, fitting)
  }

  // MARK: - What is shown at the far end

  private static let freezing = Duration.seconds(1)

  /// As the viewer's decoder shows it: with what was lost on the way, and repaired.
  private func auditTile(
    _ viewer: Participant, _ planned: LayerPlan.Viewer, of publisher: Participant, _ books: LayerBooks,
    from first: Instant, until end: Instant
  ) {
    guard let source = publisher.peer.layered.first, let track = publisher.track(.video) else { return }
    let name = source.log.trackName
    let moments = viewer.peer.streams.filter { $0.section.kind == .video }.flatMap {
      FarPictures.shown(arrivals(in: $0, of: name, source.track), frames: source.track.frames)
    }.sorted()
    let longest = StillBound(
      loss: planned.loss, delay: planned.delay, queue: planned.queue,
      interval: source.track.video.slowestInterval
    ).longest
    for (before, next) in zip(moments, Array(moments.dropFirst()) + [end]) {
      let still = next - max(before, first)
      guard still > Self.freezing,
        !books.wantsNothing(of: name, by: viewer.number, from: before, until: next),
        books.isActive(track, to: viewer.number, from: before, until: next)
      else { continue }
      journal.count(.tileFroze)
      let text =
        "\(viewer.number) is shown one picture of \(publisher.number) from \(before.milliseconds) to \(next.milliseconds) ms"
      journal.trace(now, text)
      if still > longest {
        journal.violation(now, "\(text), where its losses explain \(longest.wholeNanoseconds / 1_000_000) ms")
      }
    }
  }

  private func arrivals(
    in stream: ReceivedStream, of name: TrackName, _ track: LayeredTrack
  ) -> [FarPictures.Arrival] {
    stream.entries.compactMap { entry in
      guard entry.publisher >= 0, entry.trackName == name, track.packets.indices.contains(Int(entry.packet))
      else {
        return nil
      }
      let packet = track.packets[Int(entry.packet)]
      return FarPictures.Arrival(frame: packet.frame, place: packet.place, at: entry.receivedAt)
    }
  }
}
