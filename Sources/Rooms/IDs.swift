internal import Model

/// Opaque ids of rooms, participant sessions and tracks: a prefix and 12 random characters (71 bits), never
/// reused.
public struct RoomID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "RM_" + random.alphanumeric(12) }

  /// To look one up by what a stranger says.
  init(naming text: String) { self.text = text }
}

public struct RecordingID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "RC_" + random.alphanumeric(12) }

  /// As it was drawn once.
  init(known text: String) { self.text = text }
}

public struct ParticipantID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "PA_" + random.alphanumeric(12) }

  /// As it was drawn once.
  init(known text: String) { self.text = text }
}

public struct InvitationID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "IV_" + random.alphanumeric(12) }

  /// As it was drawn once, or to look one up by what a stranger says.
  init(known text: String) { self.text = text }
}

/// Names a session that waits to be let in; it is another one's than that of the participant that comes of it.
public struct WaitingID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "WT_" + random.alphanumeric(12) }

  /// As it was drawn once.
  init(known text: String) { self.text = text }
}

public struct TrackID: Hashable, Sendable {
  public let text: String
  init(_ random: inout RandomSource) { text = "TR_" + random.alphanumeric(12) }

  /// As it was drawn once.
  init(known text: String) { self.text = text }
}
