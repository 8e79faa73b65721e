public import Engine
internal import Model
internal import Peer

extension Room {
  /// The peers of a participant, with the numbers of its transports.
  func peersToRecord(
    of identity: String
  ) throws(AdministrationError) -> (id: ParticipantID, peers: [(key: PeerKey, transport: TransportID)]) {
    guard let member = state.member(of: identity) else { throw .unknownParticipant }
    guard flightRequests.take(now: media.now) else { throw .tooOften }
    let transports = state.members[member].transports
    return (state.members[member].id, transports.compactMap { one in one.peer.map { ($0, one.id) } })
  }

  /// Whose a peer is; nil: no one's any more.
  func owner(of peer: PeerKey) -> (id: ParticipantID, identity: String, transport: TransportID)? {
    state.owner(of: peer).map { place in
      let member = state.members[place.member]
      return (member.id, member.identity, state[place].id)
    }
  }
}

extension RoomDirectory {
  /// What the flight recorder of a participant has: a capture file (pcapng) with a section for each of its transports that the
  /// media plane has.
  /// - Throws: `tooOften`: more than one in a second is asked for of a room, or too many at once of the server.
  public func flight(of identity: String, in name: String) async throws(AdministrationError) -> [UInt8] {
    guard let room = room(of: name) else { throw .unknownRoom }
    let (id, peers) = try await room.peersToRecord(of: identity)
    guard flightDesk.begin(now: media.now) else { throw .tooOften }
    defer { flightDesk.end() }
    var file: [UInt8] = []
    for (key, transport) in peers {
      guard let recording = await media.port.recording(key, Room.explainPatience) else { continue }
      file += recording.capture(title: Flights.title(id, transport, "live"), epoch: terms.epoch)
    }
    guard file.isEmpty else { return file }
    return FlightRecording.none.capture(title: "\(id.text): nothing yet", epoch: terms.epoch)
  }

  /// What is written of sessions that failed, for the operator; nil: nothing is.
  public var flightCounts: FlightFiles.Counts? { flights?.counts }

  /// Has the record of a peer written that failed. Called before its room hears of the end.
  func keepFlight(_ events: PeerEvents, of room: Room?) async {
    guard let recording = events.recording, let reason = events.closed, let flights else { return }
    let owner = await room?.owner(of: events.peer)
    let name = owner.map { Flights.name($0.id, $0.transport) } ?? "peer-\(events.peer.rawValue)"
    let title =
      owner.map { Flights.title($0.id, $0.transport, reason.rawValue) }
      ?? "its room has ended, \(reason.rawValue)"
    flights.write(
      FailedFlight(
        recording, reason, room: room?.name ?? "", identity: owner?.identity ?? "", name: name, title: title))
  }
}

extension FlightFiles {
  /// Has the record of a peer written whose session was lost, before the peer is closed.
  func keep(
    _ peer: PeerKey, of id: ParticipantID, _ identity: String, _ transport: TransportID, in room: String
  ) {
    keep(
      peer, room: room, identity: identity, name: Flights.name(id, transport),
      title: Flights.title(id, transport, PeerCloseReason.connectionLost.rawValue))
  }
}

/// What records are called.
private enum Flights {
  static func name(_ id: ParticipantID, _ transport: TransportID) -> String {
    "\(id.text)-\(transport.number)"
  }

  static func title(_ id: ParticipantID, _ transport: TransportID, _ state: String) -> String {
    "\(id.text), transport \(transport.number), \(state)"
  }
}
