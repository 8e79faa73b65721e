public import Model

/// How a session begins, goes on and ends.
extension ServerMessage {
  /// What a participant finds when it arrives.
  public struct Joined: Message {
    public static let type = "joined"
    public static let definition = "Joined"
    public static let summary = "The first message: the state of the room exactly as of lastEvent."

    public var participant = ParticipantBody()
    public var room = RoomBody()
    /// The others, each written once for all that arrive.
    public var participants: [Written<ParticipantBody>] = []
    public var iceServers: [ICEServerBody] = []
    public var resumeToken = ""
    /// Seconds between the pings that a client is asked for.
    public var pingInterval = 1
    /// The event up to which this is the state.
    public var lastEvent = 0
    /// nil: one is no host.
    public var waiting: [WaiterBody]?

    public init() {}
    public init(
      participant: ParticipantBody, room: RoomBody, participants: [Written<ParticipantBody>], lastEvent: Int
    ) {
      self.participant = participant
      self.room = room
      self.participants = participants
      self.lastEvent = lastEvent
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.record("participant", &participant)
      try coder.record("room", &room)
      try coder.records(Field("participants", "The others."), &participants, .people)
      try coder.records("iceServers", &iceServers, .addresses)
      try coder.text(Field("resumeToken", "Resumes this session; good once."), &resumeToken, .from1(to: 128))
      try coder.integer(Field("pingInterval", "Seconds."), &pingInterval, 1...Int.max)
      try coder.integer("lastEvent", &lastEvent, 0...Int.max)
      try coder.records(
        Field("waiting", "Who waits to be let in; absent: one is no host."), &waiting, .waiters)
    }
  }

  /// What one hears instead of `joined` until a host lets it in, or doesn't.
  public struct Waiting: Message {
    public static let type = "waiting"
    public static let definition = "Waiting"
    public static let summary = "A host has to let one in: joined comes then, or closed, or error."

    /// RFC 3339.
    public var until = ""
    /// Seconds between the pings that a client is asked for.
    public var pingInterval = 1

    public init() {}
    public init(until: String, pingInterval: Int) {
      (self.until, self.pingInterval) = (until, pingInterval)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("until", "How long that may take at most, RFC 3339."), &until, .any)
      try coder.integer(Field("pingInterval", "Seconds."), &pingInterval, 1...Int.max)
    }
  }

  /// What a client missed while its socket was gone begins with this; the events and what has changed follow.
  public struct Resumed: Message {
    public static let type = "resumed"
    public static let definition = "Resumed"
    public static let summary =
      "The session goes on; the events up to lastEvent follow, then what has changed otherwise."

    /// The last of the events that follow, or of what was known already.
    public var lastEvent = 0
    /// As of `lastEvent`, all of them.
    public var slots: [Slot] = []
    public var tracks: [AnsweredTrack] = []
    public var resumeToken = ""
    /// One that came while the session had no socket.
    public var answer: ResumedAnswer?

    public init() {}
    public init(lastEvent: Int, slots: [Slot] = [], tracks: [AnsweredTrack] = []) {
      self.lastEvent = lastEvent
      self.slots = slots
      self.tracks = tracks
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.integer("lastEvent", &lastEvent, 0...Int.max)
      try coder.records(Field("slots", "Every receive section, as of lastEvent."), &slots, .sections)
      try coder.records(Field("tracks", "Every track of one's own."), &tracks, .sections)
      try coder.text(Field("resumeToken", "Resumes this session; good once."), &resumeToken, .from1(to: 128))
      try coder.record("answer", &answer)
    }
  }

  public struct Token: Message {
    public static let type = "token"
    public static let definition = "Token"
    public static let summary = "An access token that holds longer than the last."
    public static let id = RequestIDUse.none

    public var token = ""

    public init() {}
    init(token: String) { self.token = token }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text("token", &token, .any)
    }
  }

  public struct Ok: Message {
    public static let type = "ok"
    public static let definition = "Ok"
    public static let summary = "A request was done that has no answer of its own."
    public static let id = RequestIDUse.required

    public init() {}

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
  }

  public struct Pong: Message {
    public static let type = "pong"
    public static let definition = "Pong"
    public static let summary = "The answer to ping."

    public init() {}

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
  }

  /// Why a request was not done, or a connection ends.
  public struct ErrorBody: Message {
    public static let type = "error"
    public static let definition = "ErrorMessage"
    public static let summary = "A request was refused, or the connection is about to be closed."

    public var code = SignallingErrorCode.badMessage
    /// For people.
    public var message = ""
    public var retry = SignallingErrorCode.Retry.never

    public init() {}
    public init(_ code: SignallingErrorCode, _ message: String) {
      self.code = code
      self.message = message
      retry = code.retry
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.word("code", &code)
      try coder.text(Field("message", "For people."), &message, .any)
      try coder.word("retry", &retry)
    }
  }

  public struct Draining: Message {
    public static let type = "draining"
    public static let definition = "Draining"
    public static let summary =
      "The server is about to stop and admits no new participant; those who are in may stay until then."
    public static let id = RequestIDUse.none

    public var deadline = ""

    public init() {}
    init(deadline: String) { self.deadline = deadline }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("deadline", "RFC 3339, UTC, milliseconds."), &deadline, .any)
    }
  }

  public struct Closed: Message {
    public static let type = "closed"
    public static let definition = "Closed"
    public static let summary = "The last message."

    public var reason = LeaveReason.left

    public init() {}
    init(reason: LeaveReason) { self.reason = reason }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.word("reason", &reason)
    }
  }
}
