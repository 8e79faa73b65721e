public import Model
public import Peer
internal import Polling
public import Transport

/// Everything that one worker owns, without socket, thread or clock, in three parts that know nothing of each other: whose a
/// datagram is (`PeerRouting`), the peers (`PeerTable`), who gets which track (`TrackFeeds`). Here they are joined.
///
///     datagram ──▶ routing ──place──▶ peer ──packet──▶ feed        until the turn ends; then
///     feed ──what came──▶ each of its consumers ──▶ peers ──▶ outbox
///
/// A worker's loop, or a simulation, hands it datagrams, messages and the time, ends each turn by `finishTurn`, and sends
/// what is in its outbox.
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
  let flights: FlightOutlet
  let limits: Limits
  public var context: PeerContext

  var routing: PeerRouting
  var peers: PeerTable
  var feeds: TrackFeeds
  /// Packets of tracks that came in this turn, and are served at its end.
  var fresh = FreshPackets()
  /// Slots that were joined to a source, or to another encoding of it, in this turn.
  var joined: [(place: Int, slot: Int)] = []
  /// What leaves in slots.
  var slotRates: SlotRates
  /// What came in this turn of publishers here.
  var gathering = FrameGathering()
  /// What the socket's owner counts; set by it after each turn.
  var sending = SendStatistics()
  /// Of its thread; set by it once.
  var niceness = 0
  /// Turns that other workers' threads have taken.
  var standIns: UInt64 = 0
  var times = WorkerTimes()

  /// - Parameter index: 0 ..< the bridge's number of workers; each is made once.
  public init(
    index: Int, bridge: Bridge, limits: Limits, context: consuming PeerContext
  ) {
    self.index = index
    exchange = bridge.exchange
    events = bridge.events
    samples = bridge.samples
    flights = bridge.flights
    self.limits = limits
    var random = context.transport.random
    routing = PeerRouting(
      index: index, places: limits.peers, pendingLimit: limits.pendingChecks, exchange: bridge.exchange,
      random: &random)
    context.transport.random = random
    peers = PeerTable(capacity: limits.peers)
    feeds = TrackFeeds(
      index: index, places: limits.peers, exchange: bridge.exchange, samples: bridge.samples)
    slotRates = SlotRates(places: limits.peers)
    self.context = context
  }

  /// When `poll` wants to be called.
  public var deadline: Instant { min(peers.deadline, feeds.groups.deadline, feeds.groups.lostDeadline) }

  /// Calls every peer whose time has come.
  public mutating func poll(now: Instant) {
    serve(now: now)
    if feeds.groups.deadline <= now {
      sampleEncodings(now: now)
      _ = feeds.groups.takeLost()
      allocate(now: now)
      sampleSlots(now: now)
    } else if feeds.groups.lostDeadline <= now {
      allocate(now: now, showing: feeds.groups.takeLost())
    }
    // A peer that is always due must not hold up the loop: one round, then datagrams again.
    var rounds = peers.timerCount
    while rounds > 0, let place = peers.due(now) {
      rounds -= 1
      peers.pointer(place).pointee.poll(now: now, context: &context)
      if peers.pointer(place).pointee.departs { depart(place, now: now) }
      probe(place, now: now)
      settle(place, now: now)
    }
  }

  /// After something other than a media packet happened to a peer: acts on what it changed, and sets its timer.
  mutating func settle(_ place: Int, now: Instant) {
    if context.hasEffects && applyEffects(place, now: now) { return }
    peers.schedule(place)
  }

  /// The end of a turn: what came in it is served, what waits in the outbox is sent, and the workers and sinks that have
  /// something to read are woken.
  public mutating func finishTurn(now: Instant, _ send: (inout Outbox) -> Void) {
    endTurn(now: now, send)
    wakeOthers()
  }

  /// As `finishTurn`; the workers are left to the caller.
  mutating func endTurn(now: Instant, _ send: (inout Outbox) -> Void) {
    serve(now: now)
    finishSwitches()
    if !context.transport.outbox.isEmpty { send(&context.transport.outbox) }
  }

  /// Wakes the workers and sinks that have something to read.
  public mutating func wakeOthers() {
    for worker in SetBits(takeTouched()) { exchange.mailboxes[worker].poke() }
  }

  /// Wakes the sinks that have something to read.
  /// - Returns: the workers that have, as bits.
  mutating func takeTouched() -> UInt64 {
    defer {
      routing.touched = 0
      feeds.touched = 0
    }
    feeds.sinks.wake()
    return routing.touched | feeds.touched
  }

  /// A datagram that could not even be read was dropped.
  mutating func noteUnreadable() { routing.counters.unreadable &+= 1 }
}
