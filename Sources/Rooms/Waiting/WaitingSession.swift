internal import Model

/// A session that waits to be let in, as its room's state has it: it is no participant, and takes no place.
struct WaitingSession: Sendable {
  let id: WaitingID
  /// Who comes, as it came.
  let newcomer: Newcomer
  let since: WallTime
  let until: WallTime
  let deadline: Instant

  var waiter: Waiter {
    Waiter(id: id, identity: newcomer.identity, name: newcomer.name, since: since, until: until)
  }
}

/// What has it come in.
enum AdmissionCause: Sendable {
  /// The room asks no one any more: it is refused where it finds no place.
  case settings
  /// A participant that is a host, or who runs the room from outside: they hear why it finds none, and it goes on waiting.
  case host
  case administration
}

/// What becomes of one that waits.
enum WaitingOutcome: Sendable {
  /// It is the session that was let in last.
  /// - Parameter isNew: its participant has come with it.
  case admitted(isNew: Bool)
  case ended(JoinError)
}
