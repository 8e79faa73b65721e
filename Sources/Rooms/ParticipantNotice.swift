public import Model

/// What a participant is to know.
public enum ParticipantNotice: Sendable {
  case event(RoomEvent)
  /// The answer to an offer, in its place among the other notices: all that it names was announced before.
  case answer(OfferAnswer)
  /// Only slots that changed.
  case slots([SlotAssignment])
  /// So many more receive sections are needed, beside those that were asked for already.
  case offerWanted(audio: Int, video: Int)
  /// Nothing comes on the way of media: a restart of ICE may find another.
  case restartWanted
  /// Who speaks now, the loudest first.
  case speakers([Speaker])
  /// Only participants whose quality changed.
  case quality([ParticipantQuality])
  /// What became of tracks that this participant is to get; one that is put into a slot is active until this says
  /// otherwise. One notice for all that change at once, however many there are.
  case streams([(track: TrackID, state: StreamState)])
  case data(DataMessage)
  /// The server is about to stop, at the latest then.
  case draining(deadline: WallTime)
  /// What a client that comes back has missed; notices before it are not for that client.
  case resumed(ResumedState)
  /// What concerns another transport than the first: an answer, slots, streams, an offer that is wanted.
  indirect case on(TransportID, ParticipantNotice)
  /// Its media is lost, and the session goes on with its other transports.
  case transportClosed(TransportID)
  /// The session is over; always the last.
  case closed(LeaveReason)
}

/// What a client missed while its socket was gone, and how things are now.
public struct ResumedState: Sendable {
  /// Who missed more than these had better join again.
  static let eventLimit = 1_000
  /// Of them all, as estimated: less than may wait for a socket.
  static let byteLimit = 2 * 1_024 * 1_024

  /// The last event that all this contains.
  public let lastEvent: Int
  /// Events up to that one, in order.
  public let missed: [RoomEvent]
  /// Every slot of the first transport, and every track of one's own on it.
  public let slots: [SlotAssignment]
  public let tracks: [(mid: String, track: TrackID)]
  /// What is otherwise said by change only, as it is now.
  public let notices: [ParticipantNotice]
}

public struct Speaker: Equatable, Sendable {
  public let participant: ParticipantID
  /// 0 (silent) to 1 (as loud as can be).
  public let level: Double
}

/// How well somebody's media travels, by packets lost in either direction and by the round trip.
public enum ConnectionQuality: String, Sendable, CaseIterable {
  /// Below 2 % and below 150 ms.
  case excellent
  /// Below 5 % and below 300 ms.
  case good
  case poor
  /// Half of it or more, or no sign of life for 8 s.
  case lost
}

public struct ParticipantQuality: Equatable, Sendable {
  public let participant: ParticipantID
  public let quality: ConnectionQuality
}

/// Whether a track reaches its subscriber, and if not, why.
public enum StreamState: Equatable, Sendable {
  case active
  case paused(PauseReason)
  case waiting(WaitReason)

  public enum PauseReason: String, Sendable, CaseIterable {
    /// No section of the subscriber's has the codec that the track comes in.
    case codec
    /// The publisher's packets have ceased to come.
    case noMedia = "no-media"
  }

  public enum WaitReason: String, Sendable, CaseIterable {
    case noSlot = "no-slot"
  }
}

/// A message from a participant to others.
public struct DataMessage: Equatable, Sendable {
  /// nil: from somebody who is hidden.
  public let from: ParticipantID?
  /// As it came; the front door knows what it is.
  public let payload: String
  public let topic: String?
  /// May be left out where the receiver is slow.
  public let reliable: Bool
  /// For the front doors.
  public let wire = SharedText()
}
