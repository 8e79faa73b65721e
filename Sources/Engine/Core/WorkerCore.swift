public import Model
public import Peer
public import Transport

/// Everything that one worker owns, without socket, thread or clock: peers, their tracks' fan-outs, timers, and
/// the ways to the other workers.
///
/// A worker's loop, or a simulation, hands it datagrams, messages and the time, and sends what is in its outbox.
/// It is changed by one thread only; what comes from others comes through the exchange.
public struct WorkerCore: ~Copyable {
  /// What bounds a worker.
  public struct Limits: Sendable {
    public var peers: Int
    /// Checks waiting for an answer from their home.
    public var pendingChecks = 256
    public init(peers: Int) { self.peers = peers }
  }

  let index: Int
  let exchange: Exchange
  let events: EventTable
  let samples: SampleTable
  let limits: Limits
  public var context: PeerContext

  var peers: PeerSlab
  var fanouts = FanoutTable()
  var timers: TimerHeap
  var paths: PathClaims
  var homes: [PeerKey: HomeRecord] = [:]
  /// Fragments of peers that are here, and of those whose home this is.
  var fragments: [UfragKey: PeerKey] = [:]
  /// Peers that went from here by way of their home, until it has said its last word on them.
  var away: Set<PeerKey> = []
  /// Paths of peers that went from here a moment ago.
  var departed = DepartedPaths()
  /// Peers that may come here, with the tracks that flow for them already.
  var expected: [PeerKey: [TrackKey]] = [:]
  var pending = PendingChecks()
  var counters = RoutingCounters()
  /// What the socket's owner counts; told by it after each turn.
  var sending = SendStatistics()
  /// Of its thread; told by it once.
  var niceness = 0
  /// While a peer is replaced by another: fan-outs without consumers stay.
  var keepsUnused = false
  /// Workers that got something in this batch and are yet to be woken.
  var touched: UInt64 = 0

  /// Where a peer of this home is.
  struct HomeRecord {
    /// This worker or the one that adopted it.
    var worker: Int
    var ufrags: [UfragKey]
    /// What is to reach it, while what went by its former owner may still come back.
    var held: [WorkerMessage]?
  }

  /// - Parameter index: 0 ..< the bridge's number of workers; each is made once.
  public init(
    index: Int, bridge: Bridge, limits: Limits, context: consuming PeerContext
  ) {
    self.index = index
    exchange = bridge.exchange
    events = bridge.events
    samples = bridge.samples
    self.limits = limits
    peers = PeerSlab(capacity: limits.peers)
    timers = TimerHeap(capacity: limits.peers)
    var keys = context.transport.random
    // Eight pairs a peer, here or handed over.
    paths = PathClaims(limit: max(limits.peers * 8, 64), random: &keys)
    context.transport.random = keys
    self.context = context
  }

  /// When `poll` wants to be called.
  public var deadline: Instant { timers.first?.deadline ?? .never }

  /// Calls every peer whose time has come.
  public mutating func poll(now: Instant) {
    // A peer that is always due must not hold up the loop: one round, then datagrams again.
    var rounds = timers.count
    while rounds > 0, let (slot, deadline) = timers.first, deadline <= now {
      rounds -= 1
      peers.pointer(slot).pointee.poll(now: now, context: &context)
      settle(slot, now: now)
    }
  }

  /// After something other than a media packet happened to a peer: acts on what it changed, and sets its timer.
  mutating func settle(_ slot: Int, now: Instant) {
    if context.hasEffects && applyEffects(slot, now: now) { return }
    timers.set(slot, to: peers.pointer(slot).pointee.deadline)
  }

  /// At the end of a batch: wakes the workers for whom something was left.
  public mutating func finishBatch() {
    for worker in SetBits(touched) { exchange.mailboxes[worker].poke() }
    touched = 0
  }

  /// Sends what waits in the outbox.
  public mutating func flush(_ send: (inout Outbox) -> Void) {
    if !context.transport.outbox.isEmpty { send(&context.transport.outbox) }
  }

  /// A datagram that could not even be read was dropped.
  mutating func noteUnreadable() { counters.unreadable &+= 1 }

  mutating func post(_ message: WorkerMessage, to worker: Int) {
    guard worker >= 0 && worker < exchange.count else { return }
    // State must not be lost; its amount is bounded by peers and tracks. Checks of strangers may be, and wishes.
    let mayDrop =
      switch message {
      case .check, .keyFrameWanted, .strayed: true
      default: false
      }
    if !exchange.mailboxes[worker].post(message, force: !mayDrop) { counters.messagesDropped &+= 1 }
  }
}
