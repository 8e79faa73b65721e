import AccessTokens
import Model
import Negotiation
import Recording
import Testing
import Wire

@testable import Engine
@testable import Rooms

/// A room's state and what surrounds it, without actor, engine, clock or socket: answers its questions as a room would.
final class StateRun {
  private(set) var state: RoomState
  /// All that was to be done, in words.
  private(set) var done: [String] = []
  private(set) var commands: [Command] = []
  private(set) var recorded: [RecordingCommand] = []
  private(set) var notices: [ParticipantID: [ParticipantNotice]] = [:]
  private(set) var events: [RoomEvent] = []
  /// How many sessions the directory knows.
  var sessions = 0
  private(set) var released: [PeerKey] = []
  /// Peers whose record is to be kept, and whether they had been closed by then.
  private(set) var lost: [(peer: PeerKey, of: ParticipantID, isClosed: Bool)] = []
  private(set) var added: [PeerKey] = []
  /// What was agreed on at first.
  private(set) var agreed: [PeerKey: AgreedMedia] = [:]
  private(set) var alarm = Instant.never
  /// Whose media has come and gone, by which stay.
  private(set) var media: [String] = []
  private(set) var inside: [ParticipantID] = []
  /// All that have waited.
  private(set) var waiting: [Waiter] = []
  /// What each was given as it was let in.
  private(set) var joined: [ParticipantID: JoinedState] = [:]
  /// Bytes of messages that the room may keep, beside what others do.
  var historyLimit = Int.max
  /// Places of the directory, and of those that wait in all of its rooms.
  var seats = 1_000
  var waitingSeats = 1_000
  /// One more removal is remembered.
  var remembersRemovals = true
  /// Invitations that hold no more.
  var revoked: Set<InvitationID> = []
  private var serial: UInt64 = 0
  private var proposals = 0
  /// Places of the media plane.
  var places = 100
  var now = Instant(nanoseconds: 1_000_000_000)

  static let terms = RoomTerms(
    participantLimit: 50, reconnectGrace: .seconds(15), policy: .server,
    epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)))

  init(settings: RoomSettings = RoomSettings()) {
    state = RoomState(
      id: RoomID(naming: "RM_1"), name: "r", created: WallTime(milliseconds: 0), settings: settings,
      terms: Self.terms, random: .seeded(state: 1), now: now)
  }

  @discardableResult
  func handle(_ input: RoomInput) -> RoomReply {
    var reply = RoomReply.done
    for effect in state.handle(input, now: now) { perform(effect, &reply) }
    return reply
  }

  /// Whatever a room goes through, its events have one number behind the other as they leave it: the log, readers and receivers of webhooks
  /// go by that.
  private func take(_ event: RoomEvent) {
    if let last = events.last { #expect(event.id == last.id + 1, "an event out of its order") }
    events.append(event)
  }

  private func follow(_ input: RoomInput, _ reply: inout RoomReply) {
    for effect in state.handle(input, now: now) { perform(effect, &reply) }
  }

  private func perform(_ effect: RoomEffect, _ reply: inout RoomReply) {
    switch effect {
    case .reply(let new): reply = new
    case .admit(let state, _):
      inside.append(state.participant.id)
      joined[state.participant.id] = state
      done.append("admit \(state.participant.identity)")
    case .notify(let id, let notice): notices[id, default: []].append(notice)
    case .notifyAll(let notice): for id in inside { notices[id, default: []].append(notice) }
    case .dismiss(let id, let reason):
      inside.removeAll { $0 == id }
      notices[id, default: []].append(.closed(reason))
      done.append("dismiss \(reason.rawValue)")
    case .wait(let waiter):
      waiting.append(waiter)
      done.append("wait \(waiter.identity)")
    case .askWait(let session, let replacing):
      let count = state.waiting.count - (replacing ? 1 : 0)
      let refusal: JoinError? = count < waitingSeats ? nil : .full(limit: waitingSeats)
      if refusal == nil { sessions -= 1 }
      follow(.waits(session, refusal), &reply)
    case .askPlace(let id, let newcomer, let cause):
      var refusal: JoinError? = sessions < seats ? nil : .full(limit: seats)
      if newcomer.invitation.map({ revoked.contains($0) }) == true { refusal = .revoked }
      if refusal == nil { sessions += 1 }
      follow(.placed(id, of: newcomer.identity, refusal, cause), &reply)
    case .askInvitations(let invitations):
      follow(.uninvited(invitations.filter { revoked.contains($0) }), &reply)
    case .historyChanged:
      if state.newcomers.history.bytes > historyLimit { follow(.keepAtMost(historyLimit), &reply) }
    case .waitingEnded: done.append("wait over")
    case .settle(let id, let outcome):
      let identity = waiting.first { $0.id == id }?.identity ?? "?"
      switch outcome {
      case .admitted(let isNew): done.append("admitted \(identity) \(isNew)")
      case .ended(let error): done.append("turned away \(identity) \(error)")
      }
    case .recordForHosts(let event, let hosts):
      take(event)
      for id in hosts { notices[id, default: []].append(.event(event)) }
    case .forbid(let id, let identity, let cause):
      if remembersRemovals { done.append("forbid \(identity)") }
      follow(.forbidden(id, isRemembered: remembersRemovals, cause), &reply)
    case .record(let event, let leaving):
      take(event)
      for id in inside where id != leaving { notices[id, default: []].append(.event(event)) }
    case .sessionEnded(_, let reason, let patience):
      sessions -= 1
      done.append("ended \(reason?.rawValue ?? "-") \(patience)")
      if sessions == 0, patience == 0, state.waiting.isEmpty { follow(.finish, &reply) }
    case .alarm(let moment): alarm = state.isFinished ? .never : moment
    case .prepare(let proposal):
      guard proposal.peer != nil || places > 0 else { return follow(.overloaded(proposal), &reply) }
      if proposal.peer == nil {
        serial += 1
        places -= 1
      }
      proposals += 1
      let key = proposal.peer ?? PeerKey(home: 0, serial: serial)
      let local = LocalTransport(
        credentials: ICECredentials(ufrag: "server\(proposals)", password: "serverserverserverserver"),
        fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32)), candidates: [])
      follow(.prepared(proposal, key, local), &reply)
    case .add(let key, _, let media):
      added.append(key)
      agreed[key] = media
    case .lost(let peer, let id, _, _):
      let closed = commands.contains { if case .close(peer) = $0 { true } else { false } }
      lost.append((peer, id, closed))
    case .post(let command): commands.append(command)
    case .release(let key):
      released.append(key)
      places += 1
    case .read(let id, let after):
      let missed = events.filter { $0.id > after }
      follow(
        .missed(
          id, after: after,
          EventLog.Page(room: state.info, events: missed, lastEvent: events.count, isOver: false)),
        &reply)
    case .recording(let command): recorded.append(command)
    case .media(let identity, let stay, let presence):
      media.append("\(identity) \(stay ?? "-") \(presence)")
    case .finished: alarm = .never
    case .expect, .giveUpName, .keepSettings, .log, .mediaReady, .unattended: break
    }
  }

  // MARK: - What happens

  func join(
    _ identity: String, opening role: TransportRole? = .both, isAttended: Bool = true,
    isForbidden: Bool = false, _ adjust: (inout Grants) -> Void = { _ in }
  ) throws -> StateClient {
    var grants = Grants.join("r")
    adjust(&grants)
    let newcomer = Newcomer(identity: identity, grants: grants, opens: role, isAttended: isAttended)
    return try join(newcomer, isForbidden: isForbidden)
  }

  /// Somebody comes who may wait to be let in.
  /// - Returns: nil: it is in.
  func wait(
    _ identity: String, patience: Duration = .seconds(3_600), _ adjust: (inout Newcomer) -> Void = { _ in }
  ) throws -> Waiter? {
    var newcomer = Newcomer(identity: identity, grants: .join("r"), patience: patience)
    adjust(&newcomer)
    sessions += 1
    switch handle(.join(newcomer, refused: nil)) {
    case .waiting: return waiting.last
    case .joinRefused(let error): throw error
    default: return nil
    }
  }

  func join(_ newcomer: Newcomer, isForbidden: Bool = false) throws -> StateClient {
    sessions += 1
    if case .joinRefused(let error) = handle(.join(newcomer, refused: isForbidden ? .removed : nil)) {
      throw error
    }
    return StateClient(inside.last ?? ParticipantID(known: ""), self)
  }

  /// Has the state go on from its bytes.
  func rebuild() throws { state = try RoomState(bytes: state.bytes, terms: Self.terms, now: now) }

  func kinds(after: Int = 0) -> [String] { events.dropFirst(after).map(\.kind.rawValue) }

  /// What the media plane last heard of a track's mute.
  func isMuted(_ key: TrackKey) -> Bool? {
    for case .mute(key, let muted) in commands.reversed() { return muted }
    return nil
  }
}

/// One participant of it, with a browser's end of each transport.
final class StateClient {
  let id: ParticipantID
  private let run: StateRun
  private var negotiators: [TransportID: Negotiator] = [:]
  private var random = RandomSource.seeded(state: 9)
  private var plans: [TransportID: OfferPlan] = [:]

  init(_ id: ParticipantID, _ run: StateRun) {
    self.id = id
    self.run = run
  }

  var member: Member? { run.state.member(id).map { run.state.members[$0] } }
  func transport(_ id: TransportID = .first) -> Transport? { member?.transports.first { $0.id == id } }
  var tracks: [TrackInfo] { member?.info.tracks ?? [] }
  var notices: [ParticipantNotice] { run.notices[id] ?? [] }

  @discardableResult
  func ask(_ request: ParticipantRequest) -> RoomReply { run.handle(.request(id, request)) }

  func open(_ role: TransportRole) throws -> TransportID {
    switch ask(.openTransport(role)) {
    case .opened(let transport): return transport
    case .refused(let error): throw error
    default: throw RequestError.gone
    }
  }

  private var local: LocalTransport {
    LocalTransport(
      credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
      fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
      isLite: false)
  }

  /// Offers so many more tracks and receivers.
  /// - Parameters:
  ///   - stops: what was offered before is stopped.
  ///   - tracks: what is said of the sections.
  ///   - rewrite: what becomes of the text on its way; where it is another, the answer is not taken.
  @discardableResult
  func offer(
    _ kinds: [MediaKind] = [], receivers: Int = 0, on transport: TransportID = .first, stops: Bool = false,
    describing tracks: [OfferedTrack] = [], rewrite: (String) -> String = { $0 }
  ) throws -> OfferAnswer {
    var negotiator = negotiators[transport] ?? Negotiator(policy: .client)
    var plan = stops ? OfferPlan() : plans[transport] ?? OfferPlan()
    for kind in kinds { plan.tracks.append(negotiator.announcement(of: kind, beside: nil, random: &random)) }
    plan.audioReceivers += receivers
    plan.videoReceivers += receivers
    let offer = try negotiator.offer(plan, local: local, random: &random)
    let text = rewrite(offer.text)
    switch ask(.offer(text, tracks, on: transport)) {
    case .answered(let answer) where text != offer.text: return answer
    case .answered(let answer):
      _ = try negotiator.accept(try SessionDescription(parsing: answer.sdp))
      negotiators[transport] = negotiator
      plans[transport] = plan
      return answer
    case .offerRefused(let error): throw error
    default: throw OfferError.gone
    }
  }

  /// Answers the server's offer of so many slots.
  func takeOffer(audio: Int, video: Int, on transport: TransportID) throws -> OfferAnswer {
    let sdp: String
    switch ask(.makeOffer(SlotCount(audio: audio, video: video), on: transport)) {
    case .offered(let text): sdp = text
    case .offerRefused(let error): throw error
    default: throw OfferError.gone
    }
    var negotiator = negotiators[transport] ?? Negotiator(policy: .client)
    let answer = try negotiator.answer(
      to: try SessionDescription(parsing: sdp), local: local, random: &random)
    negotiators[transport] = negotiator
    switch ask(.accept(answer.sdp, on: transport)) {
    case .answered(let answer): return answer
    case .offerRefused(let error): throw error
    default: throw OfferError.gone
    }
  }
}

extension StateClient {
  /// An offer's text without a codec in its sections of one kind.
  static func lacking(_ name: String, in media: String = "video") -> (String) -> String {
    { text in
      let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
      let numbers = lines.compactMap { line in
        line.hasPrefix("a=rtpmap:") && line.contains(" \(name)/")
          ? String(line.dropFirst(9).prefix { $0 != " " }) : nil
      }
      return lines.compactMap { line in
        if line.hasPrefix("m=\(media)") {
          return line.split(separator: " ").enumerated().filter {
            $0.offset < 3 || !numbers.contains(String($0.element))
          }
          .map { String($0.element) }.joined(separator: " ")
        }
        return numbers.contains {
          line.hasPrefix("a=rtpmap:\($0) ") || line.hasPrefix("a=fmtp:\($0) ")
            || line.hasPrefix("a=rtcp-fb:\($0) ")
        }
          ? nil : line
      }.joined(separator: "\r\n")
    }
  }
}
