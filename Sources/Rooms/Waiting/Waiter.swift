public import Model

/// A session that waits to be let in, as the hosts of the room see it.
public struct Waiter: Equatable, Sendable {
  public let id: WaitingID
  public let identity: String
  public let name: String?
  public let since: WallTime
  /// Until when it may wait.
  public let until: WallTime
}

/// The session that an event is about.
public struct EventWaiting: Equatable, Sendable {
  public let waiter: Waiter
  /// Once it waits no longer.
  public var reason: WaitingEndReason?

  /// In an event about it, about.
  var bytes: Int { 192 + waiter.identity.jsonBytes + (waiter.name?.jsonBytes ?? 0) }
}
