internal import Model

/// Which of a subscriber's slots shows which track: a value that is told what there is and who speaks, and says
/// what changes.
///
/// Slots are numbered pairs with a common stream id; an audio and a video track of one participant that belong
/// together (microphone and camera, screen sound and screen) go into the same pair, so that they are played in
/// step. Where slots lack, whoever the subscriber asked for comes first, then screens, then who speaks; somebody
/// who is shown stays for a while, so that the picture doesn't flap.
struct SlotPolicy {
  struct Slot: Equatable {
    let index: UInt16
    let mid: String
    let kind: MediaKind
    /// Of its pair.
    let streamID: String
    var codecs: [CodecFormat]
    var track: TrackID?
    /// Since when it has shown that.
    var since: Instant
  }

  /// What placing a track needs to know of it.
  struct Track: Equatable {
    let id: TrackID
    let key: TrackKey
    let kind: MediaKind
    /// Tracks of one group are played in step: the participant, and camera or screen.
    let group: String
    let isScreen: Bool
    /// In what its packets are; nil: not known yet, any slot will do.
    var codec: CodecFormat?
    var wish = Wish.automatic
    /// Its place in the order in which tracks came; set on arrival.
    var arrival = 0
  }

  enum Wish: Equatable {
    /// The subscriber said nothing: where there is room.
    case automatic
    /// Asked for, and into which slot if the subscriber said so.
    case explicit(mid: String?)
    /// Not wanted.
    case none

    var isExplicit: Bool { if case .explicit = self { true } else { false } }
    var mid: String? { if case .explicit(let mid) = self { mid } else { nil } }
  }

  /// What becomes of a track that is wanted.
  enum Standing: Equatable {
    case shown
    /// Each slot of its kind is taken.
    case waiting
    /// The subscriber's sections lack its codec.
    case codecMissing
  }

  /// Who was put into a slot stays at least so long, and after a word of theirs so long.
  static let dwell = Duration.seconds(3)
  static let quiet = Duration.seconds(2)
  /// More sections of a kind than these are never asked for: an offer must stay below the longest message.
  static let slotLimit = 32

  private(set) var slots: [Slot] = []
  private var tracks: [TrackID: Track] = [:]
  private var arrivals = 0
  private(set) var speaking: Set<String> = []
  private var lastSpoke: [String: Instant] = [:]
  /// By slot: what was handed out by `takeChanges`.
  private var handedOut: [UInt16: TrackID] = [:]

  // MARK: - What is told

  /// Takes the sections of a new description; tracks in slots that are gone look for others.
  mutating func apply(_ sections: [SendSection], now: Instant) {
    let old = slots
    slots = sections.map { section in
      let known = old.first { $0.index == section.index }
      return Slot(
        index: section.index, mid: section.mid, kind: section.kind, streamID: section.streamID,
        codecs: section.codecs.map(\.format), track: known?.track, since: known?.since ?? now)
    }
    settle(now: now)
  }

  /// Tracks that the subscriber may get; those that are known already stay as they are.
  mutating func add(_ new: [Track], now: Instant) {
    for var track in new where tracks[track.id] == nil {
      arrivals += 1
      track.arrival = arrivals
      tracks[track.id] = track
    }
    settle(now: now)
  }

  /// A track is over.
  mutating func remove(_ id: TrackID, now: Instant) {
    guard let group = tracks.removeValue(forKey: id)?.group else { return }
    if !tracks.values.contains(where: { $0.group == group }) {
      lastSpoke[group] = nil
      speaking.remove(group)
    }
    settle(now: now)
  }

  /// The last word about a slot holds: who was to go into it before goes where there is room.
  mutating func setWish(_ wish: Wish, for id: TrackID, now: Instant) {
    guard tracks[id] != nil else { return }
    if let mid = wish.mid {
      for other in tracks.values where other.wish.mid == mid { tracks[other.id]?.wish = .explicit(mid: nil) }
    }
    tracks[id]?.wish = wish
    settle(now: now)
  }

  mutating func setCodec(_ codec: CodecFormat, of id: TrackID, now: Instant) {
    guard tracks[id] != nil else { return }
    tracks[id]?.codec = codec
    settle(now: now)
  }

  /// Groups of those who speak right now; to be told as long as somebody who speaks isn't shown.
  mutating func setSpeaking(_ groups: Set<String>, now: Instant) {
    for group in groups.union(speaking) { lastSpoke[group] = now }
    speaking = groups
    settle(now: now)
  }

  // MARK: - What is asked

  /// Slots that show something else than when this was last asked.
  mutating func takeChanges() -> [Slot] {
    let changed = slots.filter { $0.track != handedOut[$0.index] }
    handedOut = [:]
    for slot in slots { handedOut[slot.index] = slot.track }
    return changed
  }

  func key(of id: TrackID) -> TrackKey? { tracks[id]?.key }
  func group(of id: TrackID) -> String? { tracks[id]?.group }
  func kind(of id: TrackID) -> MediaKind? { tracks[id]?.kind }
  func find(_ text: String) -> TrackID? { tracks.keys.first { $0.text == text } }
  /// Tracks about which the subscriber has said something.
  var wishCount: Int { tracks.values.count { $0.wish != .automatic } }

  /// nil for a track that isn't wanted, or isn't known.
  func standing(of id: TrackID) -> Standing? {
    guard let track = tracks[id], track.wish != .none else { return nil }
    return slots.contains { $0.track == id } ? .shown : lacksCodec(track) ? .codecMissing : .waiting
  }

  /// Every wanted track's.
  var standings: [TrackID: Standing] {
    let shown = Set(slots.compactMap(\.track))
    return tracks.filter { $0.value.wish != .none }.mapValues {
      shown.contains($0.id) ? .shown : lacksCodec($0) ? .codecMissing : .waiting
    }
  }

  private func lacksCodec(_ track: Track) -> Bool {
    slots.contains { $0.kind == track.kind } && !slots.contains { $0.carries(track) }
  }

  /// Tracks that wait for a slot, in the order in which they are served.
  var waiting: [Track] {
    let shown = Set(slots.compactMap(\.track))
    return tracks.values
      .filter { $0.wish != .none && !shown.contains($0.id) }
      .sorted { a, b in
        let (left, right) = (rank(a), rank(b))
        return left == right ? a.arrival < b.arrival : left > right
      }
  }

  var waitsForSpeaker: Bool { waiting.contains { speaking.contains($0.group) } }

  /// How many more slots of each kind would be filled.
  var shortage: (audio: Int, video: Int) {
    let lacking = waiting.filter { !lacksCodec($0) }
    let more = { (kind: MediaKind) in
      max(0, min(lacking.count { $0.kind == kind }, Self.slotLimit - slots.count { $0.kind == kind }))
    }
    return (more(.audio), more(.video))
  }

  // MARK: - Placing

  private mutating func settle(now: Instant) {
    for position in slots.indices {
      guard let track = track(in: position) else {
        slots[position].track = nil
        continue
      }
      if track.wish == .none || !slots[position].carries(track) { put(nil, in: position, now) }
    }
    for track in tracks.values.sorted(by: { $0.arrival < $1.arrival }) {
      guard let mid = track.wish.mid, let position = slots.firstIndex(where: { $0.mid == mid }),
        slots[position].track != track.id, slots[position].carries(track)
      else { continue }
      if let old = slots.firstIndex(where: { $0.track == track.id }) { put(nil, in: old, now) }
      put(track.id, in: position, now)
    }
    for track in waiting {
      if let position = freePlace(for: track) ?? takenPlace(for: track, now: now) {
        put(track.id, in: position, now)
      }
    }
    joinPairs(.audio, now)
    joinPairs(.video, now)
  }

  /// Who is served first: asked for, then screens, then who speaks, then who spoke last.
  private func rank(_ track: Track) -> (Int, Int64) {
    if track.wish.isExplicit { return (3, 0) }
    if track.isScreen { return (2, 0) }
    let spoke = lastSpoke[track.group]?.nanoseconds ?? .min
    return (speaking.contains(track.group) ? 1 : 0, spoke)
  }

  /// The free slot beside its group's other track; else one in an empty pair; else any.
  private func freePlace(for track: Track) -> Int? {
    let free = slots.indices.filter { slots[$0].track == nil && slots[$0].carries(track) }
    return free.first { partners($0).contains { $0.group == track.group } }
      ?? free.first { partners($0).isEmpty } ?? free.first
  }

  /// The slot of somebody who comes after this track and has been shown long enough.
  private func takenPlace(for track: Track, now: Instant) -> Int? {
    let rank = rank(track).0
    guard rank > 0 else { return nil }
    let candidates = slots.indices.filter { position in
      guard slots[position].carries(track), let shown = self.track(in: position), !shown.wish.isExplicit
      else {
        return false
      }
      if rank == 3 { return true }
      if shown.isScreen { return false }
      if rank == 2 { return true }
      return !speaking.contains(shown.group) && now - slots[position].since >= Self.dwell
        && lastSpoke[shown.group].map { now - $0 >= Self.quiet } ?? true
    }
    return candidates.min { order($0, for: track) < order($1, for: track) }
  }

  /// Lower is given up first: beside the track's own group, then whoever comes last.
  private func order(_ position: Int, for track: Track) -> (Int, Int, Int64, Int64) {
    guard let shown = self.track(in: position) else { return (0, 0, 0, 0) }
    let (level, spoke) = rank(shown)
    let isBeside = partners(position).contains { $0.group == track.group }
    return (isBeside ? 0 : 1, level, spoke, slots[position].since.nanoseconds)
  }

  /// Moves tracks of one kind beside those of their group, where a pair was full when they came. Each step makes
  /// one pair more whole and none less, so it comes to an end.
  private mutating func joinPairs(_ kind: MediaKind, _ now: Instant) {
    for position in slots.indices where slots[position].kind == kind {
      guard let track = track(in: position), track.wish.mid == nil,
        !partners(position).contains(where: { $0.group == track.group }),
        let mate = slots.first(where: {
          $0.kind != kind && $0.track.flatMap { tracks[$0] }?.group == track.group
        }),
        let target = slots.firstIndex(where: {
          $0.kind == kind && $0.streamID == mate.streamID && $0.carries(track)
        }), target != position
      else { continue }
      let other = self.track(in: target)
      if let other {
        guard other.wish.mid == nil, other.group != track.group, slots[position].carries(other) else {
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
    kind == track.kind && (track.codec.map { codec in codecs.contains { $0.takes(codec) } } ?? true)
  }
}
