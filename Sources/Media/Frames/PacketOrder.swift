public import Model

/// Puts packets in order, and waits for what is missing as long as it may still be sent again.
///
/// Who makes files is in no hurry, unlike one who watches: a packet that comes a second late belongs where it belongs.
public struct PacketOrder: Sendable {
  public enum Step: Equatable, Sendable {
    case packet(FramePacket)
    /// So many before the next packet didn't come.
    case lost(Int64)
  }

  /// Packets that wait at most, and bytes of them.
  static let limit = 4_096
  static let byteLimit = 4 * 1_024 * 1_024

  /// A source that starts over goes on far above its old numbers: what may still come is what was overtaken.
  static let restartPatience = Duration.milliseconds(100)

  private let patience: Duration
  /// By number, the lowest first.
  private var waiting: [FramePacket] = []
  private var first = 0
  private var bytes = 0
  private var expected: Int64?
  private var restart: UInt8 = 0
  /// Came twice, or when it was no longer waited for.
  public private(set) var late: UInt64 = 0

  /// - Parameter patience: how long what is missing is waited for.
  public init(patience: Duration) { self.patience = patience }

  public var isEmpty: Bool { first == waiting.count }

  public mutating func add(_ packet: FramePacket) {
    if let expected, packet.sequence < expected {
      late &+= 1
      return
    }
    var place = waiting.count
    while place > first, waiting[place - 1].sequence > packet.sequence { place -= 1 }
    if place > first, waiting[place - 1].sequence == packet.sequence {
      late &+= 1
      return
    }
    waiting.insert(packet, at: place)
    bytes += packet.payload.count
  }

  /// - Parameter now: `.never`: nothing more comes, so nothing is waited for.
  /// - Returns: nil where the next packet is still waited for, or there is none.
  public mutating func next(now: Instant) -> Step? {
    guard first < waiting.count else { return nil }
    let packet = waiting[first]
    if let expected, packet.sequence != expected {
      // What goes on is older than what is waited for, or there is too much.
      let patience = packet.restart == restart ? patience : min(patience, Self.restartPatience)
      let isOver =
        waiting.count - first > Self.limit || bytes > Self.byteLimit || now == .never
        || now - packet.arrival >= patience
      guard isOver else { return nil }
      self.expected = packet.sequence
      // Another source, or the same after a mute, has numbers of its own.
      if packet.restart == restart { return .lost(packet.sequence &- expected) }
    }
    expected = packet.sequence &+ 1
    restart = packet.restart
    bytes -= packet.payload.count
    first += 1
    if first >= 64, first * 2 >= waiting.count {
      waiting.removeSubrange(..<first)
      first = 0
    }
    return .packet(packet)
  }
}
