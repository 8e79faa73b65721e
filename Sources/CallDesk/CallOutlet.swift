/// What carries out what was decided: rooms, pushes, event streams and webhooks.
public protocol CallOutlet: Sendable {
  /// It is on the disk. Not in the order of the decisions where they come close to each other: what is said again must do no harm.
  func perform(_ aftermath: Aftermath)
}
