internal import Model
internal import SyntheticPeers

/// Who comes first where a subscriber has fewer slots than there are tracks, as docs/signalling.md has it: what was asked
/// for; then one screen of each participant, with its sound; then everybody's first tracks before anybody's second.
/// Among equals anything will do: who speaks changes from moment to moment.
struct SlotFairness {
  struct Track {
    var id: String
    var owner: String
    var kind: MediaKind
    var source: String
    /// In the order in which its owner's tracks began.
    var order: Int
    /// nil: the subscriber said nothing of it.
    var isWanted: Bool?
  }

  /// Smaller comes first.
  private struct Place: Comparable {
    var level: Int
    var ordinal: Int
    static func < (a: Place, b: Place) -> Bool { (a.level, a.ordinal) < (b.level, b.ordinal) }
  }

  /// - Parameters:
  ///   - tracks: all of one kind that the subscriber may get.
  ///   - slots: what each of its slots of that kind shows.
  /// - Returns: nil where there is nothing to judge, as all are shown; else what is unfair, or an empty text.
  static func problem(_ tracks: [Track], slots: [String?]) -> String? {
    let wanted = tracks.filter { $0.isWanted != false }
    let shown = Set(slots.compactMap { $0 })
    let waiting = wanted.filter { !shown.contains($0.id) }
    guard !waiting.isEmpty, !slots.isEmpty else { return nil }
    if slots.contains(nil) { return "\(waiting[0].id) waits, and a slot is empty" }
    let places = self.places(wanted)
    let ranked = wanted.compactMap { track in places[track.id].map { (track: track, place: $0) } }
      .sorted { ($0.place, $0.track.id) < ($1.place, $1.track.id) }
    guard let first = ranked.first(where: { !shown.contains($0.track.id) }),
      let last = ranked.last(where: { shown.contains($0.track.id) }), first.place < last.place
    else { return "" }
    return
      "\(last.track.source) of \(last.track.owner), its track \(last.place.ordinal), is shown, and \(first.track.source) of \(first.track.owner), its track \(first.place.ordinal), waits"
  }

  private static func places(_ tracks: [Track]) -> [String: Place] {
    var places: [String: Place] = [:]
    for own in Dictionary(grouping: tracks, by: \.owner).values {
      let inOrder = own.sorted { $0.order < $1.order }
      let screen = inOrder.first { $0.source.hasPrefix("screen_share") }
      let camera = inOrder.first { !$0.source.hasPrefix("screen_share") }
      let first = [camera, screen].compactMap { $0 }
      let all = first + inOrder.filter { track in !first.contains { $0.id == track.id } }
      for (index, track) in all.enumerated() {
        let level = track.isWanted == true ? 0 : track.id == screen?.id ? 1 : 2
        places[track.id] = Place(level: level, ordinal: level == 2 ? index + 1 : 0)
      }
    }
    return places
  }
}

extension Conference {
  /// Judged when nothing is on its way.
  func auditFairness(of subscriber: Participant) {
    let client = subscriber.client
    guard subscriber.ledger.maySubscribe(at: now), !subscriber.ledger.isUnsettled, subscriber.key != nil
    else {
      return
    }
    let lacks = subscriber.peer.configuration.dialect.lacks
    for kind in [MediaKind.audio, .video] {
      // What it can't decode is passed over, and which codec each publisher is in changes at any time.
      guard !lacks.contains(where: { $0.kind == kind && $0 != .red }) else { continue }
      let name = kind == .audio ? "audio" : "video"
      var tracks: [SlotFairness.Track] = []
      for (id, person) in client.picture.people where id != client.participantID {
        for (track, state) in person.tracks where state.kind == name {
          tracks.append(
            SlotFairness.Track(
              id: track, owner: person.identity, kind: kind, source: state.source,
              order: books.trackOrder[track] ?? .max, isWanted: subscriber.ledger.preferences[track]))
        }
      }
      let slots = subscriber.media.send.filter { $0.kind == kind }.map { client.picture.slots[$0.mid] }
      guard let problem = SlotFairness.problem(tracks, slots: slots) else { continue }
      journal.count(.fairnessJudged)
      if !problem.isEmpty {
        journal.violation(now, "the slots of \(subscriber.number) are unfair: \(problem)")
      }
    }
  }
}
