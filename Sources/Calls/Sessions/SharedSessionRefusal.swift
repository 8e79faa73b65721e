/// Why something of a session isn't done.
public enum SharedSessionRefusal: Error, Hashable, Sendable {
  case notAllowed
  case ended
  /// As many events are kept as may be: the owner keeps a snapshot first.
  case full
  /// A snapshot of what hasn't come yet; the number of the last event.
  case beyondLast(Int64)
  /// A newer one is kept already; how far that goes.
  case staleSnapshot(Int64)
}
