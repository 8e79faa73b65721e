import AccessTokens
import Crypto
import Engine
import ICE
import Logging
import Model
import Negotiation
import Wire

@testable import Rooms

/// A server without front doors.
final class TestServer: Sendable {
  let engine: MediaEngine
  let directory: RoomDirectory
  private let events: Task<Void, Never>

  /// - Parameter clock: what the rooms take for the time; nil: the real one.
  init(
    participants: Int = 50, rooms: Int = 50, peers: Int = 50, grace: Duration = .seconds(15),
    events: EventLog.Limits = EventLog.Limits(), journal: (any RoomJournal)? = nil,
    clock: StandingClock? = nil,
    wallSeconds: (@Sendable () -> Int)? = nil, pause: (@Sendable (Duration) async throws -> Void)? = nil,
    keyFrame: (@Sendable (TrackKey) async -> KeyFrame?)? = nil,
    explain: (@Sendable (MediaQuestion, Duration) async -> [WorkerExplanation?])? = nil
  ) throws {
    engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 2, peersPerWorker: 64, pinsThreads: false),
      clock: Clock(),
      dtls: try DTLSContext(certificate: try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)))
    try engine.start()
    var now: (@Sendable () -> Instant)?
    if let clock { now = { clock.now } }
    var port = MediaPort(engine)
    if let pause { port.pause = pause }
    if let explain { port.explain = explain }
    if let keyFrame { port.keyFrame = { track, _, _ in await keyFrame(track) } }
    let media = MediaPlane(
      port, candidates: [SocketAddress(ipv4: 127, 0, 0, 1, port: engine.port)],
      verification: .always, peerLimit: peers, clock: now)
    var limits = RoomDirectory.Limits(rooms: rooms, participantsPerRoom: participants)
    limits.defaults.departureTimeout = 0
    let directory = RoomDirectory(
      media: media, limits: limits, log: Log(level: .error) { _ in }, journal: journal,
      reconnectGrace: grace, events: events, wallSeconds: wallSeconds)
    self.directory = directory
    self.events = Task { await directory.run() }
  }

  deinit {
    engine.stop()
    events.cancel()
  }

  func join(
    _ identity: String, room: String = "r", hidden: Bool = false, subscribes: Bool = true,
    _ adjust: (inout Grants) -> Void = { _ in }
  ) async throws -> TestClient {
    var grants = Grants.join(room)
    adjust(&grants)
    grants.hidden = hidden
    grants.canSubscribe = subscribes
    return TestClient(try await directory.join(room: room, identity: identity, name: nil, grants: grants))
  }

  /// Peers of the media plane, once it has done what it was asked.
  func peers() async -> Int { await engine.reports().reduce(0) { $0 + $1.peers } }
}

/// What tests look at, and what they have a room hear at a moment of their own.
extension Room {
  var members: [Member] { state.members }
  func member(_ id: ParticipantID) -> Member? { state.member(id).map { state.members[$0] } }
  func take(_ samples: [PeerSample], now: Instant) { _ = handle(.samples(samples), now: now) }
  func handle(_ events: PeerEvents) { _ = handle(.media(events)) }
}

extension ParticipantSession {
  /// The transport that it has from the beginning.
  var native: ParticipantTransport {
    get throws(OfferError) {
      guard let transport else { throw .gone }
      return transport
    }
  }
}

extension Member {
  var native: Transport { transports[0] }
  var published: [PublishedTrack] { transports.flatMap(\.published) }
}

/// A participant's end: its offers, and the notices that it was given.
final class TestClient {
  let session: ParticipantSession
  private var notices: AsyncStream<ParticipantNotice>.Iterator
  private var negotiator = Negotiator(policy: .client)
  private var random = RandomSource.system
  private var plan = OfferPlan()
  private var local: LocalTransport
  private var ssrc: UInt32 = 1
  /// What the last `resumed` said.
  private(set) var resumed: ResumedState?
  /// What plays in which section, as said.
  private(set) var shown: [String: TrackID] = [:]
  /// Of a notice that says several things, what `next` has still to say.
  private var unread: [String] = []
  /// Tracks that were announced, and are not over.
  private(set) var known: Set<TrackID>
  /// Tracks that were named before they were announced.
  private(set) var strangers: Set<TrackID> = []

  init(_ session: ParticipantSession) {
    self.session = session
    notices = session.notices.makeAsyncIterator()
    known = Set(session.joined.participants.flatMap(\.tracks).map(\.id))
    local = LocalTransport(
      credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
      fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
      isLite: false)
  }

  /// The session's next notice, in words; the session must have one.
  func next() async -> String {
    if !unread.isEmpty { return unread.removeFirst() }
    guard let notice = await notices.next() else { return "end" }
    follow(notice)
    switch notice {
    case .event(let event):
      return "\(event.id) \(event.kind.rawValue) \(event.participant?.identity ?? "-")"
    case .on(let transport, let notice):
      let text = say(notice)
      return transport == .first ? text : "\(transport.number): \(text)"
    case .speakers(let speakers): return "speakers \(speakers.count)"
    case .quality(let changed):
      return "quality " + changed.map(\.quality.rawValue).joined(separator: ",")
    case .data(let data):
      return "data \(String(decoding: data.payload, as: UTF8.self)) \(data.topic ?? "-") \(data.from != nil)"
    case .draining: return "draining"
    case .restartWanted: return "restartWanted"
    case .resumed(let state):
      resumed = state
      return "resumed \(state.lastEvent)"
    case .closed(let reason): return "closed \(reason.rawValue)"
    }
  }

  private func say(_ notice: TransportNotice) -> String {
    switch notice {
    case .slots(let slots):
      return "slots " + slots.map { "\($0.mid)=\($0.track == nil ? "-" : "x")" }.joined(separator: ",")
    case .offerWanted(let audio, let video): return "offerWanted \(audio) \(video)"
    case .answer(let answer): return "answer \(answer.tracks.count) \(answer.slots.count)"
    case .streams(let changes):
      unread = changes.map { "stream \(text(of: $0.state))" }
      return unread.isEmpty ? "no streams" : unread.removeFirst()
    case .publish(_, let advice):
      return "publish " + advice.layers.map { "\($0.rid)=\($0.isWatched ? "x" : "-")" }.joined(separator: ",")
    case .closed: return "transport closed"
    }
  }

  private func text(of state: StreamState) -> String {
    switch state {
    case .active: "active"
    case .paused(let reason): "paused \(reason.rawValue)"
    case .waiting(let reason): "waiting \(reason.rawValue)"
    }
  }

  private func follow(_ notice: ParticipantNotice) {
    var named: [SlotAssignment] = []
    switch notice {
    case .event(let event):
      guard let track = event.track else { break }
      if event.kind == .trackUnpublished { known.remove(track.id) } else { known.insert(track.id) }
    case .on(_, .slots(let slots)): named = slots
    case .on(_, .answer(let answer)): named = answer.slots
    case .on(_, .streams(let changes)):
      for (track, _) in changes where !known.contains(track) { strangers.insert(track) }
    default: break
    }
    for slot in named {
      shown[slot.mid] = slot.track
      if let track = slot.track, !known.contains(track) { strangers.insert(track) }
    }
  }

  /// The next events, with whether an administrator's mute stands on their tracks.
  func nextMutes(_ count: Int) async -> [String] {
    var all: [String] = []
    while all.count < count, let notice = await notices.next() {
      guard case .event(let event) = notice else { continue }
      all.append(
        "\(event.id) \(event.kind.rawValue)" + (event.track?.mutedByAdmin == true ? " by admin" : ""))
    }
    return all
  }

  /// The next notices up to and with one that begins so.
  func next(until prefix: String) async -> String {
    while true {
      let text = await next()
      if text.hasPrefix(prefix) || text == "end" { return text }
    }
  }

  func next(_ count: Int) async -> [String] {
    var all: [String] = []
    for _ in 0..<count { all.append(await next()) }
    return all
  }

  /// Adds tracks and receivers to what is offered.
  func offer(
    _ kinds: [MediaKind] = [], receivers: Int = 0, dropping: Int = 0, describing tracks: [OfferedTrack] = []
  ) async throws -> OfferAnswer {
    for kind in kinds {
      ssrc += 2
      plan.tracks.append(
        TrackAnnouncement(
          kind: kind, ssrc: ssrc, rtxSSRC: kind == .video ? ssrc + 1 : nil, cname: "c", streamID: "s",
          trackID: "t\(ssrc)"))
    }
    plan.tracks.removeFirst(dropping)
    plan.audioReceivers += receivers
    plan.videoReceivers += receivers
    let offer = try negotiator.offer(plan, local: local, random: &random)
    guard let transport = session.transport else { throw OfferError.gone }
    let answer = try await transport.offer(offer.text, tracks: tracks)
    _ = try negotiator.accept(try SessionDescription(parsing: answer.sdp))
    return answer
  }
}
