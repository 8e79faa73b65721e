/// Names a transport among those of one participant session; from 1, and never used again in the session.
public struct TransportID: Hashable, Sendable {
  public let number: UInt32

  /// The one that a session has from the beginning, if it is given one as it joins.
  static let first = TransportID(number: 1)
}

/// What flows on a transport, as its participant sees it.
public enum TransportRole: UInt8, Sendable, CaseIterable {
  /// As the native door has it.
  case both = 0
  /// It has no slots.
  case publishes = 1
  /// Sections that send are declined.
  case subscribes = 2

  var publishes: Bool { self != .subscribes }
  var subscribes: Bool { self != .publishes }
}
