public import AccessTokens
internal import Engine
public import Model

/// Transports whose clients have no socket: WHIP and WHEP.
extension RoomDirectory {
  /// Opens one for an identity: beside what the identity has in the room, else for a participant that is made for it.
  ///
  /// The offer is taken as a whole or not at all, and where it isn't, no participant has come for it.
  /// - Parameters:
  ///   - grants: what the token allows. A participant that is in has its own, which these narrow for this transport.
  ///   - issued: when the token counts as issued, seconds since 1970; nil: not known.
  ///   - invitation: the id of the one that has given out the token; nil: none has.
  public func open(
    _ offer: StandaloneOffer, room name: String, identity: String, name display: String? = nil,
    metadata: String? = nil, attributes: [String: String] = [:], grants: Grants, issued: Int? = nil,
    device: String? = nil, isAdmitted: Bool = false, invitation: String? = nil, admittedBy: String? = nil
  ) async throws(StandaloneError) -> StandaloneAnswer {
    let stay: String?
    do throws(JoinError) {
      stay = try await admit(identity, device: device, to: name, grants: grants)
    } catch { throw .joining(error) }
    let newcomer = Newcomer(
      identity: identity, name: display, metadata: metadata, attributes: attributes, grants: grants,
      issued: issued, opens: nil, isAttended: false, stay: stay, isAdmitted: isAdmitted,
      admittedBy: admittedBy.map { InvitationID(known: $0) },
      invitation: invitation.map { InvitationID(known: $0) })
    let room: Room
    let answer: StandaloneAnswer
    do throws(StandaloneError) { (room, answer) = try await begin(newcomer, offer, in: name) } catch {
      turnAway(identity, device: device, from: name)
      throw refuse(error)
    }
    do throws(JoinError) {
      try await entered(
        identity, device: device, room, grants: grants, as: answer.participant, by: .standalone(answer.id))
    } catch {
      try? await close(answer.id, offer.role, in: name, of: identity)
      throw .joining(error)
    }
    return answer
  }

  /// Has the room let in one who was admitted.
  private func begin(
    _ newcomer: Newcomer, _ offer: StandaloneOffer, in name: String
  ) async throws(StandaloneError) -> (Room, StandaloneAnswer) {
    if let refused = registry.refusal(of: newcomer, in: name) { throw .joining(refused) }
    let room: Room
    do throws(JoinError) {
      room = try registry.withRooms { rooms throws(JoinError) in
        try rooms.begin(newcomer.identity, in: name) { make(name, terms.defaults, number: $0) }
      }
    } catch { throw .joining(error) }
    switch await room.open(StandaloneEntry(newcomer: newcomer, offer: offer)) {
    case .standalone(let answer, let isNew):
      if isNew { registry.withRooms { $0.noteStarted() } }
      return (room, answer)
    case .standaloneRefused(let error): throw error
    default: throw .offer(.gone)
    }
  }

  /// Counts who isn't let in.
  private func refuse(_ error: StandaloneError) -> StandaloneError {
    if case .joining(let reason) = error { registry.withRooms { _ = $0.refuse(reason) } }
    return error
  }

  /// Whether there is one of that id, for that identity.
  public func look(
    at id: String, _ role: TransportRole, in room: String, of identity: String
  ) async throws(StandaloneError) {
    _ = try await ask(.look, StandaloneName(id: id, role: role, identity: identity), room)
  }

  /// Takes ICE information: candidates, or the credentials of a restart.
  /// - Parameter credentials: the far end's; nil: those in force are meant.
  public func change(
    _ id: String, _ role: TransportRole, in room: String, of identity: String,
    _ precondition: StandalonePrecondition, _ credentials: ICECredentials?
  ) async throws(StandaloneError) -> StandaloneChange {
    let name = StandaloneName(id: id, role: role, identity: identity)
    if case .changed(let change) = try await ask(.change(precondition, credentials), name, room) {
      return change
    }
    return .noted
  }

  /// Ends one, and its participant if nothing else is left of it.
  public func close(
    _ id: String, _ role: TransportRole, in room: String, of identity: String
  ) async throws(StandaloneError) {
    _ = try await ask(.close, StandaloneName(id: id, role: role, identity: identity), room)
  }

  private func ask(
    _ request: StandaloneRequest, _ name: StandaloneName, _ room: String
  ) async throws(StandaloneError) -> RoomReply {
    guard let room = self.room(of: room) else { throw .unknown }
    let reply = await room.handle(.standalone(name, request))
    if case .standaloneRefused(let error) = reply { throw error }
    return reply
  }
}
