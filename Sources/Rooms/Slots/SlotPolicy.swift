internal import Model

/// Which of a subscriber's slots shows which track: a value that is told what there is and who speaks, and says
/// what changes.
///
/// Slots are numbered pairs with a common stream id; an audio and a video track of one participant that belong
/// together (microphone and camera, screen sound and screen) go into the same pair, so that they are played in
/// step. Where slots are short, the tracks that the subscriber asked for come first, then one screen of each
/// participant, then the participants' first tracks before anybody's second; among these whose publisher speaks.
/// A track that is shown stays for a while, so that the picture doesn't flap.
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
    /// The participant.
    let owner: String
    /// Tracks of one group are played in step: the participant, and camera or screen.
    let group: String
    let isScreen: Bool
    /// In what its packets are; nil: not known yet, any slot will do.
    var codec: CodecFormat?
    var wish = Wish.automatic
    /// Its place in the order in which tracks came; set on arrival.
    var arrival = 0
    /// Its place, from 1, among its owner's tracks of the kind that the subscriber may want. What a participant
    /// declares of its tracks gives it no more than its share: its camera is the first, its screen the second.
    var ordinal = 1
    /// The one screen of its owner that comes before everybody's cameras, or the sound of that.
    var isLeading = false
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
    for owner in Set(new.map(\.owner)) { number(owner) }
    settle(now: now)
  }

  /// A track is over.
  mutating func remove(_ id: TrackID, now: Instant) { remove([id], now: now) }

  /// Tracks are over, all at once: places are given out again when the last of them is gone.
  mutating func remove(_ ids: [TrackID], now: Instant) {
    let over = ids.compactMap { tracks.removeValue(forKey: $0) }
    guard !over.isEmpty else { return }
    for group in Set(over.map(\.group)) where !tracks.values.contains(where: { $0.group == group }) {
      lastSpoke[group] = nil
      speaking.remove(group)
    }
    for owner in Set(over.map(\.owner)) { number(owner) }
    settle(now: now)
  }

  /// The last word about a slot holds: who was to go into it before goes where there is room.
  mutating func setWish(_ wish: Wish, for id: TrackID, now: Instant) {
    guard let owner = tracks[id]?.owner else { return }
    if let mid = wish.mid {
      for other in tracks.values where other.wish.mid == mid { tracks[other.id]?.wish = .explicit(mid: nil) }
    }
    tracks[id]?.wish = wish
    number(owner)
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
    let tracks = unplaced
    let ranks = tracks.map(rank)
    // Ranks and places are sorted, not tracks, which are dear to move.
    return tracks.indices.sorted { a, b in
      ranks[a] == ranks[b] ? tracks[a].arrival < tracks[b].arrival : ranks[a] > ranks[b]
    }.map { tracks[$0] }
  }

  /// The same in no order.
  private var unplaced: [Track] {
    let shown = Set(slots.compactMap(\.track))
    return tracks.values.filter { $0.wish != .none && !shown.contains($0.id) }
  }

  var waitsForSpeaker: Bool { unplaced.contains { speaking.contains($0.group) } }

  /// How many more slots of each kind would be filled.
  var shortage: (audio: Int, video: Int) {
    let lacking = unplaced.filter { !lacksCodec($0) }
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
    for track in tracks.values.filter({ $0.wish.mid != nil }).sorted(by: { $0.arrival < $1.arrival }) {
      guard let mid = track.wish.mid, let position = slots.firstIndex(where: { $0.mid == mid }),
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
  private mutating func number(_ owner: String) {
    let wanted = tracks.values.filter { $0.owner == owner && $0.wish != .none }
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
  private struct Rank: Comparable {
    /// 2: asked for; 1: a leading screen; 0: by share.
    let level: Int
    let ordinal: Int
    let speaks: Bool
    let spoke: Int64

    static func < (a: Rank, b: Rank) -> Bool {
      (a.level, -a.ordinal, a.speaks ? 1 : 0, a.spoke) < (b.level, -b.ordinal, b.speaks ? 1 : 0, b.spoke)
    }
  }

  private func rank(_ track: Track) -> Rank {
    if track.wish.isExplicit { return Rank(level: 2, ordinal: 1, speaks: false, spoke: 0) }
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
      guard let track = track(in: position), track.wish.mid == nil,
        !partners(position).contains(where: { $0.group == track.group }),
        let mate = groups.firstIndex(of: track.group).map({ slots[$0] }),
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
