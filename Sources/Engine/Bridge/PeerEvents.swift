public import Model
public import Peer
internal import Synchronization

/// What happened to one peer since it was last asked: flags, not a list, so their number is bounded by the
/// peers and nothing is ever lost.
public struct PeerEvents: Sendable {
  public let peer: PeerKey
  /// The handshake is finished and verified; media may flow.
  public var connected: SRTPProfile?
  /// Receive sections, by index, whose first packet came or whose codec changed, with that codec; of RED it is that of
  /// the blocks.
  public var startedTracks: [UInt16: CodecFormat] = [:]
  /// Slots that can't be fed since, because the path has no room, or can again.
  public var slots: [UInt16: SlotFlow] = [:]
  /// Receive sections, by index, with several encodings: which of them are watched, as bits in the order of the description.
  public var watched: [UInt16: UInt8] = [:]
  /// The far end has closed its end of DTLS. The peer is there until the control plane closes it.
  public var saidFarewell = false
  /// What its flight recorder had, where it failed.
  public var recording: FlightRecording?
  /// The peer is gone, with all its tables; always the last.
  public var closed: PeerCloseReason?

  init(peer: PeerKey) { self.peer = peer }
}

/// What becomes of what a slot is fed with.
public struct SlotFlow: Equatable, Sendable {
  public var track: TrackKey
  /// Nothing leaves: the path has no room.
  public var isStarved: Bool
}

/// State events on their way up: coalesced per peer, in a table as large as the peers.
final class EventTable: Sendable {
  private struct Table {
    var byPeer: [PeerKey: PeerEvents] = [:]
    /// Peers in the order of their first event.
    var order: [PeerKey] = []
  }

  private let table = Mutex(Table())
  private let wake: @Sendable () -> Void

  /// - Parameter wake: called when the table stops being empty.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func note(_ peer: PeerKey, _ change: (inout PeerEvents) -> Void) {
    let wasEmpty = table.withLock { table in
      let wasEmpty = table.order.isEmpty
      if table.byPeer[peer] == nil { table.order.append(peer) }
      change(&table.byPeer[peer, default: PeerEvents(peer: peer)])
      return wasEmpty
    }
    if wasEmpty { wake() }
  }

  func drain() -> [PeerEvents] {
    table.withLock { table in
      let events = table.order.compactMap { table.byPeer[$0] }
      table.byPeer.removeAll(keepingCapacity: true)
      table.order.removeAll(keepingCapacity: true)
      return events
    }
  }
}
