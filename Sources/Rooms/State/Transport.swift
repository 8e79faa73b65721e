internal import AccessTokens
internal import Model
internal import Negotiation
internal import Peer

/// One way on which a participant's media comes and goes: a peer of the media plane, once something was agreed
/// on, with what it publishes and what it is to get.
struct Transport: Sendable {
  /// Of one participant at once; each has tables of its own in a worker.
  static let limit = 4

  let id: TransportID
  let role: TransportRole
  /// What was agreed on so far; nil before the first description.
  var negotiator: Negotiator?
  /// The peer of the media plane; nil while no section is agreed on.
  var peer: PeerKey?
  /// The place of a peer that an offer of ours is about, until it is answered.
  var reserved: PeerKey?
  /// The slots that our own offers bring.
  var plan = OfferPlan()
  /// As sampled last.
  var bitrates = Bitrates()
  /// How its packets travel, as sampled last; no state: the next sample says it again.
  var measured: PeerQuality?
  var published: [PublishedTrack] = []
  /// Of these, whose codec has changed.
  var codecChanges = CodecChanges()
  var slots = SlotPolicy()
  /// What was last said of tracks that aren't active; of the others nothing was said.
  var announced: [TrackID: StreamState] = [:]
  /// Tracks that are no longer allowed, whose sections are still agreed on.
  var withdrawn: [TrackKey: TrackSource] = [:]
  /// Sections that were requested and haven't come.
  var requested = SlotCount()
  /// Slots in which nothing is sent because the path has no room, with the track that each showed then.
  var starved: [UInt16: TrackKey] = [:]
  /// Of one whose client has no socket, and no handle either.
  var standalone: Standalone?

  init(id: TransportID, role: TransportRole) {
    self.id = id
    self.role = role
  }

  /// The track that comes in that section of the description, as agreed on last.
  func key(ofSection index: Int) -> TrackKey? {
    guard let peer, let sections = negotiator?.sections, sections.indices.contains(index),
      let receive = sections[index].receive
    else { return nil }
    return TrackKey(peer: peer, index: receive.index)
  }

  /// Why nothing comes of a track that has a slot; nil: it does.
  func pause(of id: TrackID, _ stalls: Stalls) -> StreamState.PauseReason? {
    if stalls.contains(id) { return .noMedia }
    guard let track = slots.tracks[id] else { return nil }
    if track.kind == .video, track.picture.quality == .off { return .off }
    let isStarved = slots.slots.contains { $0.track == id && starved[$0.index] == track.key }
    return isStarved ? .bandwidth : nil
  }

  /// Every slot with what it shows; none before anything is agreed on.
  var assignments: [SlotAssignment] {
    peer == nil ? [] : slots.slots.map { SlotAssignment(mid: $0.mid, track: $0.track) }
  }
}
