public import ICE
public import Model
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
  public var transports = TransportSizes()
  /// Slots and sinks that tracks here are given to.
  public var consumers = 0
  public var counters = PeerCounters()
  public var routing = RoutingCounters()
  public var relaying = TrackCounters()
  /// STUN that was ignored.
  public var iceDrops = ICEDropCounters()
  public var sending = SendStatistics()
  public var thread = ThreadReport()
  /// What is in its memory at this moment.
  public var stocks = WorkerStocks()

  public init() {}
}

/// What one worker's peers were heard by, and what is noted of them.
public struct TransportSizes: Sendable {
  /// Addresses that peers were heard from, by ICE.
  public var pairs = 0
  /// SSRCs that are mapped to tracks, and SSRCs whose packets were recently authenticated.
  public var streams = 0
  public var authenticatedStreams = 0
  /// Flight recorders that have recorded something, and how many bytes they have together.
  public var flightRecorders = 0
  public var flightBytes = 0

  public init() {}
}

/// How a worker's thread runs.
public struct ThreadReport: Sendable {
  /// Ten below the process's, where the kernel allows it.
  public var niceness = 0
  /// Turns that other workers' threads took for it while its own waited.
  public var standIns: UInt64 = 0
  public var times = WorkerTimes()

  public init() {}
}

/// How long things take on one worker, and what its peers' paths carry.
public struct WorkerTimes: Sendable {
  /// From the kernel's stamp until a datagram is read: of the first of each batch, which has waited longest. Nanoseconds.
  public var reading = Histogram.durations
  /// Of a turn, from the end of the wait to the next one. Nanoseconds.
  public var turns = Histogram.durations
  /// From the first datagram of a handshake to its keys. Nanoseconds.
  public var handshakes = Histogram.durations
  /// What each subscriber's path is thought to carry, noted ten times a second. Bits per second.
  public var targets = Histogram.rates

  public init() {}
}

/// What waits on one worker, and what its tables keep.
public struct WorkerStocks: Sendable {
  /// Packets that wait for their path.
  public var waitingPackets = 0
  /// Of tracks, for retransmission and for those who come later.
  public var historyBytes = 0

  public init() {}
}
