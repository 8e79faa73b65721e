import AccessTokens
import Gateway
import Model
import Negotiation
import Synchronization

@testable import Rooms

/// A room whose participants do as the test says.
final class TestRoom: RoomService {
  let participants = Mutex<[TestParticipant]>([])
  let requests = Mutex<[JoinRequest]>([])
  private let refusal: JoinError?

  let isDraining: Bool

  init(refusing refusal: JoinError? = nil, isDraining: Bool = false) {
    self.refusal = refusal
    self.isDraining = isDraining
  }

  func forbids(_ token: AccessToken, in room: String) -> Bool { token.identity == "removed" }
  func isReady() async -> Bool { !isDraining }

  func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant {
    requests.withLock { $0.append(request) }
    if let refusal { throw refusal }
    let participant = TestParticipant(request)
    participants.withLock { $0.append(participant) }
    return participant
  }

  var first: TestParticipant? { participants.withLock { $0.first } }
}

/// Its transport is itself.
final class TestParticipant: RoomParticipant, RoomTransport {
  var transport: TestParticipant? { self }
  let id = TransportID.first
  let joined: JoinedState
  let notices: AsyncStream<ParticipantNotice>
  let say: AsyncStream<ParticipantNotice>.Continuation
  /// Each with its tracks, in words.
  let offers = Mutex<[String]>([])
  /// How many of them have been answered.
  let answered = Mutex(0)
  let left = Mutex<[LeaveReason]>([])
  /// What it may do.
  let allowed = Mutex(Grants.join("demo"))
  /// If set, `grants` waits for one of its elements.
  let permissionsGate = Mutex<AsyncStream<Void>?>(nil)
  /// How often it was absent, and after which events it was present again.
  let lost = Mutex(0)
  let resumed = Mutex<[String]>([])
  /// What is said at the next resumption; nil: it is refused.
  let state = Mutex<ResumedState?>(.blank(lastEvent: 7))
  /// How it is refused.
  let refusal = Mutex(RequestError.gone)
  /// Requests without an answer of their own, in words.
  let asked = Mutex<[String]>([])
  /// An offer waits for one of these when it says `wait`.
  let gate = AsyncStream<Void>.makeStream()

  init(_ request: JoinRequest) {
    joined = JoinedState(
      room: RoomInfo(id: RoomID(naming: "RM_1"), name: request.room),
      participant: ParticipantInfo(
        id: ParticipantID(known: "PA_1"), identity: request.identity, name: request.name, tracks: []),
      participants: [
        ParticipantInfo(
          id: ParticipantID(known: "PA_0"), identity: "eve", name: nil,
          tracks: [TrackInfo(id: TrackID(known: "TR_0"), kind: .audio, source: .microphone, name: nil)])
      ], lastEvent: 7)
    (notices, say) = AsyncStream<ParticipantNotice>.makeStream()
  }

  func grants() async -> Grants? {
    if let gate = permissionsGate.withLock({ $0 }) { for await _ in gate { break } }
    return left.withLock { $0.isEmpty } ? allowed.withLock { $0 } : nil
  }

  func offer(_ sdp: String, tracks: [OfferedTrack]) async throws(OfferError) -> OfferAnswer {
    let words = tracks.map { "\($0.mid) \($0.source?.rawValue ?? "-") \($0.name ?? "-") \($0.muted)" }
    offers.withLock { $0.append(([sdp] + words).joined(separator: ", ")) }
    if sdp == "bad" { throw .refused(.missingFingerprint(section: 0)) }
    if sdp == "wait" { for await _ in gate.stream { break } }
    let answer = OfferAnswer(
      sdp: "answer to \(sdp)", tracks: tracks.map { ($0.mid, TrackID(known: "TR_\($0.mid)")) },
      slots: [SlotAssignment(mid: "1", track: nil)], declined: [("9", "codec")])
    say.yield(.on(.first, .answer(answer)))
    let slots = [
      SlotAssignment(mid: "1", track: TrackID(known: "TR_0")), SlotAssignment(mid: "2", track: nil),
    ]
    say.yield(.on(.first, .slots(slots)))
    answered.withLock { $0 += 1 }
    return answer
  }

  func subscribe(_ track: String, mid: String?, picture: PicturePreference) async throws(RequestError) {
    let shown = picture == PicturePreference() ? "" : " \(Self.text(picture))"
    try ask("subscribe \(track) \(mid ?? "-")\(shown)", refusing: track)
  }

  func view(_ tracks: [(track: String, picture: PicturePreference)]) async throws(RequestError) {
    let pictures = tracks.map { "\($0.track) \(Self.text($0.picture))" }
    try ask("view \(pictures.joined(separator: ", "))", refusing: tracks.first?.track ?? "")
  }

  private static func text(_ picture: PicturePreference) -> String {
    "\(picture.quality) \(picture.width)x\(picture.height) \(picture.frameRate) \(picture.priority)"
  }

  func resize(_ track: String, layers: [OfferedLayer]) async throws(RequestError) {
    let sizes = layers.map { "\($0.rid ?? "-") \($0.picture.width)x\($0.picture.height)" }
    try ask("layers \(track) \(sizes.joined(separator: ", "))", refusing: track)
  }

  func unsubscribe(_ track: String) async throws(RequestError) {
    try ask("unsubscribe \(track)", refusing: track)
  }

  func mute(_ track: String, _ muted: Bool) async throws(RequestError) {
    try ask("mute \(track) \(muted)", refusing: track)
  }

  func update(_ change: ParticipantChange) async throws(RequestError) {
    try ask(
      "update \(change.name ?? "-") \(change.metadata ?? "-") \(change.attributes ?? [:])", refusing: "")
  }

  func send(
    _ payload: [UInt8], topic: String?, reliable: Bool, to destinations: [String]?
  ) async throws(RequestError) {
    try ask(
      "data \(String(decoding: payload, as: UTF8.self)) \(topic ?? "-") \(reliable) \(destinations ?? [])",
      refusing: "")
  }

  func raiseHand(_ isRaised: Bool, of other: String?) async throws(RequestError) {
    try ask("hand \(isRaised) \(other ?? "-")", refusing: other ?? "")
  }

  func admit(_ waiting: String, _ isAllowed: Bool) async throws(RequestError) {
    try ask("admit \(waiting) \(isAllowed)", refusing: waiting)
  }

  private func ask(_ text: String, refusing track: String) throws(RequestError) {
    asked.withLock { $0.append(text) }
    if track == "TR_unknown" { throw .unknownTrack }
  }

  func tellSlots() async {
    say.yield(.on(.first, .slots([SlotAssignment(mid: "1", track: TrackID(known: "TR_0"))])))
  }

  func explain() async throws(RequestError) -> ParticipantExplanation {
    try ask("explain", refusing: "")
    return ParticipantExplanation(
      id: joined.participant.id, identity: joined.participant.identity, name: nil, transports: [],
      subscriptions: [])
  }

  func absent() async { lost.withLock { $0 += 1 } }

  func present(after: Int) async throws(RequestError) {
    resumed.withLock { $0.append("after \(after)") }
    guard let state = state.withLock({ $0 }) else {
      throw refusal.withLock { $0 }
    }
    say.yield(.resumed(state))
  }

  func leave(reason: LeaveReason) async {
    left.withLock { $0.append(reason) }
    say.finish()
  }
}

extension ResumedState {
  /// Nothing was missed but what is said here.
  static func blank(
    lastEvent: Int, missed: [RoomEvent] = [], slots: [SlotAssignment] = [],
    tracks: [(mid: String, track: TrackID)] = [], notices: [ParticipantNotice] = []
  ) -> ResumedState {
    let own = Transport(id: .first, slots: slots, tracks: tracks)
    return ResumedState(lastEvent: lastEvent, missed: missed, transports: [own], notices: notices)
  }
}

extension RoomEvent {
  /// Of the test's room, about no one.
  static func plain(_ id: Int, _ kind: Kind = .roomUpdated) -> RoomEvent {
    RoomEvent(
      id: id, time: WallTime(milliseconds: 0), room: RoomInfo(id: RoomID(naming: "RM_1"), name: "demo"),
      kind: kind)
  }
}

extension DataMessage {
  /// From the other participant, or from none.
  static func plain(_ text: String, from: String? = "PA_0", reliable: Bool = true) -> DataMessage {
    DataMessage(
      from: from.map { ParticipantID(known: $0) }, payload: Array(text.utf8), topic: nil, reliable: reliable)
  }
}
