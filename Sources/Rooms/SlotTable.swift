internal import Model

/// Which of a subscriber's slots shows which track.
///
/// Slots are numbered pairs with a common stream id; an audio and a video track of one participant that belong
/// together (microphone and camera, screen sound and screen) go into the same pair, so that they are played in
/// step.
struct SlotTable {
  struct Slot: Equatable {
    let index: UInt16
    let mid: String
    let kind: MediaKind
    /// Of its pair.
    let streamID: String
    var track: Track?
  }

  /// What placing a track needs to know of it.
  struct Track: Equatable {
    let id: TrackID
    let key: TrackKey
    let kind: MediaKind
    /// Tracks of one group are played in step: the participant, and camera or screen.
    let group: String
  }

  private(set) var slots: [Slot] = []
  /// Tracks without a slot, in the order in which they came.
  private(set) var waiting: [Track] = []

  /// Takes the sections of a new description; tracks in slots that are gone wait.
  /// - Returns: the slots that changed by that.
  mutating func apply(_ sections: [SendSection]) -> [Slot] {
    let old = slots
    slots = sections.map { section in
      Slot(
        index: section.index, mid: section.mid, kind: section.kind, streamID: section.streamID,
        track: old.first { $0.index == section.index }?.track)
    }
    let lost = old.filter { slot in slot.track != nil && !slots.contains { $0.index == slot.index } }
    waiting.insert(contentsOf: lost.compactMap(\.track), at: 0)
    return fill()
  }

  /// A track that the subscriber is to get.
  mutating func add(_ track: Track) -> [Slot] {
    guard !slots.contains(where: { $0.track?.id == track.id }),
      !waiting.contains(where: { $0.id == track.id })
    else { return [] }
    waiting.append(track)
    return fill()
  }

  /// A track that is over, or no longer wanted.
  mutating func remove(_ track: TrackID) -> [Slot] {
    waiting.removeAll { $0.id == track }
    guard let position = slots.firstIndex(where: { $0.track?.id == track }) else { return [] }
    slots[position].track = nil
    let freed = slots[position].index
    let filled = fill()
    return filled.contains { $0.index == freed } ? filled : [slots[position]] + filled
  }

  /// How many more slots of each kind the waiting tracks need.
  var shortage: (audio: Int, video: Int) {
    (waiting.count { $0.kind == .audio }, waiting.count { $0.kind == .video })
  }

  private mutating func fill() -> [Slot] {
    var changed: [Slot] = []
    for track in waiting {
      guard let position = place(for: track) else { continue }
      slots[position].track = track
      waiting.removeAll { $0.id == track.id }
      changed.append(slots[position])
    }
    return changed
  }

  /// The free slot beside its group's other track; else one in an empty pair; else any.
  private func place(for track: Track) -> Int? {
    let free = slots.indices.filter { slots[$0].track == nil && slots[$0].kind == track.kind }
    let partners = { (position: Int) in
      slots.filter { $0.streamID == slots[position].streamID && $0.index != slots[position].index }
        .compactMap(\.track)
    }
    return free.first { partners($0).contains { $0.group == track.group } }
      ?? free.first { partners($0).isEmpty } ?? free.first
  }
}
