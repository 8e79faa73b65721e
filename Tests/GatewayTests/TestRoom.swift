import AccessTokens
import Gateway
import Model
import Rooms
import Synchronization

/// A room whose participants do as the test says.
final class TestRoom: RoomService {
  let participants = Mutex<[TestParticipant]>([])
  let requests = Mutex<[JoinRequest]>([])
  private let refusal: RoomRefusal?

  let isDraining: Bool

  init(refusing refusal: RoomRefusal? = nil, isDraining: Bool = false) {
    self.refusal = refusal
    self.isDraining = isDraining
  }

  func forbids(_ token: AccessToken, in room: String) -> Bool { token.identity == "removed" }
  func isReady() async -> Bool { !isDraining }

  func join(_ request: JoinRequest) async throws(RoomRefusal) -> any RoomParticipant {
    requests.withLock { $0.append(request) }
    if let refusal { throw refusal }
    let participant = TestParticipant(request)
    participants.withLock { $0.append(participant) }
    return participant
  }

  var first: TestParticipant? { participants.withLock { $0.first } }
}

final class TestParticipant: RoomParticipant {
  let joined: JoinedBody
  let messages: AsyncStream<RoomMessage>
  let say: AsyncStream<RoomMessage>.Continuation
  let offers = Mutex<[SessionOffer]>([])
  /// How many of them have been answered.
  let answered = Mutex(0)
  let candidates = Mutex<[String]>([])
  let left = Mutex<[LeaveReason]>([])
  /// What it may do.
  let allowed = Mutex(Grants.join("demo"))
  /// If set, `grants` waits for one of its elements.
  let permissionsGate = Mutex<AsyncStream<Void>?>(nil)
  /// How often it was absent, and after which events it was present again.
  let lost = Mutex(0)
  let resumed = Mutex<[String]>([])
  /// What is said at the next resumption; nil: it is refused.
  let state = Mutex<ResumedBody?>(ResumedBody(lastEvent: 7))
  /// How it is refused.
  let refusal = Mutex(RoomRefusal(.sessionGone, "the session is over"))
  /// Requests without an answer of their own, in words.
  let asked = Mutex<[String]>([])
  /// An offer waits for one of these when it says `wait`.
  let gate = AsyncStream<Void>.makeStream()

  init(_ request: JoinRequest) {
    joined = JoinedBody(
      participant: ParticipantBody(id: "PA_1", identity: request.identity, name: request.name),
      room: RoomBody(id: "RM_1", name: request.room),
      participants: [
        ParticipantBody(
          id: "PA_0", identity: "eve", tracks: [TrackBody(id: "TR_0", kind: "audio", source: .microphone)])
      ], lastEvent: 7)
    (messages, say) = AsyncStream<RoomMessage>.makeStream()
  }

  func grants() async -> Grants? {
    if let gate = permissionsGate.withLock({ $0 }) { for await _ in gate { break } }
    return left.withLock { $0.isEmpty } ? allowed.withLock { $0 } : nil
  }

  func offer(_ offer: SessionOffer) async throws(RoomRefusal) {
    offers.withLock { $0.append(offer) }
    if offer.sdp == "bad" { throw RoomRefusal(.offerRefused, "no answer to that") }
    if offer.sdp == "wait" { for await _ in gate.stream { break } }
    say.yield(
      .answer(
        SessionAnswer(
          sdp: "answer to \(offer.sdp)",
          tracks: offer.tracks.map { .init(mid: $0.mid, track: "TR_\($0.mid)") },
          slots: [Slot(mid: "1", track: nil)], declined: [.init(mid: "9", code: "codec")])))
    say.yield(.slots([Slot(mid: "1", track: "TR_0"), Slot(mid: "2", track: nil)]))
    answered.withLock { $0 += 1 }
  }

  func subscribe(_ track: String, mid: String?) async throws(RoomRefusal) {
    try ask("subscribe \(track) \(mid ?? "-")", refusing: track)
  }

  func unsubscribe(_ track: String) async throws(RoomRefusal) {
    try ask("unsubscribe \(track)", refusing: track)
  }

  func mute(_ track: String, _ muted: Bool) async throws(RoomRefusal) {
    try ask("mute \(track) \(muted)", refusing: track)
  }

  func update(_ change: ParticipantChange) async throws(RoomRefusal) {
    try ask(
      "update \(change.name ?? "-") \(change.metadata ?? "-") \(change.attributes ?? [:])", refusing: "")
  }

  func send(_ message: OutgoingMessage) async throws(RoomRefusal) {
    try ask(
      "data \(message.payload) \(message.topic ?? "-") \(message.reliable) \(message.destinations ?? [])",
      refusing: "")
  }

  private func ask(_ text: String, refusing track: String) throws(RoomRefusal) {
    asked.withLock { $0.append(text) }
    if track == "TR_unknown" { throw RoomRefusal(.unknownTrack, "no such track") }
  }

  func candidate(_ candidate: String, mid: String) async {
    candidates.withLock { $0.append("\(mid) \(candidate)") }
  }

  func tellSlots() async { say.yield(.slots([Slot(mid: "1", track: "TR_0")])) }

  func absent() async { lost.withLock { $0 += 1 } }

  func present(after: Int) async throws(RoomRefusal) {
    resumed.withLock { $0.append("after \(after)") }
    guard let state = state.withLock({ $0 }) else {
      throw refusal.withLock { $0 }
    }
    say.yield(.resumed(state))
  }

  func leave(_ reason: LeaveReason) async {
    left.withLock { $0.append(reason) }
    say.finish()
  }
}
