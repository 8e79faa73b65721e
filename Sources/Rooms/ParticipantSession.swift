public import AccessTokens
public import Model

/// One participant's session in a room, as a front door has it.
public final class ParticipantSession: Sendable {
  public let id: ParticipantID
  public let joined: JoinedState
  /// The one that it was given as it joined; nil: it opens them itself.
  public let transport: ParticipantTransport?
  let mailbox: NoticeMailbox
  private let room: any RoomRequests
  /// Another may follow it for the same participant, and then it asks for nothing any more.
  let number: UInt32

  /// - Parameter pressure: the room's.
  init(joined: JoinedState, terms: SessionTerms, room: any RoomRequests, pressure: NoticePressure) {
    id = joined.participant.id
    self.joined = joined
    self.room = room
    number = terms.number
    let (id, number) = (joined.participant.id, terms.number)
    if let transport = terms.transport, let role = terms.role {
      self.transport = ParticipantTransport(id: transport, role: role, participant: id, room: room)
    } else {
      transport = nil
    }
    mailbox = NoticeMailbox(
      isAttended: terms.isAttended, transport: terms.transport ?? .first, pressure: pressure
    ) {
      // Who can't keep up would live in a wrong picture of the room: better to join again.
      Task { _ = await room.handle(.request(id, .leave(.connectionLost), session: number)) }
    }
  }

  /// What the participant is to know, in order; ends after `closed`.
  public var notices: AsyncStream<ParticipantNotice> { mailbox.notices }

  /// Opens another transport; at most four at once.
  public func openTransport(_ role: TransportRole) async throws(RequestError) -> ParticipantTransport {
    switch await ask(.openTransport(role)) {
    case .opened(let transport):
      return ParticipantTransport(id: transport, role: role, participant: id, room: room)
    case .refused(let error): throw error
    default: throw .gone
    }
  }

  // MARK: - Of the participant

  /// Mutes a track of one's own, or lifts that.
  public func mute(_ track: String, _ muted: Bool) async throws(RequestError) {
    try await ask(.mute(track, muted)).done()
  }

  /// Changes what others see of this participant.
  public func update(_ change: ParticipantChange) async throws(RequestError) {
    try await ask(.update(change)).done()
  }

  /// Raises its hand or lowers it.
  /// - Parameter other: whose hand a host lowers, by its id; nil: its own.
  public func raiseHand(_ isRaised: Bool, of other: String? = nil) async throws(RequestError) {
    try await ask(.hand(isRaised, of: other)).done()
  }

  /// As a host it lets one in that waits, or refuses it, which outlives a crash once it is `stored`.
  /// - Parameter waiting: its id.
  public func admit(_ waiting: String, _ isAllowed: Bool) async throws(RequestError) {
    try await ask(.admit(waiting, isAllowed)).done()
  }

  /// Returns once all that the room has done by now is stored.
  /// - Throws: `notStored`.
  public func stored() async throws(RequestError) { try await room.stored() }

  /// Sends a message to all others.
  /// - Parameter destinations: identities; nil: all. Who isn't there gets nothing.
  public func send(
    _ payload: [UInt8], topic: String? = nil, reliable: Bool = true, to destinations: [String]? = nil
  ) async throws(RequestError) {
    let request = DataRequest(payload: payload, topic: topic, reliable: reliable, destinations: destinations)
    try await ask(.send(request)).done()
  }

  /// What the participant may do by now; nil: the session is over.
  public func grants() async -> Grants? {
    if case .grants(let grants) = await ask(.grants) { grants } else { nil }
  }

  /// Why it gets what it gets, of 128 tracks on each transport at most; within a little more than a second.
  /// - Throws: `.tooOften`: it was asked less than a second ago.
  public func explain() async throws(RequestError) -> ParticipantExplanation {
    try await room.explainOwn(id)
  }

  /// Has all slots said once more, in their place among the notices.
  public func tellSlots() async { _ = await ask(.tellSlots) }

  /// Ends the session; one that has ended already stays as it is.
  public func leave(reason: LeaveReason = .left) async { _ = await ask(.leave(reason)) }

  // MARK: - Away and back

  /// The front door has nowhere to send to: the session ends unless it is `present` within the grace. `absent` and
  /// `present` come one at a time, in order.
  public func absent() async { _ = await ask(.absent) }

  /// It has again: `resumed` comes among the notices, with what was missed.
  /// - Parameter after: the last event that the client has.
  /// - Throws: `.gone`: the session is over, or what was missed is no longer kept. `.tooOften`: it stays away for now.
  public func present(after: Int) async throws(RequestError) {
    try await ask(.present(after: after)).done()
  }

  private func ask(_ request: ParticipantRequest) async -> RoomReply {
    await room.ask(.request(id, request, session: number))
  }
}
