internal import AccessTokens
internal import Model

/// One participant session, as its room's state has it.
struct Member: Sendable {
  let id: ParticipantID
  let identity: String
  let joined: WallTime
  /// The last event that the `JoinedState` of its handle contains.
  private(set) var firstEvent: Int
  private(set) var name: String?
  private(set) var metadata: String?
  private(set) var attributes: [String: String]
  /// Of its metadata and attributes in JSON, as `RoomState.review` has counted them.
  private(set) var stateBytes: Int
  /// What the participant may do, of which each transport may do a part: see `grants(on:)`. Changed by `RoomState.permit` and
  /// `RoomState.attach` alone.
  var grants: Grants
  /// What its handle may do, where that is less; nil: all of it.
  var sessionGrants: Grants?
  /// The session of its handle, by number; nil: it is here by transports without a socket alone.
  private(set) var session: UInt32?
  private(set) var sessionsBegun: UInt32 = 0
  /// In the order in which they were opened; the first is the front door's own, where it has one.
  var transports: [Transport] = []
  /// How many were ever opened: a transport's number is not used again.
  private(set) var transportsOpened: UInt32 = 0
  /// What was last said of it, and when, so that it doesn't flap.
  var quality: Quality?
  var floor = Floor()
  var presence: Presence
  /// As those who oversee the room have named it.
  var stay = Stay()
  /// Mutes of administrators that outlived their tracks.
  var standingMutes = StandingMutes()
  private let lastInfo = LastInfo()

  /// Whether it speaks, and asks to.
  struct Floor: Equatable, Sendable {
    /// It speaks, or did last. Written by `RoomState.describeSpeakers` and its bytes' reader alone.
    var isLastSpeaker = false
    /// Since when its hand is raised.
    var handRaised: WallTime?
  }

  struct Quality: Equatable, Sendable {
    var value: ConnectionQuality
    var since: Instant
  }

  /// - Parameters:
  ///   - info: its tracks and permissions are not read: they are those of its transports and of its grants.
  ///   - stateBytes: of its metadata and attributes, from `RoomState.review`.
  init(
    _ info: ParticipantInfo, stateBytes: Int, grants: Grants, joined: WallTime, firstEvent: Int,
    presence: Presence
  ) {
    (id, identity, name) = (info.id, info.identity, info.name)
    (metadata, attributes) = (info.metadata, info.attributes)
    self.stateBytes = stateBytes
    self.grants = grants
    self.joined = joined
    self.firstEvent = firstEvent
    self.presence = presence
  }

  /// As everybody in the room may see it.
  var info: ParticipantInfo {
    ParticipantInfo(
      id: id, identity: identity, name: name, metadata: metadata, attributes: attributes,
      permissions: grants.permissions, tracks: transports.flatMap { $0.published.map(\.info) },
      handRaised: floor.handRaised)
  }

  /// As `info`, for a participant that joins. It shares its encoded text with earlier ones until the member's state changes.
  var knownInfo: ParticipantInfo { lastInfo.same(as: info) }

  /// Takes name, metadata and attributes.
  mutating func describe(_ info: ParticipantInfo, stateBytes bytes: Int) {
    (name, metadata, attributes) = (info.name, info.metadata, info.attributes)
    stateBytes = bytes
  }

  mutating func add(_ transport: Transport) {
    transportsOpened = transport.id.number
    transports.append(transport)
  }

  /// As many were opened, also before those that are left.
  mutating func setTransportsOpened(_ count: UInt32) { transportsOpened = max(transportsOpened, count) }

  /// What an event costs that carries this to everybody: one request, and one for each 8 KiB of it.
  var eventCost: Double { StateBudget.eventCost(stateBytes) }

  /// What it is in JSON, about, to each who joins.
  var bodyBytes: Int {
    guard !grants.hidden else { return 0 }
    let tracks = transports.reduce(0) { sum, transport in
      transport.published.reduce(sum) { $0 + 128 + ($1.info.name?.utf8.count ?? 0) }
    }
    return 256 + identity.utf8.count + (name?.utf8.count ?? 0) + stateBytes + tracks
  }

  var trackCount: Int { sums.tracks }

  var sums: TransportSums { TransportSums(transports) }

  /// Has a handle again, or for the first time.
  mutating func beginSession(after event: Int) {
    sessionsBegun += 1
    session = sessionsBegun
    firstEvent = event
  }

  /// It has none any more, and stays by its other transports.
  mutating func endSession() {
    session = nil
    sessionGrants = nil
    presence.change(isAttended: false)
  }

  /// As they were before.
  mutating func restoreSessions(current: UInt32?, begun: UInt32) {
    (session, sessionsBegun) = (current, begun)
  }

  /// Whether it has transports that outlive its handle.
  var hasStandalone: Bool { transports.contains { $0.standalone != nil } }

  /// Transports by which it is known whether it is there: those of its handle, if it has one.
  func isSign(_ transport: Transport) -> Bool { session == nil || transport.standalone == nil }

  /// Nothing is expected on any of them.
  var isWithoutMedia: Bool { !transports.contains { isSign($0) && $0.peer != nil } }

  // MARK: - What it may do

  /// Whether it says who comes in, and hears who waits for that.
  var isHost: Bool { session != nil && handleGrants.roomAdmin }

  /// What may be done by its handle.
  var handleGrants: Grants { sessionGrants ?? grants }

  /// What may be done on one of its transports: the one place where that is decided.
  func grants(on transport: Transport) -> Grants {
    transport.standalone.map { grants.narrowed(to: $0.grants) } ?? handleGrants
  }

  /// Whether it may publish a track of that source there.
  func mayPublish(
    _ source: TrackSource, as kind: MediaKind, on transport: Transport, inNewSection isNew: Bool
  ) -> Bool {
    let grants = grants(on: transport)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.publishesAgain), isNew {
        var grants = grants
        grants.canPublish = true
        return grants.mayPublish(source, as: kind)
      }
    #endif
    return grants.mayPublish(source, as: kind)
  }

  /// What a section is taken for of which its owner says nothing. A client without a socket can say nothing: its camera is
  /// the screen that its token allows, where it allows no camera.
  func usualSource(of kind: MediaKind, on transport: Transport) -> TrackSource {
    let usual = TrackSource.usual(of: kind)
    guard transport.standalone != nil else { return usual }
    let others: [TrackSource] = [kind == .audio ? .screenShareAudio : .screenShare, .unknown]
    return ([usual] + others).first { mayPublish($0, as: kind, on: transport, inNewSection: false) } ?? usual
  }

  /// Tracks of one group are played in step.
  func group(of track: TrackInfo) -> String { id.text + (track.isScreen ? "/screen" : "/camera") }

  /// All that its tracks may be of.
  var groups: [String] { [id.text + "/camera", id.text + "/screen"] }
}

extension ParticipantName {
  init(_ member: Member) { self.init(id: member.id, identity: member.identity, name: member.name) }
}

extension TrackInfo {
  var isScreen: Bool { source == .screenShare || source == .screenShareAudio }
}
