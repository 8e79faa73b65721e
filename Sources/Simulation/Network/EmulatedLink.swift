public import Model

/// A link between two ends, each direction under conditions of its own, for packets that are not looked into.
///
/// Sans-I/O over a `NetworkEmulator` for each direction: packets and the time go in, and come out at the other end when their time has come.
public struct EmulatedLink: ~Copyable {
  /// As the end that is called *there* sees it, where a viewer is.
  public enum Direction: String, CaseIterable, Sendable {
    /// From here to there.
    case down
    /// From there to here.
    case up
  }

  /// What happened to the packets of one direction since the start.
  public struct Counts: Sendable {
    public var packets: UInt64 = 0
    public var bytes: UInt64 = 0
    public var delivered: UInt64 = 0
    public var deliveredBytes: UInt64 = 0
    public var lost: UInt64 = 0
    /// Dropped before a rate whose queue was full.
    public var overflowed: UInt64 = 0
    public var reordered: UInt64 = 0
    public var duplicated: UInt64 = 0
    /// The most nanoseconds by which a packet was fetched after its time.
    public var late: Int64 = 0
  }

  private struct Way: ~Copyable {
    var network: NetworkEmulator
    var conditions: LinkConditions
    var bytes: UInt64 = 0
    var deliveredBytes: UInt64 = 0
    var late: Int64 = 0
  }

  /// What the emulators call the two ends; no packet bears it.
  private static let path = NetworkPath(
    remote: SocketAddress(ipv4: 192, 0, 2, 2, port: 2), local: SocketAddress(ipv4: 192, 0, 2, 1, port: 1))
  /// The far side of each emulator, behind which nothing more happens.
  private static let open = LinkConditions(delay: 0)

  private var down: Way
  private var up: Way

  public init(down: LinkConditions, up: LinkConditions, random: RandomSource) {
    var random = random
    self.down = Self.way(down, random.split())
    self.up = Self.way(up, random.split())
  }

  private static func way(_ conditions: LinkConditions, _ random: RandomSource) -> Way {
    var network = NetworkEmulator(random: random)
    let link = network.addLink(up: conditions, down: open)
    network.attach(path.local, as: path.local, link: link)
    return Way(network: network, conditions: conditions)
  }

  public func conditions(_ direction: Direction) -> LinkConditions {
    direction == .down ? down.conditions : up.conditions
  }

  /// What is on its way keeps its time of arrival.
  public mutating func setConditions(_ direction: Direction, _ conditions: LinkConditions, now: Instant) {
    change(direction) { way in
      way.conditions = conditions
      way.network.setConditions(0, up: conditions, down: Self.open, now: now)
    }
  }

  /// Takes a packet that sets out in a direction now.
  public mutating func take(_ bytes: [UInt8], _ direction: Direction, now: Instant) {
    change(direction) { way in
      way.bytes &+= UInt64(bytes.count)
      way.network.send(bytes, path: Self.path, now: now)
    }
  }

  /// When the next packet arrives, at either end.
  public var deadline: Instant { min(down.network.deadline, up.network.deadline) }

  /// The next packet whose time has come at the end of a direction; nil when there is none.
  public mutating func deliver(_ direction: Direction, now: Instant) -> [UInt8]? {
    change(direction) { way in
      let due = way.network.deadline
      guard let delivery = way.network.deliver(now: now) else { return nil }
      way.deliveredBytes &+= UInt64(delivery.bytes.count)
      way.late = max(way.late, now.nanoseconds &- due.nanoseconds)
      return delivery.bytes
    }
  }

  public func counts(_ direction: Direction) -> Counts {
    direction == .down ? Self.counts(down) : Self.counts(up)
  }

  private static func counts(_ way: borrowing Way) -> Counts {
    let seen = way.network.counters
    return Counts(
      packets: seen.sent, bytes: way.bytes, delivered: seen.delivered, deliveredBytes: way.deliveredBytes,
      lost: seen.lost, overflowed: seen.overflowed, reordered: seen.reordered, duplicated: seen.duplicated,
      late: way.late)
  }

  private mutating func change<Answer>(_ direction: Direction, _ body: (inout Way) -> Answer) -> Answer {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.linkIsOneWay) { return body(&down) }
    #endif
    return direction == .down ? body(&down) : body(&up)
  }
}
