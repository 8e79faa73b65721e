internal import Model
internal import SyntheticPeers

/// What others do is not seen: while one viewer changes what it wants, or an encoding goes on or off, the pictures of the others move.
extension Conference {
  /// The path, the viewer's own view and its publisher have been the same for so long before.
  private static let steadyPath = Duration.seconds(5)
  private static let steadyView = Duration.seconds(2)
  private static let steadySource = Duration.seconds(3)
  /// A path of which no more is in use has room.
  private static let roomy = 0.7

  func auditChanges(
    _ changes: [LayerBooks.Change], _ viewer: Participant, _ path: PathRecord, _ books: LayerBooks,
    until end: Instant
  ) {
    let losses = journal.departures.filter { $0.subscriber == viewer.number }.flatMap { log in
      log.entries.filter { $0.lost > 0 }.map(\.sentAt)
    }
    let judged = changes.filter { change in
      let (since, last) = (change.at.earlier(by: Self.steadyView), change.at + StillAudit.span)
      guard change.by != viewer.number, last + Self.steadyView < end else { return false }
      return isSteady(viewer.number, path, books, at: change.at)
        && !losses.contains { $0 > since && $0 < last }
    }
    guard !judged.isEmpty else { return }
    for publisher in books.plan.publishers.indices {
      guard let source = participants[publisher].peer.layered.first,
        let track = participants[publisher].track(.video)
      else { continue }
      let pictures = books.pictures(of: source.log.trackName, to: viewer.number).map(\.at)
      let audit = StillAudit(pictures, longest: StillAudit.longest(source.track.video))
      for change in judged {
        auditChange(change, audit, source, track, viewer, path, books, until: end)
      }
    }
  }

  /// Neither the viewer's path, nor what it asks for, nor the server changes around a moment.
  private func isSteady(_ viewer: Int, _ path: PathRecord, _ books: LayerBooks, at moment: Instant) -> Bool {
    let (since, last) = (moment.earlier(by: Self.steadyPath), moment + StillAudit.span)
    guard let begin = path.capacities.first?.from, begin <= since else { return false }
    return !path.capacities.contains { $0.from > since && $0.from < last }
      && !books.rebuiltAt.contains { $0 > since && $0 < last }
      && !books.hasChangedView(viewer, from: moment.earlier(by: Self.steadyView), until: last)
  }

  private func auditChange(
    _ change: LayerBooks.Change, _ audit: StillAudit, _ source: LayeredSource, _ track: String,
    _ viewer: Participant, _ path: PathRecord, _ books: LayerBooks, until end: Instant
  ) {
    let (name, last) = (source.log.trackName, change.at + StillAudit.span)
    let since = change.at.earlier(by: Self.steadySource)
    guard audit.moved(until: change.at),
      !books.wantsNothing(of: name, by: viewer.number, from: since, until: last),
      books.isActive(track, to: viewer.number, from: since, until: last + .seconds(1)),
      LayerChoices(source.track, from: since, until: last) != nil
    else { return }
    journal.count(.stillJudged)
    guard let still = audit.stillness(after: change.at, until: end) else { return }
    journal.count(.stoodStill)
    let text =
      "a picture of \(name.publisher) stands still for \(viewer.number) from \(still.from.milliseconds) to"
      + " \(still.until.milliseconds) ms, where \(change.by) has a change at \(change.at.milliseconds) ms"
    guard hasRoom(path, at: change.at) else { return journal.trace(now, text) }
    journal.violation(now, text)
  }

  /// What a full path does to pictures is no other viewer's doing.
  private func hasRoom(_ path: PathRecord, at moment: Instant) -> Bool {
    guard let rate = path.capacities.last(where: { $0.from <= moment })?.rate else { return false }
    let place = max(0, Int(moment.nanoseconds / PathRecord.tenth) - 20)
    return Double(path.sum(place, 40, \.bytes)) * 8 / 4 <= Double(rate) * Self.roomy
  }
}
