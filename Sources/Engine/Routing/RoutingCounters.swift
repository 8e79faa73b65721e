public import Peer

/// What happened to datagrams on their way to peers, and to peers on their way to a worker.
public struct RoutingCounters: Sendable {
  /// Datagrams from the socket.
  public var received: UInt64 = 0
  /// Truncated, or without address.
  public var unreadable: UInt64 = 0
  public var noProtocol: UInt64 = 0
  /// Not STUN, from a path that no peer has.
  public var unknownPath: UInt64 = 0
  /// STUN that names no peer of ours.
  public var unknownFragment: UInt64 = 0
  /// Checks asked about at their home; those that weren't because their path had just asked, because too many asked
  /// for one peer, because too many asked at all.
  public var checksAsked: UInt64 = 0
  public var checksRepeated: UInt64 = 0
  public var checksOfOnePeer: UInt64 = 0
  public var checksDropped: UInt64 = 0
  public var adopted: UInt64 = 0
  /// Datagrams handed to the worker that has the peer, those taken from another, those lost on the way.
  public var handedOver: UInt64 = 0
  public var takenOver: UInt64 = 0
  public var handoverDropped: UInt64 = 0
  public var pathTableFull: UInt64 = 0
  public var messagesDropped: UInt64 = 0
  /// ICE restarts of peers that are here.
  public var iceRestarts: UInt64 = 0
  private var ends: InlineArray<8, UInt64> = InlineArray(repeating: 0)

  public init() {}

  /// Peers that ended, by the reason.
  public subscript(reason: PeerCloseReason) -> UInt64 { ends[Self.place(reason)] }
  public mutating func count(_ reason: PeerCloseReason) { ends[Self.place(reason)] &+= 1 }

  private static func place(_ reason: PeerCloseReason) -> Int {
    PeerCloseReason.allCases.firstIndex(of: reason) ?? 0
  }
}
