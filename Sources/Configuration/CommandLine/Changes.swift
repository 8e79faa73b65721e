/// What becomes of one thing that can be set and taken away (RFC 7396).
public enum Change<Value: Equatable & Sendable>: Equatable, Sendable {
  case keep
  case set(Value)
  case clear
}

/// What is set of a room.
public struct RoomChange: Equatable, Sendable {
  public var metadata = Change<String>.keep
  public var maxParticipants = Change<Int>.keep
  /// Seconds.
  public var emptyTimeout = Change<Int>.keep
  /// Seconds.
  public var departureTimeout = Change<Int>.keep

  public init() {}
}

/// What is changed of a participant.
public struct ParticipantChange: Equatable, Sendable {
  /// What a participant may do, as the command line calls it.
  public enum Permission: String, CaseIterable, Sendable {
    case publish
    case subscribe
    case data
    case updateMetadata = "update-metadata"
  }

  public var name = Change<String>.keep
  public var metadata = Change<String>.keep
  /// Whether all go that `attributes` doesn't set.
  public var clearsAttributes = false
  /// nil takes one away.
  public var attributes: [String: String?] = [:]
  public var permissions: [Permission: Bool] = [:]
  /// `clear` allows every source.
  public var sources = Change<[String]>.keep

  public init() {}
}
