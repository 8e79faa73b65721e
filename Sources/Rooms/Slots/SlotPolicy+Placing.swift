internal import Model

/// Which track goes where.
extension SlotPolicy {
  mutating func settle(now: Instant) {
    for position in slots.indices {
      guard let track = track(in: position) else {
        slots[position].track = nil
        continue
      }
      if track.preference == .none || !slots[position].carries(track) { put(nil, in: position, now) }
    }
    for track in tracks.values.filter({ $0.preference.mid != nil }).sorted(by: { $0.arrival < $1.arrival }) {
      guard let mid = track.preference.mid, let position = slots.firstIndex(where: { $0.mid == mid }),
        slots[position].track != track.id, slots[position].carries(track)
      else { continue }
      if let old = slots.firstIndex(where: { $0.track == track.id }) { put(nil, in: old, now) }
      put(track.id, in: position, now)
    }
    // A track that gives way may come before another that is still shown. Each round that displaces one puts a track
    // in place of a lesser one, so it comes to an end.
    var hasDisplaced = true
    while hasDisplaced {
      hasDisplaced = false
      // Who finds no place leaves none to those behind it that need the same: they come after it, and each that is
      // placed meanwhile makes places fewer. So a round costs the tracks that are placed, not all that wait.
      var full: Set<Need> = []
      for track in waiting where !full.contains(Need(track)) {
        if let position = freePlace(for: track) {
          put(track.id, in: position, now)
        } else if let position = takenPlace(for: track, now: now) {
          put(track.id, in: position, now)
          hasDisplaced = true
        } else {
          full.insert(Need(track))
        }
      }
    }
    joinPairs(.audio, now)
    joinPairs(.video, now)
  }

  /// What a track needs of a slot.
  private struct Need: Hashable {
    let kind: MediaKind
    let codec: CodecFormat?

    init(_ track: Track) { (kind, codec) = (track.kind, track.codec) }
  }

  /// Gives a participant's tracks their places among its own.
  mutating func number(_ owner: String) {
    let wanted = tracks.values.filter { $0.owner == owner && $0.preference != .none }
    for kind in [MediaKind.audio, .video] {
      let inOrder = wanted.filter { $0.kind == kind }.sorted { $0.arrival < $1.arrival }
      let screen = inOrder.first { $0.isScreen }
      let first = [inOrder.first { !$0.isScreen }, screen].compactMap { $0?.id }
      let order = first + inOrder.map(\.id).filter { !first.contains($0) }
      for (index, id) in order.enumerated() {
        tracks[id]?.ordinal = index + 1
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.allFirst) { tracks[id]?.ordinal = 1 }
        #endif
        tracks[id]?.isLeading = id == screen?.id
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.screensOutrank), let track = tracks[id] {
            tracks[id]?.isLeading = track.isScreen
          }
        #endif
      }
    }
  }

  /// What decides who is served first; the greater comes before the lesser.
  struct Rank: Comparable {
    /// 2: asked for; 1: a leading screen; 0: by share.
    let level: Int
    let ordinal: Int
    let speaks: Bool
    let spoke: Int64

    static func < (a: Rank, b: Rank) -> Bool {
      (a.level, -a.ordinal, a.speaks ? 1 : 0, a.spoke) < (b.level, -b.ordinal, b.speaks ? 1 : 0, b.spoke)
    }
  }

  func rank(_ track: Track) -> Rank {
    if track.preference.isExplicit { return Rank(level: 2, ordinal: 1, speaks: false, spoke: 0) }
    if track.isLeading { return Rank(level: 1, ordinal: 1, speaks: false, spoke: 0) }
    return Rank(
      level: 0, ordinal: track.ordinal, speaks: speaking.contains(track.group),
      spoke: lastSpoke[track.group]?.nanoseconds ?? .min)
  }

  /// The free slot beside its group's other track; else one in an empty pair; else any.
  private func freePlace(for track: Track) -> Int? {
    let free = slots.indices.filter { slots[$0].track == nil && slots[$0].carries(track) }
    return free.first { partners($0).contains { $0.group == track.group } }
      ?? free.first { partners($0).isEmpty } ?? free.first
  }

  /// The slot of a track that comes after this one; one whose publisher merely speaks waits until the other has been
  /// shown long enough.
  private func takenPlace(for track: Track, now: Instant) -> Int? {
    let rank = rank(track)
    let candidates = slots.indices.filter { position in
      guard slots[position].carries(track), let shown = self.track(in: position) else { return false }
      let other = self.rank(shown)
      if rank.level != other.level { return rank.level > other.level }
      guard rank.level == 0 else { return false }
      if rank.ordinal != other.ordinal { return rank.ordinal < other.ordinal }
      return rank.speaks && !other.speaks && now - slots[position].since >= Self.dwell
        && lastSpoke[shown.group].map { now - $0 >= Self.quiet } ?? true
    }
    return candidates.min { order($0, for: track) < order($1, for: track) }
  }

  /// Lower is given up first: the largest share, then beside the track's own group, then what comes last.
  private func order(_ position: Int, for track: Track) -> (Int, Int, Int, Int64, Int64) {
    guard let shown = self.track(in: position) else { return (0, 0, 0, 0, 0) }
    let rank = rank(shown)
    let isBeside = partners(position).contains { $0.group == track.group }
    let share = rank.level > 0 ? 0 : -rank.ordinal
    return (
      share, isBeside ? 0 : 1, rank.level * 2 + (rank.speaks ? 1 : 0), rank.spoke,
      slots[position].since.nanoseconds
    )
  }

  /// Moves tracks of one kind beside those of their group, where a pair was full when they came. Each step makes
  /// one pair more whole and none less, so it comes to an end.
  private mutating func joinPairs(_ kind: MediaKind, _ now: Instant) {
    // Those of the other kind stay where they are.
    let groups = slots.map { $0.kind == kind ? nil : $0.track.flatMap { tracks[$0]?.group } }
    for position in slots.indices where slots[position].kind == kind {
      guard let track = track(in: position), track.preference.mid == nil,
        !partners(position).contains(where: { $0.group == track.group }),
        let mate = groups.firstIndex(of: track.group).map({ slots[$0] }),
        let target = slots.firstIndex(where: {
          $0.kind == kind && $0.streamID == mate.streamID && $0.carries(track)
        }), target != position
      else { continue }
      let other = self.track(in: target)
      if let other {
        guard other.preference.mid == nil, other.group != track.group, slots[position].carries(other) else {
          continue
        }
      }
      put(track.id, in: target, now)
      put(other?.id, in: position, now)
    }
  }

  private mutating func put(_ track: TrackID?, in position: Int, _ now: Instant) {
    slots[position].track = track
    slots[position].since = now
  }

  private func track(in position: Int) -> Track? {
    slots[position].track.flatMap { tracks[$0] }
  }

  /// What the other slots of the pair show.
  private func partners(_ position: Int) -> [Track] {
    slots.indices.compactMap { other in
      slots[other].streamID == slots[position].streamID && other != position ? track(in: other) : nil
    }
  }
}

extension SlotPolicy.Slot {
  /// Whether the track can be played here.
  func carries(_ track: SlotPolicy.Track) -> Bool {
    kind == track.kind && (track.codec.map(formats.contains) ?? true)
  }
}
