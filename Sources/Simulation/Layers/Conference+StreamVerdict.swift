internal import Model
internal import Signalling
internal import SyntheticPeers

/// Breaks in the pictures of viewers on narrow paths: what they hear of them, and how soon another encoding stands in for one that
/// has stopped.
extension Conference {
  /// What was shown to a viewer of a track, and what it heard of it.
  private struct Shown {
    var viewer: Participant
    var source: LayeredSource
    var pictures: [SlotRecord.Picture]
    var words: [(at: Instant, body: StreamBody)]
  }

  func auditBreaks(_ viewer: Participant, _ books: LayerBooks, until end: Instant) {
    for publisher in books.plan.publishers.indices {
      guard let source = participants[publisher].peer.layered.first,
        let track = participants[publisher].track(.video)
      else { continue }
      let pictures = books.pictures(of: source.log.trackName, to: viewer.number)
      let shown = Shown(
        viewer: viewer, source: source, pictures: pictures, words: books.words[viewer.number]?[track] ?? [])
      auditPauses(shown, until: end)
      auditSilences(shown, books, until: end)
      countFreezes(shown, books, until: end)
      auditStops(shown, books, until: end)
    }
  }

  // MARK: - What viewers hear

  /// A sample leaves for a participant.
  func noteStream(_ text: String, to record: SocketRecord) {
    guard let layers, let participant = record.participant,
      case .stream(let body)? = (try? ServerMessage(json: text))?.content
    else { return }
    layers.note(body, to: participant.number, now: now)
  }

  /// A change in what leaves is known to the room, and said, within so long.
  private static let saying = Duration.seconds(1)
  /// Nothing is missing for longer without a word.
  private static let unexplained = Duration.seconds(4)

  /// Where a viewer has heard that its path has no room, nothing is shown until it has heard that there is.
  private func auditPauses(_ shown: Shown, until end: Instant) {
    for (index, word) in shown.words.enumerated() where word.body.reason == .bandwidth {
      journal.count(.pauseHeard)
      let next = index + 1 < shown.words.count ? shown.words[index + 1].at : end
      let latest = next.earlier(by: Self.saying)
      guard let picture = shown.pictures.first(where: { $0.at > word.at + Self.saying && $0.at < latest })
      else { continue }
      journal.violation(
        now,
        "\(shown.viewer.number) heard at \(word.at.milliseconds) ms that its path has no room, and is shown a picture at \(picture.at.milliseconds) ms"
      )
    }
  }

  private func auditSilences(_ shown: Shown, _ books: LayerBooks, until end: Instant) {
    let moments = shown.pictures.map(\.at) + [end]
    for (before, next) in zip(moments, moments.dropFirst()) {
      guard let since = silence(shown, from: before, until: next) else { continue }
      let latest = since + Self.unexplained
      guard !isOff(shown, books, from: since, until: latest),
        !books.rebuiltAt.contains(where: { $0 > since && $0 < latest }),
        shown.source.track.video.encodings.indices.contains(where: {
          shown.source.track.isSent($0, from: since, until: latest)
        })
      else { continue }
      journal.violation(
        now,
        "\(shown.viewer.number) is shown nothing from \(since.milliseconds) to \(next.milliseconds) ms and hears no reason"
      )
    }
  }

  private static let freeze = Duration.seconds(1)
  /// Each counts, and over all seeds together there is a bound (`Mechanism.bound`). One viewer has no more than so many of one track.
  private static let mostFreezes = 5

  /// When a break began that is too long with no pause said: the next picture takes its time again once a pause has ended.
  private func silence(_ shown: Shown, from before: Instant, until next: Instant) -> Instant? {
    guard next - before > Self.unexplained else { return nil }
    var since = shown.words.last { $0.at <= before }?.body.state ?? .active == .active ? before : nil
    for word in shown.words where word.at > before && word.at < next {
      if let since, word.at - since > Self.unexplained { return since }
      since = word.body.state == .active ? since ?? word.at : nil
    }
    return since.flatMap { next - $0 > Self.unexplained ? $0 : nil }
  }

  /// A picture that stands still although nothing has changed, neither the path nor what is asked for nor what its publisher sends, and
  /// no word of a pause was said.
  private func countFreezes(_ shown: Shown, _ books: LayerBooks, until end: Instant) {
    var freezes = 0
    for (before, next) in zip(shown.pictures, shown.pictures.dropFirst())
    where next.at - before.at > Self.freeze {
      let since = before.at.earlier(by: .seconds(5))
      guard isSteady(shown, books, from: since, until: next.at),
        !isOff(shown, books, from: before.at, until: next.at),
        LayerChoices(shown.source.track, from: since, until: next.at) != nil,
        shown.words.last(where: { $0.at <= before.at + Self.saying })?.body.state ?? .active == .active
      else { continue }
      freezes += 1
      journal.count(.pictureFroze)
      journal.trace(
        now,
        "\(shown.viewer.number) is shown one picture from \(before.at.milliseconds) to \(next.at.milliseconds) ms"
      )
    }
    guard freezes > Self.mostFreezes else { return }
    journal.violation(now, "\(shown.viewer.number) has a picture stand still \(freezes) times")
  }

  private func isOff(_ shown: Shown, _ books: LayerBooks, from: Instant, until: Instant) -> Bool {
    books.wantsNothing(
      of: shown.source.log.trackName, by: shown.viewer.number, from: from, until: until)
  }

  // MARK: - Encodings that stop

  /// An encoding that is silent for so long has stopped; within so long again another is shown, or asked for and shown where its
  /// publisher had been sending none.
  private static let stopping = Duration.milliseconds(500)
  private static let replacing = Duration.milliseconds(500)
  private static let replacingByOff = Duration.milliseconds(1_500)

  private func auditStops(_ shown: Shown, _ books: LayerBooks, until end: Instant) {
    let track = shown.source.track
    for (index, encoding) in track.video.encodings.enumerated() {
      for absence in encoding.absences where absence.lowerBound > 0 {
        let begin = track.begunAt.advanced(byNanoseconds: absence.lowerBound)
        let others = track.video.encodings.indices.filter { $0 != index }
        let smaller = others.filter {
          track.video.encodings[$0].width < encoding.width
            && track.isSent($0, from: begin, until: begin + .seconds(1))
        }
        let limit = Self.stopping + (smaller.isEmpty ? Self.replacingByOff : Self.replacing)
        guard begin + limit + .seconds(1) < end,
          let last = shown.pictures.last(where: { $0.at <= begin + .milliseconds(200) }),
          last.encoding == index, last.at > begin.earlier(by: .milliseconds(500)),
          isSteady(shown, books, from: begin.earlier(by: .seconds(3)), until: begin + .seconds(2))
        else { continue }
        journal.count(.stopBridged)
        let next = shown.pictures.first { $0.at > last.at }?.at ?? end
        guard next - last.at > limit else { continue }
        journal.violation(
          now,
          "\(shown.viewer.number) waits \((next - last.at).wholeNanoseconds / 1_000_000) ms for another encoding where \(encoding.rid) stops at \(begin.milliseconds) ms"
        )
      }
    }
  }

  /// Neither the path nor what is asked for changes in a span.
  private func isSteady(_ shown: Shown, _ books: LayerBooks, from: Instant, until: Instant) -> Bool {
    !books.hasChangedView(shown.viewer.number, from: from, until: until)
      && !(books.paths[shown.viewer.number]?.capacities.contains { $0.from > from && $0.from < until }
        ?? false)
      && !books.rebuiltAt.contains { $0 > from && $0 < until }
  }
}
