internal import Model
internal import Signalling
internal import SyntheticPeers

/// What was sent to subscribers on narrow paths, held against what those carry and what their clients showed.
extension Conference {
  /// - Parameter end: when the publishers fell silent.
  func auditLayers(_ books: LayerBooks, until end: Instant) {
    let changes = books.changes
    for (index, planned) in books.plan.viewers.enumerated() {
      let number = books.plan.publishers.count + index
      guard participants.indices.contains(number), let path = books.paths[number] else { continue }
      auditBudget(number, path, isMeeting: books.plan.isMeeting, until: end)
      auditPadding(number, path, until: end)
      if books.plan.isMeeting {
        auditMeeting(participants[number], planned, path, books, until: end)
      } else {
        auditChoices(participants[number], path, books, until: end)
      }
      auditBreaks(participants[number], books, until: end)
      auditChanges(changes, participants[number], path, books, until: end)
      if books.plan.viewers[index].viewsEvery == nil { auditSwitches(number, path, books, until: end) }
    }
    for publisher in books.plan.publishers.indices { auditUplink(participants[publisher], books, until: end) }
    auditSound(books, until: end)
  }

  // MARK: - How much

  /// A path's first seconds, in which its rate is found.
  private static let settling = Duration.seconds(5)
  /// By losses alone, which are reported once a second, it is found more slowly, and so is one below half a megabit.
  private static let longSettling = Duration.seconds(12)
  static let narrow: Int64 = 500_000

  /// How long a viewer's path has to be the same before it is judged.
  func settling(_ viewer: Participant, at rate: Int64) -> Duration {
    let tellsArrivals = viewer.media.send.contains { $0.extensions[.transportSequence] != 0 }
    return tellsArrivals && rate >= Self.narrow ? Self.settling : Self.longSettling
  }

  /// What a key frame of the largest picture, and its repair, may have on top of the rate.
  private static let burst = 20_000.0
  /// In a meeting several pictures may begin at once, and be repaired, on one path. Up to this multiple of its rate a window is counted
  /// and bounded over all seeds (`Mechanism.bound`); above, it is a violation.
  private static let mostInMeeting = 1.3

  private func auditBudget(_ viewer: Int, _ path: PathRecord, isMeeting: Bool, until end: Instant) {
    for span in path.spans(until: end) {
      let begin = span.from + settling(participants[viewer], at: span.rate)
      let first = Int(begin.nanoseconds / PathRecord.tenth) + 1
      let last = Int(span.until.nanoseconds / PathRecord.tenth) - 20
      for start in stride(from: first, through: last, by: 5) {
        journal.count(.budgetJudged)
        let bytes = Double(path.sum(start, 20, \.bytes))
        guard bytes > Double(span.rate) * 1.1 * 2 / 8 + Self.burst else { continue }
        let text =
          "\(Int(bytes * 4 / 1_000)) kbit/s go to \(viewer) for 2 s from \(start * 100) ms, over \(span.rate / 1_000)"
        journal.count(.budgetOver)
        journal.trace(now, text)
        guard !isMeeting || bytes > Double(span.rate) * Self.mostInMeeting * 2 / 8 else { continue }
        journal.violation(now, text)
      }
    }
  }

  /// So much of what is sent in a minute may show nothing.
  private static let mostPadding = 0.05

  private func auditPadding(_ viewer: Int, _ path: PathRecord, until end: Instant) {
    guard let begin = path.capacities.first?.from else { return }
    let first = Int(begin.nanoseconds / PathRecord.tenth) + 100
    for start in stride(from: first, through: Int(end.nanoseconds / PathRecord.tenth) - 600, by: 50) {
      let padding = Double(path.sum(start, 600, \.padding)) / Double(max(1, path.sum(start, 600, \.bytes)))
      guard padding > Self.mostPadding else { continue }
      journal.violation(
        now,
        "\(Int(padding * 1_000)) ‰ of what goes to \(viewer) in a minute from \(start * 100) ms is padding")
    }
  }

  /// Within a minute: those beyond the first are counted, and over all seeds together there is a bound (`Mechanism.bound`); those beyond
  /// the second are a violation.
  private static let wantedSwitches = 4
  private static let mostSwitches = 8

  /// At one rate and one view, a picture's size stays.
  private func auditSwitches(_ viewer: Int, _ path: PathRecord, _ books: LayerBooks, until end: Instant) {
    for span in path.spans(until: end) {
      for stream in books.streams where stream.slot.subscriber == viewer {
        let pictures = Array(stream.pictures(from: span.from + .seconds(10), until: span.until))
        var switches: [Instant] = []
        for (before, next) in zip(pictures, pictures.dropFirst())
        where before.track == next.track
          && (before.encoding != next.encoding || before.spatial != next.spatial)
        {
          switches.append(next.at)
          guard let track = journal.layered[next.track],
            LayerChoices(track, from: next.at.earlier(by: .seconds(3)), until: next.at) != nil
          else {
            // Its publisher had another set of encodings.
            switches = []
            continue
          }
          journal.count(.layersChanged)
          let count = switches.count { next.at - $0 < .seconds(60) }
          if count > Self.wantedSwitches { journal.count(.switchesOver) }
          guard count > Self.mostSwitches else { continue }
          journal.violation(
            now, "\(viewer) has its picture switched \(switches.count) times by \(next.at.milliseconds) ms")
          break
        }
      }
    }
  }

  // MARK: - What

  /// So much of a path's rate is to be made use of.
  private static let use = 0.85
  /// With half of it all pictures have to be there, but for so many spans of two seconds.
  private static let leastUse = 0.5
  private static let longestStarving = 5

  private func auditChoices(
    _ viewer: Participant, _ path: PathRecord, _ books: LayerBooks, until end: Instant
  ) {
    let streams = books.streams.filter { $0.slot.subscriber == viewer.number }
    guard streams.count == books.plan.publishers.count else { return }
    for span in path.spans(until: end) {
      var starving = 0
      var start = span.from + Self.settling
      while start + .seconds(2) <= span.until {
        defer { start = start + .seconds(2) }
        let since = start.earlier(by: Self.settling)
        guard !books.hasChangedView(viewer.number, from: since, until: start + .seconds(2)),
          !books.rebuiltAt.contains(where: { $0 > since && $0 < start + .seconds(2) })
        else { continue }
        let isStarving = judgeChoice(viewer, path, span.rate, streams, books, at: start)
        starving = isStarving ? starving + 1 : 0
        if starving == Self.longestStarving {
          journal.violation(
            now,
            "\(viewer.number) lacks a picture from \(start.earlier(by: .seconds(8)).milliseconds) to \((start + .seconds(2)).milliseconds) ms, where half of \(span.rate / 1_000) kbit/s carries all"
          )
        }
      }
    }
  }

  private func judgeChoice(
    _ viewer: Participant, _ path: PathRecord, _ rate: Int64, _ streams: [SlotRecord], _ books: LayerBooks,
    at start: Instant
  ) -> Bool {
    let until = start + .seconds(2)
    var tracks: [(priority: Int, choices: [LayerChoices.Choice])] = []
    var shown: [LayerChoices.Choice] = []
    for publisher in books.plan.publishers.indices {
      guard let source = participants[publisher].peer.layered.first,
        let choices = LayerChoices(source.track, from: start.earlier(by: Self.settling), until: until)
      else { return false }
      let view = books.view(of: source.log.trackName, by: viewer.number, at: start)
      let usable = choices.choices(view)
      let pictures = streams.flatMap { $0.pictures(from: start, until: until) }
        .filter { $0.track == source.log.trackName }
      let found = choices.shown(pictures)
      tracks.append((view.priority ?? 128, usable))
      shown.append(Self.choice(found, of: usable))
    }
    let place = Int(start.nanoseconds / PathRecord.tenth)
    let audio = Double(path.sum(place, 20, \.audio)) * 4
    let best = BestCombination.find(tracks, within: Double(rate) * Self.use - audio)
    journal.count(.choiceJudged)
    let seen = BestCombination.value(zip(tracks, shown).map { ($0.priority, $1.level) })
    let could = BestCombination.value(zip(tracks, best).map { ($0.priority, $1.level) })
    let least = BestCombination.find(tracks, within: Double(rate) * Self.leastUse - audio)
    let isStarving = shown.count { $0.level > 0 } < least.count { $0.level > 0 }
    guard seen.lexicographicallyPrecedes(could) else { return isStarving }
    journal.count(.choiceBelowBest)
    let text = { (choices: [LayerChoices.Choice]) in
      choices.map { "\($0.size).\($0.temporal) at \(Int($0.rate / 1_000))" }.joined(separator: " and ")
    }
    journal.trace(
      now,
      "\(viewer.number) is shown \(text(shown)) from \(start.milliseconds) ms, where \(rate / 1_000) kbit/s carry \(text(best)), sound \(Int(audio / 1_000))"
    )
    return isStarving
  }

  /// What was seen, or the next lower that the viewer has a use for.
  private static func choice(
    _ found: (size: Int, temporal: Int)?, of usable: [LayerChoices.Choice]
  ) -> LayerChoices.Choice {
    let nothing = LayerChoices.Choice(size: -1, temporal: -1, rate: 0)
    guard let found else { return nothing }
    return usable.last { $0.size <= found.size && $0.temporal <= found.temporal } ?? nothing
  }

  // MARK: - What publishers send

  private static let unwatched = Duration.seconds(5)
  private static let returning = Duration.milliseconds(1_500)

  private func auditUplink(_ publisher: Participant, _ books: LayerBooks, until end: Instant) {
    guard let source = publisher.peer.layered.first, source.track.video.isSimulcast else { return }
    let name = source.log.trackName
    guard !source.track.video.isBySSRC else {
      if let word = books.published[name]?.first {
        journal.violation(now, "\(publisher.number) hears of \(word.rid), and has no encoding of a name")
      }
      return
    }
    for (index, encoding) in source.track.video.encodings.enumerated() {
      let shown = books.streams.flatMap(\.pictures).filter { $0.track == name && $0.encoding == index }.map(
        \.at
      )
      .sorted()
      let words = (books.published[name] ?? []).filter { $0.rid == encoding.rid }
      var isActive = true
      for (place, word) in words.enumerated() where word.isActive != isActive {
        isActive = word.isActive
        let next = words[(place + 1)...].first { $0.isActive != isActive }?.at ?? end
        if isActive {
          auditReturn(publisher, encoding, shown, from: word.at, until: min(next, end), source, books)
        } else if let last = books.lastSeen(name, encoding: index, before: word.at),
          word.at - last < .milliseconds(4_500)
        {
          journal.violation(
            now,
            "\(encoding.rid) of \(publisher.number) goes off at \(word.at.milliseconds) ms, seen \((word.at - last).wholeNanoseconds / 1_000_000) ms before"
          )
        }
      }
      auditOff(publisher, encoding, shown, words, books, until: end)
    }
  }

  private func auditReturn(
    _ publisher: Participant, _ encoding: LayeredVideo.Encoding, _ shown: [Instant], from: Instant,
    until: Instant, _ source: LayeredSource, _ books: LayerBooks
  ) {
    let latest = from + Self.returning
    // The cheapest is sent for those whose path has no room even for that, who are not shown it.
    let isCheapest = !source.track.video.encodings.contains { $0.rate < encoding.rate }
    let isPaused = publisher.track(.video).map {
      books.isPausedForSome($0, from: from.earlier(by: .seconds(1)), until: latest)
    }
    guard !isCheapest || isPaused != true else { return }
    let isAbsent = encoding.absences.contains {
      $0.overlaps(
        from.nanoseconds - source.track.begunAt.nanoseconds..<latest.nanoseconds
          - source.track.begunAt.nanoseconds)
    }
    let views = books.views.values.flatMap(\.values).flatMap { $0 }
    let capacities = books.paths.values.flatMap(\.capacities)
    let isWantedOn =
      !views.contains { $0.at > from && $0.at < latest }
      && !capacities.contains { $0.from > from.earlier(by: .seconds(2)) && $0.from < latest }
    if shown.contains(where: { $0 >= from && $0 <= latest }) { journal.count(.encodingReturned) }
    guard !isAbsent, isWantedOn, until > latest, !shown.contains(where: { $0 >= from && $0 <= latest }) else {
      return
    }
    journal.count(.encodingLate)
    journal.trace(
      now,
      "\(encoding.rid) of \(publisher.number) is asked for at \(from.milliseconds) ms, and shown \(shown.first { $0 > from }.map { "\($0.milliseconds)" } ?? "never")"
    )
  }

  /// Without viewers for so long it is asked for no more. The cheapest stays on for those whose path has no room for it at present.
  private func auditOff(
    _ publisher: Participant, _ encoding: LayeredVideo.Encoding, _ shown: [Instant],
    _ words: [(at: Instant, rid: String, isActive: Bool)], _ books: LayerBooks, until end: Instant
  ) {
    guard let source = publisher.peer.layered.first else { return }
    let (name, begun) = (source.log.trackName, source.track.begunAt)
    guard let number = source.track.video.encodings.firstIndex(where: { $0.rid == encoding.rid }) else {
      return
    }
    let isCheapest = !source.track.video.encodings.contains { $0.rate < encoding.rate }
    let moments = [begun] + shown + [end]
    for (before, next) in zip(moments, moments.dropFirst()) {
      let latest = before + Self.unwatched + .seconds(3)
      // It may have gone off, and be wanted again by someone who can't be shown it yet.
      guard latest < next, words.last(where: { $0.at <= before })?.isActive ?? true,
        !words.contains(where: { $0.at > before && $0.at <= latest && !$0.isActive }),
        source.track.isSent(number, from: before, until: latest),
        !isCheapest || !books.isAwaited(name, from: before, until: latest)
      else { continue }
      journal.count(.encodingStaysOn)
      journal.violation(
        now, "\(encoding.rid) of \(publisher.number), seen last at \(before.milliseconds) ms, does not go off"
      )
    }
  }
}
