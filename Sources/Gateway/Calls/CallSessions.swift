internal import AccessTokens
internal import CallDesk
internal import Calls
internal import Signalling

/// What people of a call share, for those who are connected to its room.
struct CallSessions: SessionService {
  let desk: CallDesk
  let feeds: SessionFeeds

  func open(_ identity: String, in room: String) -> SessionLine? {
    CallRooms.isCall(room) ? feeds.open(PersonID(identity), in: room) : nil
  }

  func close(_ line: SessionLine) { feeds.close(line) }

  func append(
    _ message: ClientMessage.SessionEvent, by token: AccessToken, in room: String
  ) async throws(Refusal) -> ServerMessage.SessionSeq {
    guard let session = CallUUID(message.sid) else { throw Refusal(.badMessage, "sid is not a UUID") }
    guard let id = CallUUID(message.event.id) else { throw Refusal(.badMessage, "event.id is not a UUID") }
    do throws(CallProblem) {
      let event = try await desk.append(
        id, type: message.event.type, data: message.event.data.bytes, to: session, inRoom: room,
        by: Caller(token))
      return ServerMessage.SessionSeq(sid: session.text, event: event.id, seq: Int(event.seq))
    } catch { throw Refusal(error) }
  }
}

extension Refusal {
  /// Of what is asked of a shared session.
  init(_ problem: CallProblem) {
    switch problem {
    case .notFound: self.init(.unknownSession, "no such session in this room")
    case .notAllowed: self.init(.notAllowed, "it is for those who take part in the session")
    case .removed: self.init(.notAllowed, "you were removed from this call")
    case .callEnded, .sessionEnded: self.init(.sessionEnded, "the session is over")
    case .idTaken: self.init(.idTaken, "the event's id was given to another event")
    case .reservedType:
      self.init(.reservedType, "types that begin with \(SystemEvent.prefix) are the server's own")
    case .tooMany: self.init(.rateLimited, "too many events; wait a moment")
    case .tooLarge(let what): self.init(.tooLarge, "\(what) is too large")
    case .storeUnavailable:
      self.init(
        .unavailable, "it can't be stored at the moment, or it isn't known whether it is: send it again")
    // Nothing that an event could be refused by.
    case .activeElsewhere, .noRecipients, .tooManyPeople, .compacted, .beyondLast, .staleSnapshot,
      .keyMissing, .staleKey,
      .notEncrypted, .badKey, .noSuchHead:
      self.init(.notAllowed, "it can't be done")
    }
  }
}
