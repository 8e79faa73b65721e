internal import Model
internal import Signalling

/// Whose track plays in which slot, as the server says.
struct Roster {
  enum Owner: Equatable {
    /// A publisher of the load, by its number.
    case publisher(Int)
    /// Somebody else in the room.
    case other
  }

  /// The publishers of tracks.
  private var owners: [String: Owner] = [:]
  /// The tracks of slots, by the names of their sections.
  private var tracks: [String: String] = [:]

  /// What identities of the load begin with, before their numbers.
  private let prefix: String
  /// What a server may have it keep.
  private static let limit = 100_000

  /// - Parameter name: as `LoadOptions.Names.identity`.
  init(identities name: String = "load") { prefix = name + "-" }

  /// Who publishes what is sent in a section; nil where no track was assigned to it.
  func owner(of mid: String) -> Owner? { tracks[mid].flatMap { owners[$0] } }

  mutating func note(_ participants: [Written<ParticipantBody>]) {
    for case .value(let participant) in participants {
      for track in participant.tracks { note(track.id, of: participant.identity) }
    }
  }

  mutating func note(_ slots: [Slot]) {
    for slot in slots where tracks.count < Self.limit || tracks[slot.mid] != nil {
      tracks[slot.mid] = slot.track
    }
  }

  mutating func note(_ event: EventBody) {
    guard let track = event.track, let publisher = event.participant else { return }
    switch event.type {
    case .trackPublished: note(track.id, of: publisher.identity)
    case .trackUnpublished: owners[track.id] = nil
    default: break
    }
  }

  private mutating func note(_ track: String, of identity: String) {
    guard owners.count < Self.limit else { return }
    let number = identity.hasPrefix(prefix) ? Int(identity.dropFirst(prefix.count)) : nil
    owners[track] = number.map { .publisher($0) } ?? .other
  }
}
