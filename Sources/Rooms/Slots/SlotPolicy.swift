internal import Model

/// Which of a subscriber's slots shows which track: a value that is given what there is and who speaks, and says
/// what changes.
///
/// Slots are numbered pairs with a common stream id; an audio and a video track of one participant that belong
/// together (microphone and camera, screen sound and screen) go into the same pair, so that they are played in
/// step. Where slots are short, the tracks that the subscriber asked for come first, then one screen of each
/// participant, then the participants' first tracks before anybody's second; among these whose publisher speaks.
/// A track that is shown stays for a while, so that the picture doesn't flap.
struct SlotPolicy: Sendable {
  struct Slot: Equatable, Sendable {
    let index: UInt16
    let mid: String
    let kind: MediaKind
    /// Of its pair.
    let streamID: String
    let codecs: [CodecFormat]
    /// What it can show.
    let formats: CodecSet
    var track: TrackID?
    /// Since when it has shown that.
    var since: Instant

    init(
      index: UInt16, mid: String, kind: MediaKind, streamID: String, codecs: [CodecFormat], track: TrackID?,
      since: Instant
    ) {
      (self.index, self.mid, self.kind, self.streamID) = (index, mid, kind, streamID)
      (self.codecs, self.track, self.since) = (codecs, track, since)
      formats = CodecSet(takenBy: codecs)
    }
  }

  /// What placing a track needs to know of it.
  struct Track: Equatable, Sendable {
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
    var preference = Preference.automatic
    /// How the subscriber shows it.
    var picture = PicturePreference()
    /// Its place in the order in which tracks came; set on arrival.
    var arrival = 0
    /// Its place, from 1, among its owner's tracks of the kind that the subscriber may want. What a participant
    /// declares of its tracks gives it no more than its share: its camera is the first, its screen the second.
    var ordinal = 1
    /// The one screen of its owner that comes before everybody's cameras, or the sound of that.
    var isLeading = false
  }

  enum Preference: Equatable, Sendable {
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

  /// Written here and in `SlotPolicy+State.swift` alone, like all of it.
  var slots: [Slot] = []
  var tracks: [TrackID: Track] = [:]
  var arrivals = 0
  var speaking: Set<String> = []
  var lastSpoke: [String: Instant] = [:]
  /// By slot: what was handed out by `takeChanges`.
  var handedOut: [UInt16: TrackID] = [:]
  /// By slot: what was handed out by `takePictures`, where it says anything.
  var handedOutPictures: [UInt16: PicturePreference] = [:]

  // MARK: - What it is given

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
  mutating func setPreference(_ preference: Preference, for id: TrackID, now: Instant) {
    guard let owner = tracks[id]?.owner else { return }
    if let mid = preference.mid {
      for other in tracks.values where other.preference.mid == mid {
        tracks[other.id]?.preference = .explicit(mid: nil)
      }
    }
    tracks[id]?.preference = preference
    number(owner)
    settle(now: now)
  }

  mutating func setPictures(_ pictures: [TrackID: PicturePreference]) {
    for (id, picture) in pictures { tracks[id]?.picture = picture }
  }

  mutating func setCodec(_ codec: CodecFormat, of id: TrackID, now: Instant) {
    setCodecs([id: codec], now: now)
  }

  /// Of several tracks, all at once.
  mutating func setCodecs(_ codecs: [TrackID: CodecFormat], now: Instant) {
    let known = codecs.filter { tracks[$0.key] != nil }
    guard !known.isEmpty else { return }
    for (id, codec) in known { tracks[id]?.codec = codec }
    settle(now: now)
  }

  /// Groups of those who speak right now; to be given as long as a participant that speaks isn't shown.
  mutating func setSpeaking(_ groups: Set<String>, now: Instant) {
    for group in groups.union(speaking) { lastSpoke[group] = now }
    speaking = groups
    settle(now: now)
  }

  /// A participant is gone: when it spoke is of no more use, also where it had no track here.
  mutating func forget(_ groups: [String]) {
    for group in groups {
      lastSpoke[group] = nil
      speaking.remove(group)
    }
  }

  // MARK: - What is asked

  /// What some slot of its kind can show, since a track goes where it can be shown; nil where there is none.
  var videoFormats: CodecSet? {
    slots.filter { $0.kind == .video }.map(\.formats).reduce(nil) { $0?.union($1) ?? $1 }
  }

  /// Slots that show something else than when this was last asked.
  mutating func takeChanges() -> [Slot] {
    let changed = slots.filter { $0.track != handedOut[$0.index] }
    handedOut = [:]
    for slot in slots { handedOut[slot.index] = slot.track }
    return changed
  }

  /// Slots whose track is shown otherwise than when this was last asked.
  mutating func takePictures() -> [(slot: UInt16, picture: PicturePreference)] {
    var now: [UInt16: PicturePreference] = [:]
    for slot in slots {
      guard let picture = slot.track.flatMap({ tracks[$0]?.picture }), picture != PicturePreference() else {
        continue
      }
      now[slot.index] = picture
    }
    let known = handedOutPictures
    handedOutPictures = now
    return slots.compactMap { slot in
      now[slot.index] == known[slot.index] ? nil : (slot.index, now[slot.index] ?? PicturePreference())
    }
  }

  func key(of id: TrackID) -> TrackKey? { tracks[id]?.key }
  func group(of id: TrackID) -> String? { tracks[id]?.group }
  func kind(of id: TrackID) -> MediaKind? { tracks[id]?.kind }
  func find(_ text: String) -> TrackID? {
    let id = TrackID(known: text)
    return tracks[id] == nil ? nil : id
  }
  /// Of these tracks those that have a slot.
  func shown(of tracks: Set<TrackID>) -> [TrackID] { slots.compactMap(\.track).filter(tracks.contains) }
  func hasPreference(_ id: TrackID) -> Bool { tracks[id].map { $0.preference != .automatic } ?? false }
  /// Tracks about which the subscriber has said something.
  var preferenceCount: Int { tracks.values.count { $0.preference != .automatic } }

  /// nil for a track that isn't wanted, or isn't known.
  func standing(of id: TrackID) -> Standing? {
    guard let track = tracks[id], track.preference != .none else { return nil }
    return slots.contains { $0.track == id } ? .shown : lacksCodec(track) ? .codecMissing : .waiting
  }

  /// Every wanted track's.
  var standings: [TrackID: Standing] {
    let shown = Set(slots.compactMap(\.track))
    return tracks.filter { $0.value.preference != .none }.mapValues {
      shown.contains($0.id) ? .shown : lacksCodec($0) ? .codecMissing : .waiting
    }
  }

  /// Tracks that the subscriber wants, in the order of their ids.
  /// - Parameter most: where there are more than these, those that are shown come first, then those that came first.
  func wanted(most: Int = .max) -> [Track] {
    let inOrder = { (tracks: [Track]) in tracks.sorted { $0.id.text < $1.id.text } }
    let all = tracks.values.filter { $0.preference != .none }
    guard all.count > most else { return inOrder(all) }
    let shown = Set(slots.compactMap(\.track))
    let rest = all.filter { !shown.contains($0.id) }.sorted { $0.arrival < $1.arrival }
    let first = inOrder(all.filter { shown.contains($0.id) })
    return Array((first + inOrder(Array(rest.prefix(max(0, most - first.count))))).prefix(most))
  }

  func lacksCodec(_ track: Track) -> Bool {
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
    return tracks.values.filter { $0.preference != .none && !shown.contains($0.id) }
  }

  var waitsForSpeaker: Bool { unplaced.contains { speaking.contains($0.group) } }

  /// How many more slots of each kind would be filled.
  var shortage: SlotCount {
    let lacking = unplaced.filter { !lacksCodec($0) }
    let more = { (kind: MediaKind) in
      max(0, min(lacking.count { $0.kind == kind }, Self.slotLimit - slots.count { $0.kind == kind }))
    }
    return SlotCount(audio: more(.audio), video: more(.video))
  }
}
