internal import Engine
internal import Model
internal import Negotiation
internal import Recording

/// What a room has done, in order. An effect that is a question is answered by an input before the next is performed.
enum RoomEffect: Sendable {
  // MARK: - Participants

  /// It is in: what follows concerns it too.
  case admit(JoinedState, SessionTerms)
  /// A question: whether a session may wait to be let in. It gives up the place that it was given as it came, and keeps the room.
  /// - Parameter replacing: an earlier one of its identity waits no longer then.
  case askWait(WaitingSession, replacing: Bool)
  /// A session waits.
  case wait(Waiter)
  /// A question: a place for one that waits, as it came.
  case askPlace(WaitingID, Newcomer, AdmissionCause)
  /// A question: which of these hold no more.
  case askInvitations([InvitationID])
  /// One waits no longer, whatever became of it.
  /// - Parameter patience: seconds for which a room stays that is empty now.
  case waitingEnded(patience: Int)
  /// What became of one that waited; of that it hears no more.
  case settle(WaitingID, WaitingOutcome)
  /// Its socket has gone: notices may collapse until `resumed`.
  case unattended(ParticipantID)
  case notify(ParticipantID, ParticipantNotice)
  /// Everybody who is in.
  case notifyAll(ParticipantNotice)
  /// It is out; the notice is its last.
  case dismiss(ParticipantID, LeaveReason)
  /// What becomes of the request; one at most for each input.
  case reply(RoomReply)

  // MARK: - The room's surroundings

  /// For the journal, and for everybody who is in but one: who leaves hears of it by its last notice.
  case record(RoomEvent, except: ParticipantID? = nil)
  /// For the journal, and for these alone.
  case recordForHosts(RoomEvent, [ParticipantID])
  case keepSettings(RoomSettings)
  /// A question: an identity that waits is refused, and its tokens of before are to be no longer good for the room.
  case forbid(WaitingID, String, AdmissionCause)
  /// A question: whether the room may keep as many bytes of messages as it has now for those who come.
  case historyChanged
  /// It comes back under its name no more.
  case giveUpName
  /// The room is over: nothing calls it any more, and no invitation leads to it.
  case finished
  /// A session is over.
  /// - Parameters:
  ///   - reason: nil: it never began.
  ///   - patience: seconds for which a room stays that is empty now.
  case sessionEnded(identity: String, LeaveReason?, patience: Int)
  /// Media of a participant is connected for the first time, so long after it was let in.
  case mediaReady(Duration)
  /// A participant's media connects, or ends; it may be repeated.
  /// - Parameter stay: by which it is there, for those who oversee the room; nil: it isn't known.
  case media(of: String, stay: String?, MediaPresence)
  /// When the room is to be called; `.never`: not at all.
  case alarm(Instant)
  case log(String, KeyValuePairs<String, String>)
  case recording(RecordingCommand)
  /// A question: what came after that event.
  case read(ParticipantID, after: Int)

  // MARK: - The media plane

  /// A question: a place for the peer, unless it has one, and our end of its transport.
  case prepare(Proposal)
  /// Events of that peer are for this room, from before it is added.
  case expect(PeerKey)
  case add(PeerKey, AgreedTransport, AgreedMedia)
  /// A peer is about to be closed whose session was lost: what its flight recorder has is kept.
  case lost(PeerKey, of: ParticipantID, identity: String, TransportID)
  case post(Command)
  /// Its place is free; it was never added.
  case release(PeerKey)
}
