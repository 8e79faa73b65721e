package import AccessTokens
package import Model
internal import Signalling

/// What the native door goes by.
package struct SignallingTerms: Sendable {
  var room: String
  /// Reads a token and says whether it joins that room.
  var authorize: @Sendable (String) throws(AccessTokenRefusal) -> AccessToken
  /// Makes a token that begins now, for the same participant with what it may do by now; nil: this door can't, or the
  /// participant has been removed.
  package var renew: @Sendable (AccessToken, Grants) -> (text: String, token: AccessToken)? = { _, _ in nil }
  /// Seconds since 1970.
  package var now: @Sendable () -> Int = { 0 }
  /// Waits; throws when the task is cancelled.
  package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// A clock that is never stepped, for budgets.
  package var instant: @Sendable () -> Instant = { Instant(nanoseconds: 0) }
  /// Until `auth` or `resume` has come.
  var authTime: Duration = .seconds(5)
  /// Seconds between the pings that a client is asked for.
  var pingInterval = 20
  /// What people of calls share; nil: there are no calls.
  var sessions: (any SessionService)?
  /// Those for the participant of that id.
  var iceServers: @Sendable (String) -> [ICEServerBody] = { _ in [] }

  package init(
    room: String, authorize: @escaping @Sendable (String) throws(AccessTokenRefusal) -> AccessToken
  ) {
    self.room = room
    self.authorize = authorize
  }

  /// Charges an identity for a message of so many bytes.
  /// - Returns: how long it takes until nothing is owed.
  func charge(_ bytes: Int, to identity: String, in intakes: Intakes) -> Duration {
    intakes.charge(bytes, room: room, identity: identity, now: instant())
  }
}
