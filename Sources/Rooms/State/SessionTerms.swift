/// What a participant's handle begins with.
struct SessionTerms: Equatable, Sendable {
  /// Counts the sessions of the participant, from 1.
  let number: UInt32
  /// The transport that it has from the beginning, and what that is for; nil: none.
  let transport: TransportID?
  let role: TransportRole?
  /// It has a socket, for which notices are read.
  let isAttended: Bool
}
