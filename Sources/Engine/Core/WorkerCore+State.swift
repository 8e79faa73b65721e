public import Model
public import Peer
internal import Transport

extension WorkerCore {
  /// The worker as bytes, from which another one goes on where this one stood. What is on its way between workers isn't
  /// part of it: they are quiet when it is taken. Nor are peers in the middle of a handshake, which lives inside OpenSSL:
  /// one that lets its handshake wait keeps no other from going on.
  public func encode() -> [UInt8] { state.encode() }

  private var state: WorkerState {
    var state = WorkerState()
    var kept: Set<PeerKey> = []
    for place in peers.occupied {
      guard let key = peers.key(place) else { continue }
      guard let bytes = peers.pointer(place).pointee.encode() else {
        state.leftBehind.append(key)
        continue
      }
      state.peers.append(WorkerState.PeerState(key: key, bytes: bytes))
      kept.insert(key)
    }
    state.routing = routing.state(of: kept)
    state.feeds = feeds.state { place in peers.key(place).flatMap { kept.contains($0) ? $0 : nil } }
    return state
  }

  /// A worker that goes on where the one that wrote `state` stood.
  /// - Throws: for bytes that no worker of this build or an earlier one wrote, or more peers than `limits` allows.
  public static func decode(
    _ state: [UInt8], index: Int, bridge: Bridge, limits: Limits, context: consuming PeerContext, now: Instant
  ) throws(StateError) -> WorkerCore {
    let state = try WorkerState(decoding: state)
    guard state.peers.count <= limits.peers else {
      throw .invalid(field: "\(state.peers.count) peers, over \(limits.peers)", offset: 0)
    }
    try state.check(workers: bridge.exchange.count)
    var core = WorkerCore(index: index, bridge: bridge, limits: limits, context: context)
    try core.restore(state, now: now)
    return core
  }

  private mutating func restore(_ state: WorkerState, now: Instant) throws(StateError) {
    var places: [PeerKey: Int] = [:]
    for entry in state.peers {
      let place = peers.insert(try Peer.decode(entry.bytes), key: entry.key)
      places[entry.key] = place
      let peer = peers.pointer(place)
      feeds.enter(place, tracks: peer.pointee.receiverCount, slots: peer.pointee.slotCount)
    }
    routing.restore(state.routing, places: places)
    for feed in state.feeds { feeds.restore(feed, places: places) }
    for place in peers.occupied {
      resumePeer(place, now: now)
      settle(place, now: now)
    }
    for key in state.leftBehind { endLeftBehind(key) }
  }

  /// A peer was in the middle of its handshake when the worker's state was taken: it ends, and so does the record that
  /// another worker keeps as its home.
  private mutating func endLeftBehind(_ key: PeerKey) {
    if key.home != index { routing.post(.released(key), to: key.home) }
    events.note(key) { $0.closed = .handshakeFailed }
    routing.counters.count(.handshakeFailed)
  }

  /// Replaces the worker by one rebuilt from its bytes: what a simulation does in mid-conference to show that nothing of it
  /// lives outside of them. Counters go on.
  /// - Returns: false, with nothing changed, while a peer is in the middle of a handshake.
  public mutating func rebuild(now: Instant) -> Bool {
    serve(now: now)
    let taken = state
    guard taken.peers.count == peers.occupied.count else { return false }
    guard let state = try? WorkerState(decoding: taken.encode()) else {
      preconditionFailure("state of worker \(index) does not read back")
    }
    feeds.sinks.endAll()
    let (routed, relayed) = (routing.counters, feeds.counters)
    var random = context.transport.random
    routing = PeerRouting(
      index: index, places: limits.peers, pendingLimit: limits.pendingChecks, exchange: exchange,
      random: &random)
    context.transport.random = random
    peers = PeerTable(capacity: limits.peers)
    feeds = TrackFeeds(index: index, places: limits.peers, exchange: exchange, samples: samples)
    do throws(StateError) {
      try restore(state, now: now)
    } catch {
      preconditionFailure("state of worker \(index) does not read back: \(error)")
    }
    (routing.counters, feeds.counters) = (routed, relayed)
    return true
  }
}
