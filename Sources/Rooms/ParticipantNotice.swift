public import Model

/// What a participant is to know.
public enum ParticipantNotice: Sendable {
  case event(RoomEvent)
  /// What concerns one of its transports.
  case on(TransportID, TransportNotice)
  /// Nothing comes on the way of media: a restart of ICE may find another.
  case restartWanted
  /// Who speaks now, the loudest first.
  case speakers([Speaker])
  /// Only participants whose quality changed.
  case quality([ParticipantQuality])
  case data(DataMessage)
  /// The server is about to stop, at the latest then.
  case draining(deadline: WallTime)
  /// What a client that comes back has missed; notices before it are not for that client.
  case resumed(ResumedState)
  /// The session is over; always the last.
  case closed(LeaveReason)
}

/// What a participant is to know of one of its transports.
public enum TransportNotice: Sendable {
  /// The answer to an offer, in its place among the other notices: all that it names was announced before.
  case answer(OfferAnswer)
  /// Only slots that changed.
  case slots([SlotAssignment])
  /// So many more receive sections are needed, beside those that were asked for already.
  case offerWanted(audio: Int, video: Int)
  /// What became of tracks that it is to get; one that is put into a slot is active until this says otherwise. One notice
  /// for all that change at once, however many there are.
  case streams([(track: TrackID, state: StreamState)])
  /// How a track that it publishes is to be sent.
  case publish(TrackID, PublishAdvice)
  /// Its media is lost, and the session goes on with its other transports.
  case closed
}

/// What a publisher is to know of those who watch a track.
public struct PublishAdvice: Sendable {
  /// Its encodings that have names, in the order of its offer, and whether each is watched; others need not be sent.
  public var layers: [(rid: String, isWatched: Bool)]
  /// Codecs of its own section that everybody present can be shown, in the order of that section.
  public var codecs: [(payloadType: UInt8, name: String)]

  package init(
    layers: [(rid: String, isWatched: Bool)] = [], codecs: [(payloadType: UInt8, name: String)] = []
  ) {
    self.layers = layers
    self.codecs = codecs
  }
}

public struct Speaker: Equatable, Sendable {
  public let participant: ParticipantID
  /// 0 (silent) to 1 (as loud as can be).
  public let level: Double
}

public struct ParticipantQuality: Equatable, Sendable {
  public let participant: ParticipantID
  public let quality: ConnectionQuality
}
