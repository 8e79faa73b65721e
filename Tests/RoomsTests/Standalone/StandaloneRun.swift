import AccessTokens
import Model
import Negotiation
import Peer
import Wire

@testable import Engine
@testable import Rooms

/// The far end of a transport without a socket: an encoder or a player.
struct StandaloneEnd {
  static let credentials = ICECredentials(ufrag: "clientclient", password: "clientclientclientclient")
  static let restarted = ICECredentials(ufrag: "anotherclient", password: "anotherclientanotherclient")

  let answer: StandaloneAnswer
  let identity: String
  let role: TransportRole

  var sections: [MediaDescription] {
    get throws { try SessionDescription(parsing: answer.sdp).media }
  }

  func named(_ identity: String? = nil, _ role: TransportRole? = nil) -> StandaloneName {
    StandaloneName(id: answer.id, role: role ?? self.role, identity: identity ?? self.identity)
  }

  /// An offer of so many sections.
  static func offer(
    sending kinds: [MediaKind] = [], audio: Int = 0, video: Int = 0, rewrite: (String) -> String = { $0 }
  ) throws -> String {
    var negotiator = Negotiator(policy: .client)
    var random = RandomSource.seeded(state: 5)
    var plan = OfferPlan(audioReceivers: audio, videoReceivers: video)
    for kind in kinds {
      plan.tracks.append(negotiator.announcement(of: kind, beside: plan.tracks.first, random: &random))
    }
    let local = LocalTransport(
      credentials: credentials,
      fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
      isLite: false)
    return rewrite(try negotiator.offer(plan, local: local, random: &random).text)
  }
}

extension StateRun {
  func open(
    _ identity: String, _ offer: StandaloneOffer, isForbidden: Bool = false, metadata: String? = nil,
    _ adjust: (inout Grants) -> Void = { _ in }
  ) throws -> StandaloneEnd {
    var grants = Grants.join("r")
    adjust(&grants)
    sessions += 1
    let newcomer = Newcomer(
      identity: identity, metadata: metadata, grants: grants, opens: nil, isAttended: false)
    let entry = StandaloneEntry(newcomer: newcomer, offer: offer)
    switch handle(.open(entry, refused: isForbidden ? .removed : nil)) {
    case .standalone(let answer, _):
      return StandaloneEnd(answer: answer, identity: identity, role: offer.role)
    case .standaloneRefused(let error): throw error
    default: throw StandaloneError.unknown
    }
  }

  /// Publishes.
  func whip(
    _ identity: String, _ kinds: [MediaKind] = [.audio, .video], _ adjust: (inout Grants) -> Void = { _ in }
  ) throws -> StandaloneEnd {
    let sdp = try StandaloneEnd.offer(sending: kinds)
    return try open(identity, StandaloneOffer(role: .publishes, sdp: sdp), adjust)
  }

  /// Publishes by an offer that is another on its way.
  func whip(
    _ identity: String, _ kinds: [MediaKind] = [.audio, .video], rewrite: (String) -> String
  ) throws -> StandaloneEnd {
    let sdp = try StandaloneEnd.offer(sending: kinds, rewrite: rewrite)
    return try open(identity, StandaloneOffer(role: .publishes, sdp: sdp))
  }

  /// Plays.
  func whep(
    _ identity: String, audio: Int = 1, video: Int = 1, _ selection: TrackSelection = .all,
    _ adjust: (inout Grants) -> Void = { _ in }
  ) throws -> StandaloneEnd {
    let sdp = try StandaloneEnd.offer(audio: audio, video: video)
    return try open(identity, StandaloneOffer(role: .subscribes, sdp: sdp, selection: selection), adjust)
  }

  /// Plays by an offer that is another on its way.
  func whep(_ identity: String, rewrite: (String) -> String) throws -> StandaloneEnd {
    let sdp = try StandaloneEnd.offer(audio: 1, video: 1, rewrite: rewrite)
    return try open(identity, StandaloneOffer(role: .subscribes, sdp: sdp))
  }

  func member(_ identity: String) -> Member? { state.member(of: identity).map { state.members[$0] } }

  func transport(_ end: StandaloneEnd) -> Transport? {
    state.members.flatMap(\.transports).first { $0.standalone?.id == end.answer.id }
  }

  /// Tracks that it shows, by section.
  func shown(_ end: StandaloneEnd) -> [TrackID?] { transport(end)?.slots.slots.map(\.track) ?? [] }

  func tracks(_ identity: String) -> [TrackInfo] { member(identity)?.info.tracks ?? [] }

  func ask(_ end: StandaloneEnd, _ request: StandaloneRequest, as identity: String? = nil) -> RoomReply {
    handle(.standalone(end.named(identity), request))
  }

  func lose(_ transport: Transport?) {
    guard let peer = transport?.peer else { return }
    var events = PeerEvents(peer: peer)
    events.closed = .connectionLost
    handle(.media(events))
  }

  /// Valid STUN has come on these transports.
  func hear(_ transports: [Transport?], at moment: Instant) {
    handle(
      .samples(
        transports.compactMap { $0?.peer }.map {
          PeerSample(peer: $0, quality: PeerQuality(loss: 0, roundTrip: .zero, lastHeard: moment), levels: [])
        }))
  }
}

/// What was refused, in words.
func refusal(_ body: () throws -> some Any) -> String {
  do { _ = try body() } catch let error as StandaloneError { return error.words } catch { return "\(error)" }
  return "none"
}

func words(_ reply: RoomReply) -> String {
  switch reply {
  case .standaloneRefused(let error): error.words
  case .changed(.noted): "noted"
  case .changed(.restarted): "restarted"
  case .done: "done"
  default: "\(reply)"
  }
}

extension StandaloneError {
  var words: String {
    switch self {
    case .joining(let error): "joining \(error)"
    case .offer(.malformed): "malformed"
    case .offer(.refused): "refused"
    case .offer(let error): "\(error)"
    case .declined(let sections):
      "declined " + sections.map { "\($0.mid) \($0.code)" }.joined(separator: ", ")
    case .notAllowed(let what): "not allowed: \(what)"
    case .limit(let what, let limit): "\(limit) of \(what)"
    default: "\(self)"
    }
  }
}
