/// What carries out what was decided: rooms, pushes, event streams and webhooks.
public protocol CallOutlet: Sendable {
  /// It is on the disk. In the order of the decisions, one after the other, on any thread; it returns soon, since those behind wait.
  func perform(_ aftermath: Aftermath)
}
