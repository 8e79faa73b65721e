internal import AccessTokens
internal import Model
internal import Negotiation
internal import Wire

/// What an offer is to send, section by section, compared with what its owner may publish.
struct OfferReview: Sendable {
  /// What is said of each section that sends, by its place in the description.
  private(set) var sources: [Int: TrackSource] = [:]
  private(set) var entries: [Int: OfferedTrack] = [:]
  /// Sections in which their owner may not publish what it says.
  private(set) var forbidden: Set<Int> = []
  /// Tracks that begin or end by the offer: each is an event for everybody in the room.
  private(set) var changes = 0
  /// Of these, those that end.
  private(set) var ends = 0

  /// Of an offer of our own, which asks for nothing.
  init() {}

  /// - Parameter limit: tracks that a participant may publish at once.
  /// - Throws: an entry of `tracks` names no section of the offer.
  init(
    _ description: SessionDescription, _ tracks: [OfferedTrack], of member: Member, on transport: Transport,
    limit: Int
  ) throws(OfferError) {
    // A transport's own bound is its negotiator's.
    let elsewhere = member.trackCount - transport.published.count
    var room = elsewhere == 0 ? Int.max : limit - member.trackCount
    var places: [String: Int] = [:]
    for (index, section) in description.media.enumerated() {
      if let mid = section.mid { places[mid] = index }
    }
    for track in tracks {
      guard let index = places[track.mid] else {
        throw .field("tracks.mid: the offer has no section with mid \(track.mid)")
      }
      entries[index] = track
    }
    for (index, section) in description.media.enumerated() {
      let known = transport.key(ofSection: index)
      let published = transport.published.first { $0.key == known }
      guard let kind = section.kind, section.isRTP, !section.isStopped,
        (description.attributes(of: section).direction ?? .sendrecv).sends
      else {
        if published != nil {
          changes += 1
          ends += 1
        }
        continue
      }
      // A track that is published is what it was published as, whatever is said of it later.
      if let published {
        sources[index] = published.info.source
        continue
      }
      let withdrawn = known.flatMap { transport.withdrawn[$0] }
      #if PLANTED_DEFECTS
        let source =
          entries[index]?.source ?? (PlantedDefect.isOn(.withdrawnSource) ? nil : withdrawn)
          ?? member.usualSource(of: kind, on: transport)
      #else
        let source = entries[index]?.source ?? withdrawn ?? member.usualSource(of: kind, on: transport)
      #endif
      sources[index] = source
      if transport.role.publishes, room > 0,
        member.mayPublish(source, as: kind, on: transport, inNewSection: known == nil)
      {
        changes += 1
        room -= 1
      } else if withdrawn == nil {
        // What was withdrawn stays agreed on, and nothing of it is published: a client need not take back what was
        // taken from it.
        forbidden.insert(index)
      }
    }
  }
}

extension MediaDescription {
  /// nil: neither audio nor video.
  fileprivate var kind: MediaKind? {
    switch media {
    case "audio": .audio
    case "video": .video
    default: nil
    }
  }
}
