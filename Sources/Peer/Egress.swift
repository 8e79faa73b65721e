internal import Congestion
internal import Crypto
internal import Media
internal import Model

/// What leaves a peer: the packets that its slots select wait here as references, and become datagrams when they leave.
///
/// Sound leaves at once, and is charged. Then come packets that are asked for again, key frames, pictures by their slots' priority
/// (`DepartureQueue`), and last the padding of probes.
struct Egress: ~Copyable {
  /// By slot.
  var streams = OwnedArray<SealedStreams>()
  /// Both are no state: where a peer is rebuilt, what waits is gone, as if it were lost.
  var queue = DepartureQueue()
  /// Packets that subscribers ask for again, which leave before all others.
  var requested: [RequestedDeparture] = []

  /// Slots whose streams were cut since their owner asked last. No state: their subscribers ask as well.
  var cut: [Int] = []

  /// How much may leave.
  var pacer = Pacer()
  /// How much of it may be packets that were asked for again: a full path loses what is sent again as well.
  var repairs = Pacer(span: Egress.repairSpan)
  /// Losses come in bursts: a few of them are answered at once.
  private static let repairSpan = 0.25
  /// Bytes that were sent again, with UDP and IP.
  var repaired: UInt64 = 0
  /// Of the target; what is asked for beyond it is asked for again, if it is still of use.
  static let repairShare = 0.3
  /// Bytes that UDP and IP add on the selected path: 8, and 20 of IPv4 or 40 of IPv6.
  var overhead = 28
  /// Bytes that left in slots for the first time, with UDP and IP, and what that was a second, as of the last look.
  var left: UInt64 = 0
  private var seen: (bytes: UInt64, at: Instant)?
  private var rate = 0.0
  /// When what waits may leave; `.never` where nothing does.
  var departsAt = Instant.never
  /// Packets of a probe that are yet to leave.
  var probe: ActiveProbe?

  /// Nothing waits.
  @inline(__always)
  var isEmpty: Bool { queue.isEmpty && requested.isEmpty }

  /// The next packet of a probe is due, whatever it is.
  @inline(__always)
  func isProbeDue(_ now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.paddingFirst) { return false }
    #endif
    return probe.map { $0.deadline <= now } ?? false
  }

  /// Takes how much may leave.
  /// - Parameter target: bits per second; nil: nothing is withheld.
  mutating func setTarget(_ target: Double?, now: Instant) {
    pacer.setTarget(target)
    measure(now: now)
    // Where nothing is known of the path, repairs keep to their share of what leaves: a subscriber that asks for all again gets no
    // more by it.
    let base = target ?? max(rate, Self.leastRate)
    #if PLANTED_DEFECTS
      if target == nil, PlantedDefect.isOn(.repairsUnbounded) { return repairs.setTarget(nil) }
    #endif
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.repairsWithheld) { return repairs.setTarget(0) }
    #endif
    repairs.setTarget(base * Self.repairShare / Pacer.factor)
  }
  /// Bits per second.
  private static let leastRate = 600_000.0
  private static let shortest = Duration.milliseconds(500)

  private mutating func measure(now: Instant) {
    guard let seen else {
      seen = (left, now)
      return
    }
    guard now - seen.at >= Self.shortest else { return }
    rate = Double(left &- seen.bytes) * 8e9 / Double((now - seen.at).wholeNanoseconds)
    self.seen = (left, now)
  }

  /// Nothing of what a slot's source sent leaves any more.
  mutating func forget(slot: Int) {
    queue.remove(slot: slot)
    requested.removeAll { $0.slot == slot }
  }

  /// Takes the sections that are agreed on, and the slots that are gone.
  mutating func apply(_ sections: [SendSection], gone: [Int]) {
    for slot in gone { forget(slot: slot) }
    for section in sections where section.index < MediaSession.sectionLimit {
      place(section.index).pointee.apply(section)
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keptWhenGone) { return }
    #endif
    for slot in gone { streams.pointer(slot).pointee.kept = nil }
  }

  private mutating func place(_ index: UInt16) -> UnsafeMutablePointer<SealedStreams> {
    while streams.count <= Int(index) { streams.append(SealedStreams()) }
    return streams.pointer(Int(index))
  }

  /// Up to version 1 a flag stood at the end, of no use any more.
  private static let stateVersion: UInt8 = 2

  func encode(_ sections: [SendSection], into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    for section in sections { streams.pointer(Int(section.index)).pointee.encode(into: &writer) }
  }

  init() {}

  init(_ sections: [SendSection], from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("egress", upTo: Self.stateVersion)
    for section in sections {
      let read = try SealedStreams(section, from: &reader)
      place(section.index).pointee = read
    }
    if version < 2 { _ = try reader.bool() }
  }
}

/// What was sealed in a slot's two streams.
struct SealedStreams: ~Copyable {
  /// One index, one packet: for the media stream and its retransmissions.
  var media = SealGuard()
  /// Sealed packets, for subscribers that ask again without a retransmission stream: the same bytes go out once
  /// more, because sealing again under the same index is forbidden.
  var kept: PacketHistory?
  var rtx = SealGuard()
  private var ssrc: UInt32 = 0

  init() {}

  mutating func apply(_ section: SendSection) {
    // A place for an index that came later: the real section brings its own streams.
    if section.ssrc != ssrc {
      self = SealedStreams()
      ssrc = section.ssrc
    }
    let isNeeded = section.codecs.contains {
      $0.nack && ($0.rtxPayloadType == nil || section.rtxSSRC == nil)
    }
    guard isNeeded, kept == nil else { return }
    kept = PacketHistory(packets: 256, bytes: section.kind == .video ? 256 * 1_024 : 32 * 1_024)
  }

  func encode(into writer: inout StateWriter) {
    media.encode(into: &writer)
    rtx.encode(into: &writer)
  }

  /// The sealed packets themselves are no state: a request for one from before gets none.
  init(_ section: SendSection, from reader: inout StateReader) throws(StateError) {
    apply(section)
    media = try SealGuard(from: &reader)
    rtx = try SealGuard(from: &reader)
  }
}
