public import ICE
public import Peer

/// Counters and table sizes of one worker at one moment.
public struct WorkerReport: Sendable {
  public var worker = 0
  public var peers = 0
  public var connectedPeers = 0
  /// Also those that other workers relay to this one.
  public var tracks = 0
  /// Published by peers that are here.
  public var audioTracks = 0
  public var videoTracks = 0
  public var paths = 0
  public var timers = 0
  /// Peers of this home, wherever they are now.
  public var homeRecords = 0
  public var fragments = 0
  public var pendingChecks = 0
  /// Addresses that peers were heard from, by ICE.
  public var pairs = 0
  /// Slots and the like that tracks here are given to.
  public var consumers = 0
  /// SSRCs that are mapped to tracks; and those under which peers have sent something authentic of late.
  public var streams = 0
  public var authenticatedStreams = 0
  public var counters = PeerCounters()
  public var routing = RoutingCounters()
  /// STUN that was ignored.
  public var iceDrops = ICEDropCounters()
  public var sending = SendStatistics()
  /// Of the worker's thread: ten below the process's, where the kernel allows it.
  public var niceness = 0

  public init() {}
}

/// What happened between workers, and to datagrams that belong to no peer.
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
  /// Packets of tracks to and from other workers.
  public var relayed: UInt64 = 0
  public var relayReceived: UInt64 = 0
  public var relayDropped: UInt64 = 0
  /// Requested retransmissions that were no longer kept.
  public var historyMissed: UInt64 = 0
  /// Subscribers that started with a key frame from the history.
  public var pictureReplays: UInt64 = 0
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
