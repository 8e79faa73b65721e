internal import ICE
internal import Model
internal import Wire

extension PeerRouting {
  /// What is to be done with a datagram.
  enum Route: Equatable {
    case peer(place: Int)
    /// A check, which may make its path the peer's.
    case check(place: Int)
    /// An answer to a check of ours: the peer's that asked, on whatever path.
    case answer
    case worker(Int)
    /// Nothing: it is counted, or another worker was asked.
    case nowhere
  }

  /// A datagram from this worker's socket: media and handshakes go by their path.
  @inline(__always)
  mutating func route(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) -> Route {
    counters.received &+= 1
    guard let first = datagram.first else {
      counters.noProtocol &+= 1
      return .nowhere
    }
    return first > 3
      ? route(path) : routeSTUN(UnsafeRawBufferPointer(datagram), path: path, arrival: arrival, now: now)
  }

  /// By the path alone.
  @inline(__always)
  mutating func route(_ path: NetworkPath) -> Route {
    switch claims.find(path) {
    case .peer(let place): return .peer(place: place)
    case .worker(let worker): return .worker(worker)
    case nil:
      counters.unknownPath &+= 1
      return .nowhere
    }
  }

  /// STUN finds its peer by the fragment that a request names; an answer names none.
  private mutating func routeSTUN(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) -> Route {
    guard let range = STUNPeek.localUfrag(in: datagram) else { return .answer }
    let fragment = UnsafeRawBufferPointer(rebasing: datagram[range])
    guard let home = ICECredentials.homeWorker(ofUfrag: fragment), home < exchange.count,
      let ufrag = UfragKey(fragment)
    else { return unknownFragment() }
    let key = fragments[ufrag]
    if let key, let place = places[key] { return .check(place: place) }
    if let key, let record = homes[key] { return .worker(record.worker) }
    // Known to be another's: without asking again.
    if case .worker(let worker) = claims.find(path) { return .worker(worker) }
    guard home != index else { return unknownFragment() }
    return ask(home, datagram, ufrag, path: path, arrival: arrival, now: now, from: index)
  }

  /// Passes a check on to the home that its fragment names, if there is such a peer and its path may ask again.
  /// - Parameter from: the worker whose socket got it.
  private mutating func ask(
    _ home: Int, _ datagram: UnsafeRawBufferPointer, _ ufrag: UfragKey, path: NetworkPath, arrival: Instant,
    now: Instant, from: Int
  ) -> Route {
    guard exchange.isKnown(ufrag) else { return unknownFragment() }
    switch pending.begin(path, ufrag, now: now, limit: pendingLimit) {
    case .asks:
      counters.checksAsked &+= 1
      post(
        .check(
          FirstCheck(ufrag: ufrag, datagram: Array(datagram), path: path, arrival: arrival, from: from)),
        to: home)
    case .repeated: counters.checksRepeated &+= 1
    case .fragmentFull: counters.checksOfOnePeer &+= 1
    case .full: counters.checksDropped &+= 1
    }
    return .nowhere
  }

  private mutating func unknownFragment() -> Route {
    counters.unknownFragment &+= 1
    return .nowhere
  }

  /// A check that another worker's socket got, for a peer that is here or whose home this is. It goes on to the worker
  /// that has the peer, which answers and tells the asking worker that the path is its own.
  mutating func route(_ check: FirstCheck) -> Route {
    guard let key = fragments[check.ufrag] else { return unknownFragment() }
    if let place = places[key] { return .check(place: place) }
    guard let owner = owner(of: key) else { return unknownFragment() }
    post(.check(check), to: owner)
    return .nowhere
  }

  /// A datagram that another worker's socket got, on a path that it believes to be ours. What leads away from here again is
  /// dropped, so that no datagram goes round in a circle; checks aside, which go by their home.
  mutating func route(
    handedOver datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant,
    from worker: Int
  ) -> Route {
    counters.takenOver &+= 1
    let bytes = UnsafeRawBufferPointer(datagram)
    if let first = bytes.first, first <= 3, let range = STUNPeek.localUfrag(in: bytes) {
      let fragment = UnsafeRawBufferPointer(rebasing: bytes[range])
      guard let ufrag = UfragKey(fragment) else { return unknownFragment() }
      guard let key = fragments[ufrag] else {
        // The path is a peer's of this worker, and the check names one that is elsewhere: its home knows where.
        guard let home = ICECredentials.homeWorker(ofUfrag: fragment), home < exchange.count, home != index
        else { return unknownFragment() }
        return ask(home, bytes, ufrag, path: path, arrival: arrival, now: now, from: worker)
      }
      if let place = places[key] { return .check(place: place) }
      // Handed over before the other worker heard that the peer was adopted.
      return route(
        FirstCheck(ufrag: ufrag, datagram: Array(bytes), path: path, arrival: arrival, from: worker))
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.datagramInACircle), case .worker(let next) = claims.find(path) {
        handOver(datagram, path: path, arrival: arrival, to: next)
      }
    #endif
    guard case .peer(let place) = claims.find(path) else {
      counters.unknownPath &+= 1
      return .nowhere
    }
    return .peer(place: place)
  }

  /// Gives a datagram to the worker that has its peer.
  mutating func handOver(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, to worker: Int
  ) {
    guard worker != index, worker < exchange.count else {
      counters.unknownPath &+= 1
      return
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lostAtHandover), let first = datagram.first, first > 127 { return }
    #endif
    var crossing = Crossing(kind: .datagram, from: UInt8(truncatingIfNeeded: index))
    crossing.path = path
    crossing.arrival = arrival
    let ring = exchange.ring(to: worker, from: index)
    let written = withUnsafeBytes(of: &crossing) {
      ring.write(header: $0.baseAddress!, payload: UnsafeRawBufferPointer(datagram))
    }
    guard written else {
      counters.handoverDropped &+= 1
      return
    }
    counters.handedOver &+= 1
    touched |= 1 << UInt64(worker)
  }

  // MARK: - Contested paths

  /// Who else claims a path, beside its owner: hears the handshakes and answers on it until it is proven.
  func rivals(of path: NetworkPath) -> [PathTable.Destination] { claims.rivals(of: path).map(\.destination) }
}
