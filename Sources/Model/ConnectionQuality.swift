/// How well a participant's media travels, by packets lost in either direction and by the round trip.
public enum ConnectionQuality: String, Sendable, CaseIterable {
  /// Below 2 % and below 150 ms.
  case excellent
  /// Below 5 % and below 300 ms.
  case good
  case poor
  /// Half of it or more, or no sign of life for 8 s.
  case lost
}
