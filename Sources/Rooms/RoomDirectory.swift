public import AccessTokens
public import Engine
public import Logging
internal import Model
internal import Peer
public import Recording
internal import Synchronization

/// All rooms of the server by name, and the way of the media plane's events to them.
public final class RoomDirectory: Sendable {
  public struct Limits: Sendable {
    public var rooms: Int
    public var participantsPerRoom: Int
    /// In all rooms together.
    public var participants: Int
    /// Whether a room is made for the first who comes.
    public var makesRooms = true
    /// Of a room of which nothing else is said.
    public var defaults = RoomSettings()
    /// Seconds for which it is remembered who was removed.
    public var removalMemory = 30 * 86_400

    public init(rooms: Int = 10_000, participantsPerRoom: Int = 1_000, participants: Int = 10_000) {
      self.rooms = rooms
      self.participantsPerRoom = participantsPerRoom
      self.participants = participants
    }
  }

  let registry: RoomRegistry<Room>
  let media: MediaPlane
  let terms: RoomTerms
  let log: Log
  let flights: FlightFiles?
  let studio: RecordingStudio?
  let flightDesk = FlightDesk()
  let thumbnailDesk = ThumbnailDesk()

  /// - Parameters:
  ///   - journal: where settings, events and removals are written down; nil: they end with the process.
  ///   - reconnectGrace: how long a session lives on without a socket.
  ///   - studio: what records rooms; nil: nothing does.
  ///   - flights: where flight recorders of sessions that failed are written; nil: nowhere.
  ///   - wallSeconds: seconds since 1970, as those who make and read tokens have them: a removal is compared with the times in
  ///     tokens. nil: the media plane's time line, which is never stepped, for servers whose tokens go by that too.
  public init(
    media: MediaPlane, limits: Limits, log: Log, journal: (any RoomJournal)? = nil,
    reconnectGrace: Duration = .seconds(15), events: EventLog.Limits = EventLog.Limits(),
    flights: FlightFiles? = nil, studio: RecordingStudio? = nil, wallSeconds: (@Sendable () -> Int)? = nil
  ) {
    self.media = media
    self.flights = flights
    self.studio = studio
    terms = RoomTerms(
      defaults: limits.defaults, participantLimit: limits.participantsPerRoom, reconnectGrace: reconnectGrace,
      policy: media.policy, epoch: media.port.epoch)
    let bounds = DirectoryState<Room>.Limits(
      rooms: limits.rooms, participants: limits.participants, makesRooms: limits.makesRooms)
    let records = RoomRecords(
      events: EventLog(limits: events, journal: journal) { media.now }, memory: limits.removalMemory,
      journal: journal)
    registry = RoomRegistry(
      limits: bounds, records: records,
      wallSeconds: wallSeconds ?? { Int(media.wallTime.milliseconds / 1_000) })
    self.log = log
  }

  /// From now on it is asked who may come in, and hears whose media is there.
  public func oversee(by overseer: any RoomOverseer) {
    registry.overseer.withLock { $0 = overseer }
  }

  /// - Returns: the stay by which it is there as of now, for those who oversee rooms.
  func admit(
    _ identity: String, device: String?, to room: String, grants: Grants
  ) async throws(JoinError) -> String? {
    guard let overseer = registry.overseer.withLock({ $0 }) else { return nil }
    do throws(JoinError) {
      return try await overseer.admit(identity, device: device, to: room, grants: grants)
    } catch { throw refuse(error) }
  }

  /// Tells the overseer that an identity it admitted was refused by the room.
  func turnAway(_ identity: String, device: String?, from room: String) {
    registry.overseer.withLock { $0 }?.turnedAway(identity, device: device, from: room)
  }

  /// Somebody is in.
  /// - Parameters:
  ///   - id: of the participant.
  ///   - arrival: what has come of it.
  /// - Throws: it may not stay.
  func entered(
    _ identity: String, device: String?, _ room: Room, grants: Grants, as id: ParticipantID,
    by arrival: Arrival
  ) async throws(JoinError) {
    guard let overseer = registry.overseer.withLock({ $0 }) else { return }
    do throws(JoinError) {
      let stay = try await overseer.entered(identity, device: device, room.name, grants: grants)
      if let stay { _ = await room.handle(.stay(id, stay, by: arrival)) }
    } catch { throw refuse(error) }
  }

  /// What happened in every room.
  public var events: EventLog { registry.records.events }

  // MARK: - The media plane

  /// How often samples of the media plane are read.
  static let sampling = Duration.milliseconds(200)

  /// Passes events and samples of the media plane to their rooms, until it stops.
  public func run() async {
    let sampler = Task {
      while !Task.isCancelled {
        try await media.port.pause(Self.sampling)
        await sample()
        await ring()
        await sweep()
      }
    }
    let follower = Task { await followRecordings() }
    defer {
      sampler.cancel()
      follower.cancel()
    }
    for await _ in media.port.eventsReady {
      for events in media.port.drainEvents() {
        let room = registry.withRooms { $0.room(of: events.peer) }
        await keepFlight(events, of: room)
        _ = await room?.handle(.media(events))
        if events.closed != nil, registry.withRooms({ $0.forget(events.peer) }) {
          media.release(events.peer)
        }
      }
    }
  }

  private func sample() async {
    let levels = Dictionary(grouping: media.port.levels(), by: \.key.peer)
    let samples = media.port.qualities().map { peer, quality in
      PeerSample(peer: peer, quality: quality, levels: levels[peer, default: []].map { ($0, $1) })
    }
    let byRoom = registry.withRooms { rooms in
      Dictionary(grouping: samples) { sample in rooms.room(of: sample.peer)?.number }
        .compactMap { _, samples in rooms.room(of: samples[0].peer).map { ($0, samples) } }
        .sorted { $0.0.number < $1.0.number }
    }
    let flows = byRoom.map { room, samples in
      (room.number, samples.map(\.quality.bitrates).reduce(Bitrates(), +))
    }
    let ended = registry.withRooms { $0.note(Dictionary(flows, uniquingKeysWith: { $1 })) }
    for (room, samples) in byRoom { _ = await room.handle(.samples(samples)) }
    // Else their last speakers and figures would stand, also for who comes next.
    for room in ended { _ = await room.handle(.samples([])) }
  }

  /// Calls the rooms whose time has come.
  func ring() async {
    let now = media.now
    registry.records.expire(now: registry.wallSeconds())
    for room in registry.withRooms({ $0.due(now: now) }) { _ = await room.handle(.alarm) }
  }

  /// Ends rooms whose time has come.
  func sweep() async {
    let now = media.now
    for room in registry.withRooms({ $0.sweep(now: now) }) { _ = await room.handle(.finish) }
  }

  // MARK: - Joining

  /// Lets somebody in; the room is made if need be. An identity that is in already by a session of its own is replaced; one that is
  /// here by transports without a socket goes on as the same participant, with this session beside them.
  /// - Parameters:
  ///   - issued: when the token counts as issued, seconds since 1970; nil: not known.
  ///   - device: of the person's, as the token has it.
  ///   - role: of the transport that it has from the beginning; nil: it opens them itself.
  ///   - isAttended: the front door reads notices until it says `absent`; else the session has no socket whose end would
  ///     end it, and goes with its last transport, with its media, or as it leaves.
  ///   - invitation: the id of the one that has given out the token; nil: none has.
  public func join(
    room name: String, identity: String, name display: String?, metadata: String? = nil,
    attributes: [String: String] = [:], grants: Grants, issued: Int? = nil, device: String? = nil,
    opening role: TransportRole? = .both,
    isAttended: Bool = true, isAdmitted: Bool = false, invitation: String? = nil, admittedBy: String? = nil
  ) async throws(JoinError) -> ParticipantSession {
    let newcomer = Newcomer(
      identity: identity, name: display, metadata: metadata, attributes: attributes, grants: grants,
      issued: issued, opens: role, isAttended: isAttended, isAdmitted: isAdmitted,
      admittedBy: admittedBy.map { InvitationID(known: $0) },
      invitation: invitation.map { InvitationID(known: $0) })
    guard case .joined(let session) = try await enter(newcomer, room: name, device: device) else {
      throw noteRefusal(.admissionRequired)
    }
    return session
  }

  /// As `join`, of a client that may wait until a host of the room lets it in.
  /// - Parameters:
  ///   - isAdmitted: its token says that it needn't.
  ///   - admittedBy: it needn't while the invitation of that id holds.
  ///   - patience: for how long it may; the room waits for ten minutes at most.
  public func enter(
    room name: String, identity: String, name display: String?, metadata: String? = nil,
    attributes: [String: String] = [:], grants: Grants, issued: Int? = nil, device: String? = nil,
    opening role: TransportRole? = .both, isAdmitted: Bool, patience: Duration, invitation: String? = nil,
    admittedBy: String? = nil
  ) async throws(JoinError) -> RoomEntry {
    let newcomer = Newcomer(
      identity: identity, name: display, metadata: metadata, attributes: attributes, grants: grants,
      issued: issued, opens: role, isAdmitted: isAdmitted,
      admittedBy: admittedBy.map { InvitationID(known: $0) }, patience: patience,
      invitation: invitation.map { InvitationID(known: $0) })
    return try await enter(newcomer, room: name, device: device)
  }

  private func enter(
    _ given: Newcomer, room name: String, device: String?
  ) async throws(JoinError) -> RoomEntry {
    var newcomer = given
    let (identity, grants) = (newcomer.identity, newcomer.grants)
    let stay = try await admit(identity, device: device, to: name, grants: grants)
    newcomer.stay = stay
    let (room, entry): (Room, Room.Entry)
    do throws(JoinError) { (room, entry) = try await enter(newcomer, in: name) } catch {
      turnAway(identity, device: device, from: name)
      throw noteRefusal(error)
    }
    switch entry {
    case .waiting(let ticket):
      return .waiting(WaitingParticipant(ticket, in: room, of: self, grants: grants, device: device))
    case .session(let session, let isNew):
      return .joined(
        try await begin(session, isNew: isNew, identity: identity, device: device, in: room, grants: grants))
    }
  }

  /// Has the room let in one who was admitted, or wait.
  private func enter(_ newcomer: Newcomer, in name: String) async throws(JoinError) -> (Room, Room.Entry) {
    if let refused = registry.refusal(of: newcomer, in: name) { throw refused }
    let room = try registry.withRooms { rooms throws(JoinError) in
      try rooms.begin(newcomer.identity, in: name) { make(name, terms.defaults, number: $0) }
    }
    return (room, try await room.enter(newcomer))
  }

  /// A session is in.
  /// - Parameter isNew: its participant has come with it.
  func begin(
    _ session: ParticipantSession, isNew: Bool, identity: String, device: String?, in room: Room,
    grants: Grants
  ) async throws(JoinError) -> ParticipantSession {
    if isNew { registry.withRooms { $0.noteStarted() } }
    do throws(JoinError) {
      try await entered(
        identity, device: device, room, grants: grants, as: session.id, by: .session(session.number))
    } catch {
      await session.leave()
      throw error
    }
    return session
  }

  private func refuse(_ error: JoinError) -> JoinError { noteRefusal(error) }

  /// Counts who isn't let in.
  func noteRefusal(_ error: JoinError) -> JoinError { registry.withRooms { $0.refuse(error) } }

  /// - Parameter life: under which id it goes on; nil: it begins.
  func make(_ name: String, _ settings: RoomSettings, number: UInt64, life: RoomLife? = nil) -> Room {
    Room(
      number: number, name: name, life: life, settings: settings, terms: terms, media: media,
      registry: registry, studio: studio, flights: flights, log: log)
  }

  func room(of name: String) -> Room? { registry.withRooms { $0.room(name) } }

  /// What should be nothing once everybody has left: rooms, sessions, peers that the media plane still has, and rooms
  /// that are to be called.
  package var remainders: (rooms: Int, sessions: Int, peers: Int, alarms: Int) {
    registry.withRooms { $0.remainders }
  }
}
