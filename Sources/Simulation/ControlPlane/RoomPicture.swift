internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling
internal import SyntheticPeers

/// What a participant believes of its room: who is there, what each publishes and which of it is muted, and what plays
/// where.
struct RoomPicture: Equatable {
  /// Whether a track is muted, and by whom.
  enum Mute: Equatable {
    case none
    case publisher
    /// The publisher may have muted it too.
    case admin

    init(_ isMuted: Bool, byAdmin: Bool) { self = byAdmin ? .admin : isMuted ? .publisher : .none }
  }

  struct Track: Equatable {
    var kind: String
    var source: String
    var mute: Mute
  }

  struct Person: Equatable {
    var identity: String
    /// By id.
    var tracks: [String: Track]
  }

  /// By id; oneself among them.
  var people: [String: Person] = [:]
  /// Tracks by mid; empty slots are not here.
  var slots: [String: String] = [:]

  init() {}

  /// As the server has it.
  /// - Parameter id: of whose slots.
  init(_ all: [ParticipantSnapshot], as id: String) {
    // Hidden participants are shown to themselves alone.
    for snapshot in all where !snapshot.grants.hidden || snapshot.info.id.text == id {
      people[snapshot.info.id.text] = Person(
        identity: snapshot.info.identity,
        tracks: Dictionary(
          snapshot.info.tracks.map {
            (
              $0.id.text,
              Track(
                kind: $0.kind == .audio ? "audio" : "video", source: $0.source.rawValue,
                mute: Mute($0.muted, byAdmin: $0.mutedByAdmin))
            )
          },
          uniquingKeysWith: { first, _ in first }))
      guard snapshot.info.id.text == id else { continue }
      for subscription in snapshot.subscriptions {
        if let mid = subscription.mid { slots[mid] = subscription.track.text }
      }
    }
  }

  func knows(_ track: String) -> Bool { people.values.contains { $0.tracks[track] != nil } }

  mutating func insert(_ participant: ParticipantBody) {
    people[participant.id] = Person(
      identity: participant.identity,
      tracks: Dictionary(
        participant.tracks.map { ($0.id, Track($0)) }, uniquingKeysWith: { first, _ in first }))
  }

  /// - Returns: what is wrong with the event.
  mutating func apply(_ event: EventBody) -> String? {
    guard let subject = event.participant else { return nil }
    let id = subject.id
    let isKnown = people[id] != nil
    switch event.type {
    case .participantJoined:
      guard case .whole(let participant) = subject else { return "not all of the participant is in it" }
      insert(participant)
      return isKnown ? "who joins is there already" : nil
    case .participantLeft:
      people[id] = nil
      return isKnown ? nil : "who leaves was not there"
    case .trackPublished, .trackMuted, .trackUnmuted:
      guard let track = event.track else { return "no track in it" }
      let before = people[id]?.tracks[track.id]
      let after = Track(track)
      people[id]?.tracks[track.id] = after
      if event.type == .trackPublished { return before == nil ? nil : "the track is there already" }
      // Each event changes something, and its type says which state it leads to.
      guard let before, before != after, track.muted == (after.mute != .none) else {
        return "the track was not so before"
      }
      return track.muted == (event.type == .trackMuted) ? nil : "the track was not so before"
    case .trackUnpublished:
      guard let track = event.track else { return "no track in it" }
      return people[id]?.tracks.removeValue(forKey: track.id) == nil ? "the track was not there" : nil
    default: return isKnown ? nil : "it is of no participant who is there"
    }
  }

  mutating func apply(_ assignments: [Slot]) {
    for slot in assignments { slots[slot.mid] = slot.track }
  }

  /// Where it differs from another, in words.
  func difference(from other: RoomPicture) -> String {
    var parts: [String] = []
    for id in Set(people.keys).union(other.people.keys).sorted() where people[id] != other.people[id] {
      parts.append("\(id): \(Self.text(people[id])) instead of \(Self.text(other.people[id]))")
    }
    for mid in Set(slots.keys).union(other.slots.keys).sorted() where slots[mid] != other.slots[mid] {
      parts.append("slot \(mid): \(slots[mid] ?? "nothing") instead of \(other.slots[mid] ?? "nothing")")
    }
    return parts.joined(separator: "; ")
  }

  private static func text(_ person: Person?) -> String {
    guard let person else { return "no participant" }
    let tracks = person.tracks.sorted { $0.key < $1.key }.map {
      "\($0.key) (\($0.value.source))\($0.value.mute == .none ? "" : " muted by \($0.value.mute)")"
    }
    return "\(person.identity) with \(tracks.isEmpty ? "nothing" : tracks.joined(separator: ", "))"
  }
}

extension RoomPicture.Track {
  fileprivate init(_ track: TrackBody) {
    self.init(
      kind: track.kind == .audio ? "audio" : "video", source: track.source.rawValue,
      mute: RoomPicture.Mute(track.muted, byAdmin: track.mutedByAdmin))
  }
}
