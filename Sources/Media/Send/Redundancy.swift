internal import Model
internal import Wire

/// Opus sent again with the packets behind it (RED, RFC 2198), for a subscriber that loses packets: each has the two before it, so
/// that only three in a row that are lost are missed.
///
///     without    A      B      C      D
///     with       A     A B   A B C   B C D
///
/// It stands behind the forwarder: what it repeats is what the stream sent, whichever source that was of. The publisher's own RED
/// goes as it is, and frames that are encrypted end to end have nothing added.
@usableFromInline
struct Redundancy: ~Copyable {
  /// Of what is lost, smoothed: it begins above the first, and ends where it stays below the second for so long.
  static let begins = 0.02
  static let ends = 0.005
  static let endsAfter = Duration.seconds(10)
  /// Where the path carries less, three times the sound would cost the picture: with 300 kbit/s, of which 5 % are lost, a single copy
  /// takes every second frame of it.
  static let leastTarget = 400_000.0
  /// A report's weight.
  private static let smoothing = 0.3
  /// What a block's header can say of its size and of its distance (RFC 2198 §3).
  private static let mostBytes = 1_023
  private static let mostDistance: UInt32 = 16_383
  /// The packet itself and those that it repeats.
  private static let places = 3
  /// A packet grows no larger than this: beyond it a path may not take it in one piece.
  private static let mostSize = 1_200

  private struct Block: BitwiseCopyable {
    var index: UInt64 = 0
    var timestamp: UInt32 = 0
    var size = 0
  }

  /// Of RED around Opus; 255: the subscriber has none.
  private var payloadType: UInt8 = 255
  private var opus: UInt8 = 255
  @usableFromInline var isOn = false
  /// Share of the stream's packets that its receiver lost, smoothed: 0–1.
  private var loss = 0.0
  /// When the last report came.
  private var reportedAt = Instant(nanoseconds: .min / 2)
  private var lossySince: Instant?
  /// Packets by turns, by their index; memory for them once it is on.
  @usableFromInline var memory: UnsafeMutableRawPointer?
  private var kept: InlineArray<3, Block> = InlineArray(repeating: Block())
  private(set) var packets: UInt64 = 0

  init() {}

  // Seen from other modules, as in `ClosedPlaces`.
  @inlinable deinit { memory?.deallocate() }

  mutating func apply(_ section: SendSection) {
    payloadType = 255
    guard section.kind == .audio, let block = section.codec(taking: .opus),
      let red = section.codec(taking: .red), !red.formatParameters.isEmpty,
      red.formatParameters.split(separator: "/").allSatisfy({ UInt8($0) == block.payloadType })
    else { return stop() }
    payloadType = red.payloadType
    opus = block.payloadType
  }

  /// A report came.
  /// - Parameters:
  ///   - share: of packets that were sent and lost since the one before: 0–1.
  ///   - target: bits per second that the path carries; nil: nothing is known of it.
  mutating func report(_ share: Double, target: Double?, now: Instant) {
    loss += (share - loss) * Self.smoothing
    reportedAt = now
    if loss >= Self.ends { lossySince = now }
    let fits = target.map { $0 >= Self.leastTarget } ?? true
    if isOn {
      let isOver = lossySince.map { now - $0 >= Self.endsAfter } ?? true
      if isOver || !fits { stop() }
    } else if loss >= Self.begins, fits, payloadType != 255 {
      isOn = true
      memory = memory ?? .allocate(byteCount: Self.places * Self.mostBytes, alignment: 8)
    }
  }

  /// So long reports are believed that are followed by none.
  private static let believed = Duration.seconds(5)

  /// Share of the stream's packets that its receiver loses, smoothed: 0–1. One that says nothing any more has publishers protect nothing.
  func loss(now: Instant) -> Double {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lossForEver) { return loss }
    #endif
    return now - reportedAt < Self.believed ? loss : 0
  }

  /// The stream has another source from here on: what it sent until now is not repeated.
  mutating func forget() { kept = InlineArray(repeating: Block()) }

  private mutating func stop() {
    isOn = false
    kept = InlineArray(repeating: Block())
    memory?.deallocate()
    memory = nil
  }

  /// Puts the two packets before it into a packet of the stream, and keeps it for those behind it.
  /// - Parameters:
  ///   - packet: written to `buffer`, in plain text.
  ///   - isEncrypted: end to end.
  /// - Returns: as it is to be sealed.
  mutating func wrap(
    _ packet: OutgoingPacket, isEncrypted: Bool, in buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket {
    #if PLANTED_DEFECTS
      let isEncrypted = isEncrypted && !PlantedDefect.isOn(.redAroundEncrypted)
    #endif
    guard isOn, !isEncrypted, let memory, let bytes = buffer.baseAddress,
      packet.size <= buffer.count, packet.headerSize >= RTPHeader.fixedSize,
      UnsafeRawPointer(bytes).byte(at: 1) & 0x7F == opus
    else { return packet }
    let size = packet.size &- packet.headerSize
    let payload = bytes + packet.headerSize
    let timestamp = UnsafeRawPointer(bytes).loadBigEndian(at: 4, as: UInt32.self)
    keep(payload, Block(index: packet.index, timestamp: timestamp, size: size), memory)
    // The farther one makes no sense without the nearer.
    var room = min(buffer.count, Self.mostSize) &- packet.size &- 1
    guard room >= 0 else { return packet }
    let near = block(back: 1, of: packet.index, timestamp, room: &room)
    let far = near == nil ? nil : block(back: 2, of: packet.index, timestamp, room: &room)
    let added = 1 &+ (near.map { 4 &+ $0.size } ?? 0) &+ (far.map { 4 &+ $0.size } ?? 0)
    (payload + added).copyMemory(from: payload, byteCount: size)
    var offset = 0
    if let far { writeHeader(of: far, timestamp, payload, &offset) }
    if let near { writeHeader(of: near, timestamp, payload, &offset) }
    payload.store(byte: opus, at: offset)
    offset &+= 1
    if let far { write(far, payload, &offset, memory) }
    if let near { write(near, payload, &offset, memory) }
    let marker = UnsafeRawPointer(bytes).byte(at: 1) & 0x80
    bytes.store(byte: marker | payloadType, at: 1)
    var grown = packet
    grown.size = packet.size &+ added
    packets &+= 1
    return grown
  }

  private static func place(_ index: UInt64) -> Int { Int(index % UInt64(places)) }

  private mutating func keep(
    _ payload: UnsafeMutableRawPointer, _ block: Block, _ memory: UnsafeMutableRawPointer
  ) {
    let place = Self.place(block.index)
    kept[place] = block
    guard block.size <= Self.mostBytes else {
      kept[place].size = 0
      return
    }
    (memory + place &* Self.mostBytes).copyMemory(from: payload, byteCount: block.size)
  }

  /// A packet of before, if it is kept and can be repeated.
  private func block(back: UInt64, of index: UInt64, _ timestamp: UInt32, room: inout Int) -> Block? {
    guard index >= back else { return nil }
    let block = kept[Self.place(index &- back)]
    guard block.size > 0, block.index == index &- back,
      (1...Self.mostDistance).contains(timestamp &- block.timestamp), block.size &+ 4 <= room
    else { return nil }
    room &-= block.size &+ 4
    return block
  }

  private func writeHeader(
    of block: Block, _ timestamp: UInt32, _ payload: UnsafeMutableRawPointer, _ offset: inout Int
  ) {
    #if PLANTED_DEFECTS
      let distance = timestamp &- block.timestamp &+ (PlantedDefect.isOn(.redMisdated) ? 960 : 0)
    #else
      let distance = timestamp &- block.timestamp
    #endif
    payload.store(byte: 0x80 | opus, at: offset)
    payload.storeBigEndian(
      UInt16(truncatingIfNeeded: distance << 2 | UInt32(block.size) >> 8), at: offset &+ 1)
    payload.store(byte: UInt8(truncatingIfNeeded: block.size), at: offset &+ 3)
    offset &+= 4
  }

  private func write(
    _ block: Block, _ payload: UnsafeMutableRawPointer, _ offset: inout Int, _ memory: UnsafeMutableRawPointer
  ) {
    (payload + offset).copyMemory(
      from: memory + Self.place(block.index) &* Self.mostBytes, byteCount: block.size)
    offset &+= block.size
  }
}
