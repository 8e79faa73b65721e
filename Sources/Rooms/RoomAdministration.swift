/// One room, as those who run it reach it.
public struct RoomAdministration: Sendable {
  let room: Room

  init(_ room: Room) { self.room = room }

  public func snapshot() async -> RoomSnapshot { await room.snapshot }

  public func change(_ patch: RoomPatch) async throws(AdministrationError) -> RoomSnapshot {
    switch await room.ask(.administration(.change(patch))) {
    case .room(let snapshot): return snapshot
    case .administrationRefused(let error): throw error
    default: throw .unknownRoom
    }
  }

  /// Sessions that wait to be let in, in the order in which they came.
  public func waiting() async -> [Waiter] { await room.waitingSessions }

  /// Lets an identity in that waits.
  /// - Parameter id: of its session; nil: whichever waits.
  /// - Throws: `unknownParticipant`; `joining`: why it can't come in, and it goes on waiting.
  public func admit(_ identity: String, _ id: String?) async throws(AdministrationError) {
    let request = AdministrationRequest.admit(identity, id.map { WaitingID(known: $0) })
    if case .administrationRefused(let error) = await room.ask(.administration(request)) { throw error }
  }

  /// Refuses an identity that waits, and no session that is in.
  /// - Parameter id: of its session; nil: whichever waits.
  /// - Throws: `unknownParticipant`.
  public func refuse(_ identity: String, _ id: String?) async throws(AdministrationError) {
    let request = AdministrationRequest.refuse(identity, id.map { WaitingID(known: $0) })
    if case .administrationRefused(let error) = await room.ask(.administration(request)) { throw error }
  }

  /// In the order of their identities' bytes.
  /// - Parameter after: only those behind this one.
  public func participants(after: String?, limit: Int) async -> [ParticipantSnapshot] {
    await room.participants(after: after, limit: limit)
  }

  public func participant(_ identity: String) async throws(AdministrationError) -> ParticipantSnapshot {
    try await room.participant(identity)
  }

  /// Why participants get what they get, in the order of `participants`. Those who ask for the same at the same time get the
  /// same answer, which comes within a little more than a second.
  public func explain(after: String?, limit: Int) async -> RoomExplanation {
    await room.explain(RunningExplanations.Page(after: after, limit: limit))
  }

  /// Why one participant gets what it gets; without any where it isn't there.
  public func explain(_ identity: String) async -> RoomExplanation {
    await room.explain(RunningExplanations.Page(limit: 1, identity: identity))
  }

  /// At once, also what the participant may do.
  public func change(
    _ identity: String, _ patch: ParticipantPatch
  ) async throws(AdministrationError) -> ParticipantSnapshot {
    switch await room.ask(.administration(.changeParticipant(identity, patch))) {
    case .participant(let snapshot): return snapshot
    case .administrationRefused(let error): throw error
    default: throw .unknownParticipant
    }
  }

  /// Sets or lifts an administrator's mute; the publisher's own is another.
  public func mute(
    _ track: String, of identity: String, _ muted: Bool
  ) async throws(AdministrationError) -> TrackInfo {
    switch await room.ask(.administration(.mute(track: track, of: identity, muted))) {
    case .track(let track): return track
    case .administrationRefused(let error): throw error
    default: throw .unknownTrack
    }
  }

  /// A message that is from no participant.
  /// - Parameters:
  ///   - payload: at most 16 KiB.
  ///   - destinations: identities; nil: everybody.
  public func send(
    _ payload: [UInt8], topic: String?, reliable: Bool, to destinations: [String]?
  ) async {
    let message = DataMessage(from: nil, payload: payload, topic: topic, reliable: reliable)
    _ = await room.ask(.administration(.send(message, to: destinations)))
  }
}

/// What is read, which changes nothing.
extension Room {
  var snapshot: RoomSnapshot { state.snapshot(now: now) }
  var waitingSessions: [Waiter] { state.waiting.map(\.waiter) }

  func participants(after: String?, limit: Int) -> [ParticipantSnapshot] {
    state.participants(after: after, limit: limit)
  }

  func participant(_ identity: String) throws(AdministrationError) -> ParticipantSnapshot {
    try state.participant(identity)
  }
}
