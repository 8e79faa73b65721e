public import Model

/// A network between hosts: it delays, loses, doubles and reorders datagrams, and its NATs change their minds.
///
/// Sans-I/O: datagrams and the time go in, datagrams come out when their time has come. What happens follows
/// from the seed alone, so it serves a simulation as well as real datagrams taken from a TUN device or a socket.
///
///     host ─inside address─▶ link (up) ─outside address─▶ core ─▶ link (down) of the receiver ─▶ host
///
/// A host is attached to a link under an inside address and is seen by others under an outside one. Addresses
/// that are not attached lie in the open core: what goes there arrives with `link` -1.
public struct NetworkEmulator: ~Copyable {
  /// A datagram that has arrived.
  public struct Delivery {
    public var bytes: [UInt8]
    /// As the receiver sees it.
    public var path: NetworkPath
    /// The link of the receiver, -1 in the open.
    public var link: Int
    public var sentAt: Instant
    public var tag: UInt64
    /// The second copy of a doubled datagram.
    public var isRepeat: Bool
  }

  /// What happened to datagrams, in all.
  public struct Counters: Sendable {
    public var sent: UInt64 = 0
    public var delivered: UInt64 = 0
    public var lost: UInt64 = 0
    public var duplicated: UInt64 = 0
    public var reordered: UInt64 = 0
    /// Dropped before a link with a rate.
    public var overflowed: UInt64 = 0
    /// The receiver's address was given up, or its link was cut.
    public var unreachable: UInt64 = 0
    public var rebound: UInt64 = 0
  }

  private struct Direction {
    var conditions: LinkConditions
    /// When the latest datagram arrives that keeps its turn.
    var lastArrival: Int64 = 0
    /// When a link with a rate will have sent all that waits.
    var busyUntil: Int64 = 0

    /// A faster link is busy for a shorter time with what waits; a slower one no longer, since its arrival is settled.
    mutating func shorten(for next: LinkConditions, now: Instant) {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.linkStaysBusy) { return }
      #endif
      let left = busyUntil - now.nanoseconds
      guard left > 0, next.rate > conditions.rate || next.rate == 0 else { return }
      busyUntil = now.nanoseconds + (next.rate == 0 ? 0 : left / 1_000 * conditions.rate / next.rate * 1_000)
    }
  }

  private struct Link {
    var up: Direction
    var down: Direction
    var isCut = false
  }

  private struct Host {
    var inside: SocketAddress
    var outside: SocketAddress
    var link: Int
  }

  private var random: RandomSource
  private var links: [Link] = []
  /// By inside and by outside address.
  private var insides: [SocketAddress: Host] = [:]
  private var outsides: [SocketAddress: Host] = [:]
  private var queue = FlightQueue()
  /// Doubled datagrams of which one copy is still on its way: whether the other one arrived. Never walked.
  private var twins: [UInt64: Bool] = [:]
  private var lastTwin: UInt64 = 0
  public private(set) var counters = Counters()
  /// Tags other than 0 of datagrams of which no copy arrives; their reader removes them.
  public var lostTags: [UInt64] = []

  public init(random: RandomSource) { self.random = random }

  // MARK: Topology

  /// - Returns: the link's number.
  public mutating func addLink(up: LinkConditions, down: LinkConditions) -> Int {
    links.append(Link(up: Direction(conditions: up), down: Direction(conditions: down)))
    return links.count - 1
  }

  public mutating func setConditions(_ link: Int, up: LinkConditions, down: LinkConditions) {
    links[link].up.conditions = up
    links[link].down.conditions = down
  }

  /// As `setConditions` without a time, for a link that carries something: what waits before a rate keeps its time of arrival, and counts
  /// for the queue as much as it would have left to send at the new rate.
  public mutating func setConditions(_ link: Int, up: LinkConditions, down: LinkConditions, now: Instant) {
    links[link].up.shorten(for: up, now: now)
    links[link].down.shorten(for: down, now: now)
    setConditions(link, up: up, down: down)
  }

  /// A link that is cut loses everything, also what is on its way.
  public mutating func setCut(_ link: Int, _ isCut: Bool) { links[link].isCut = isCut }

  /// Puts a host behind a link. Both addresses must be free.
  public mutating func attach(_ inside: SocketAddress, as outside: SocketAddress, link: Int) {
    precondition(insides[inside] == nil && outsides[outside] == nil)
    let host = Host(inside: inside, outside: outside, link: link)
    insides[inside] = host
    outsides[outside] = host
  }

  public mutating func detach(_ inside: SocketAddress) {
    guard let host = insides.removeValue(forKey: inside) else { return }
    outsides[host.outside] = nil
  }

  /// The NAT before the host forgets its mapping: from now on the host is seen under another address, and what
  /// goes to the old one is lost.
  public mutating func rebind(_ inside: SocketAddress, to outside: SocketAddress) {
    guard let host = insides[inside] else { return }
    detach(inside)
    attach(inside, as: outside, link: host.link)
    counters.rebound += 1
  }

  public func outside(of inside: SocketAddress) -> SocketAddress? { insides[inside]?.outside }

  // MARK: Datagrams

  /// - Parameters:
  ///   - path: as the sender sees it; where its local end is attached nowhere, it is taken as it stands.
  ///   - tag: comes out with the datagram; see `lostTags`.
  public mutating func send(_ bytes: [UInt8], path: NetworkPath, now: Instant, tag: UInt64 = 0) {
    counters.sent += 1
    var arrival = now.nanoseconds
    var doubled = false
    var flight = Flight(
      bytes: bytes, path: NetworkPath(remote: path.local, local: path.remote), outside: path.remote,
      sentAt: now, tag: tag, twin: 0, link: -1)
    if let host = insides[path.local] {
      flight.path.remote = host.outside
      var direction = links[host.link].up
      let passes = !links[host.link].isCut && cross(&direction, bytes.count, &arrival, &doubled)
      links[host.link].up = direction
      guard passes else { return lose(tag) }
    }
    if let host = outsides[path.remote] {
      flight.link = host.link
      flight.path.local = host.inside
      var direction = links[host.link].down
      let passes = cross(&direction, bytes.count, &arrival, &doubled)
      links[host.link].down = direction
      guard passes else { return lose(tag) }
    }
    if doubled {
      counters.duplicated += 1
      lastTwin += 1
      flight.twin = lastTwin
      let later = arrival + Int64.random(in: 0...10_000_000, using: &random)
      queue.push(flight, at: Instant(nanoseconds: later))
    }
    queue.push(flight, at: Instant(nanoseconds: arrival))
  }

  /// Sends a datagram through one direction of a link.
  /// - Returns: false if it is lost there.
  private mutating func cross(
    _ direction: inout Direction, _ size: Int, _ arrival: inout Int64, _ doubled: inout Bool
  ) -> Bool {
    let conditions = direction.conditions
    if conditions.loss > 0, chance(conditions.loss) {
      counters.lost += 1
      return false
    }
    if conditions.duplication > 0, chance(conditions.duplication) { doubled = true }
    if conditions.rate > 0 {
      let size = size + conditions.overhead
      let waiting = max(0, direction.busyUntil - arrival) / 1_000 * conditions.rate / 8_000_000
      guard waiting + Int64(size) <= Int64(conditions.queue) else {
        counters.overflowed += 1
        return false
      }
      direction.busyUntil = max(direction.busyUntil, arrival) + Int64(size) * 8_000_000_000 / conditions.rate
      arrival = direction.busyUntil
    }
    arrival += conditions.delay
    if conditions.jitter > 0 { arrival += Int64.random(in: 0...conditions.jitter, using: &random) }
    if conditions.reordering > 0, chance(conditions.reordering) {
      counters.reordered += 1
      arrival += Int64.random(in: 1...max(conditions.reorderingSpan, 1), using: &random)
    } else {
      arrival = max(arrival, direction.lastArrival)
      direction.lastArrival = arrival
    }
    return true
  }

  private mutating func chance(_ probability: Double) -> Bool {
    Double(random.next() >> 11) * 0x1p-53 < probability
  }

  private mutating func lose(_ tag: UInt64) { if tag != 0 { lostTags.append(tag) } }

  /// When the next datagram arrives.
  public var deadline: Instant { queue.first }

  /// The next datagram whose time has come; nil when there is none.
  public mutating func deliver(now: Instant) -> Delivery? {
    while queue.first <= now, let flight = queue.pop() {
      let arrives = isReachable(flight)
      // Of two copies the first leaves word for the second.
      let earlier = flight.twin == 0 ? nil : twins.removeValue(forKey: flight.twin)
      if flight.twin != 0, earlier == nil { twins[flight.twin] = arrives }
      guard arrives else {
        counters.unreachable += 1
        if flight.twin == 0 || earlier == false { lose(flight.tag) }
        continue
      }
      counters.delivered += 1
      return Delivery(
        bytes: flight.bytes, path: flight.path, link: flight.link, sentAt: flight.sentAt, tag: flight.tag,
        isRepeat: earlier == true)
    }
    return nil
  }

  /// Whether the way that the datagram took into a link still leads to the same host.
  private func isReachable(_ flight: Flight) -> Bool {
    guard flight.link >= 0 else { return true }
    return !links[flight.link].isCut && outsides[flight.outside]?.inside == flight.path.local
  }
}
