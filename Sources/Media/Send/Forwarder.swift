public import Model
internal import Wire

/// What a subscriber receives in one slot: a stream with an SSRC, sequence numbers, timestamps and picture ids of
/// its own, continuous for life, whatever track feeds it.
///
///     idle ──source──▶ waiting for a key frame ──key frame──▶ flowing
///                      (audio flows at once)   ◀─another source, or it started over─┘
///                              ▲                                                    │
///                              └────── a codec that it has ── without the codec ◀───┘
///
/// Each time a source is joined to the stream an anchor is set: from there on its numbers are the source's plus
/// constant differences. Old anchors are kept for retransmissions.
public struct Forwarder: ~Copyable {
  /// How the numbers of a source become those of the stream, from one packet on.
  struct Anchor: BitwiseCopyable {
    /// The first sequence numbers in the source and in the stream.
    var source: Int64 = 0
    var outgoing: Int64 = 0
    var timestamp: UInt32 = 0
    var pictureID: UInt16 = 0
    var tl0PictureIndex: UInt8 = 0
    var frameNumber: UInt16 = 0
    var restart: UInt8 = 0
    /// Counts sources; an anchor of an earlier one can't be answered from the present one's history.
    var generation: UInt32 = 0
  }

  enum State: UInt8 {
    case idle = 0
    case waitingForKeyFrame = 1
    case flowing = 2
    /// The source's codec is one that the subscriber lacks; asking for key frames would not help.
    case withoutCodec = 3
  }

  public let kind: MediaKind
  public let ssrc: UInt32
  public private(set) var rtxSSRC: UInt32?
  /// By format: the subscriber's payload types, 255 where it lacks the codec; and whether it may ask again.
  var payloadTypes: InlineArray<32, UInt8> = InlineArray(repeating: 255)
  var rtxPayloadTypes: InlineArray<32, UInt8> = InlineArray(repeating: 255)
  var nackFormats: UInt32 = 0
  var extensions = OutgoingExtensions()

  /// What feeds the stream.
  public internal(set) var source: TrackKey?
  var state = State.idle
  var generation: UInt32 = 0
  /// The latest first.
  var anchors: InlineArray<4, Anchor> = InlineArray(repeating: Anchor())
  var anchorCount = 0
  /// The highest sequence number sent; the one before the first, before the first.
  var highest: Int64
  var hasSent = false
  var lastTimestamp: UInt32
  var lastArrival = Instant(nanoseconds: 0)
  var lastPictureID: UInt16 = 0
  var lastTL0PictureIndex: UInt8 = 0
  var lastFrameNumber: UInt16 = 0
  var rtxSequence: Int64
  /// The source's clock and, in the stream's own timestamps, that of the packets already sent.
  var clock: ClockMapping?
  var sentClock: ClockMapping?
  /// Hertz, of the last packet's codec; 0 before the first.
  var sentRate: UInt32 = 0
  /// Sender reports that are to follow each other soon.
  var reportsOwed: UInt8 = 0
  /// Since when the source's packets come here, without a long break that was noticed.
  var heardSince = Instant(nanoseconds: 0)
  public internal(set) var reports = ForwarderReports()
  public internal(set) var counters = ForwarderCounters()
  var hasUnwritable = false
  /// Last: 2 KiB that an ordinary packet has no use for, so that what it needs lies close together.
  var retransmissions = RetransmissionLimiter()

  /// - Parameter random: where sequence numbers and timestamps begin (RFC 3550 §5.1).
  public init(_ section: SendSection, random: inout RandomSource) {
    kind = section.kind
    ssrc = section.ssrc
    rtxSSRC = section.rtxSSRC
    // In the lower half, so that the first rollover is far (RFC 3711 §3.3.1).
    highest = Int64(random.next() & 0x7FFF)
    rtxSequence = Int64(random.next() & 0x7FFF)
    lastTimestamp = UInt32(truncatingIfNeeded: random.next())
    apply(section)
  }

  /// Takes a renegotiated section: payload types and extensions may change, the stream does not.
  public mutating func apply(_ section: SendSection) {
    payloadTypes = InlineArray(repeating: 255)
    rtxPayloadTypes = InlineArray(repeating: 255)
    nackFormats = 0
    for number in 0..<UInt8(CodecFormat.limit) {
      guard let format = CodecFormat(rawValue: number), let codec = section.codec(taking: format) else {
        continue
      }
      payloadTypes[Int(number)] = codec.payloadType
      rtxPayloadTypes[Int(number)] = codec.rtxPayloadType ?? 255
      if codec.nack { nackFormats |= 1 << UInt32(number) }
    }
    rtxSSRC = section.rtxSSRC
    extensions = OutgoingExtensions(section)
  }

  /// Feeds the stream from another track, or from none.
  /// - Returns: true when the track should be asked for a key frame.
  public mutating func setSource(_ track: TrackKey?, clock mapping: ClockMapping?) -> Bool {
    guard track != source else { return false }
    // While a source that started over is waited for, its clock is not that of the packets already sent.
    if state == .flowing, anchorCount > 0, anchors[0].generation == generation { noteSentClock() }
    source = track
    clock = mapping
    generation &+= 1
    guard track != nil else {
      state = .idle
      return false
    }
    state = kind == .video ? .waitingForKeyFrame : .flowing
    return kind == .video
  }

  /// What is known of the clock of the packets already sent, which are the present source's.
  mutating func noteSentClock() {
    sentClock = clock.flatMap { $0.rate == sentRate ? $0.shifted(by: anchors[0].timestamp) : nil }
  }

  /// The source's clock was told anew.
  public mutating func setClock(_ mapping: ClockMapping) { clock = mapping }

  /// Something was sent.
  public var hasBegun: Bool { hasSent }

  /// Whether the packet, of the present source, is of the life of it that flows.
  public func continues(_ info: PacketInfo) -> Bool {
    state == .flowing && anchorCount > 0 && anchors[0].generation == generation
      && anchors[0].restart == info.restart
  }

  /// The index under which a packet of that life went out, or would; nil before the stream's join to it.
  public func index(of info: PacketInfo) -> UInt64? {
    guard continues(info), info.extendedSequence >= anchors[0].source else { return nil }
    return UInt64(bitPattern: anchors[0].outgoing &+ (info.extendedSequence &- anchors[0].source))
  }

  /// True while a key frame is what the subscriber waits for.
  public var needsKeyFrame: Bool { state == .waitingForKeyFrame && kind == .video }

  /// Whether the subscriber may ask again for packets of the format, and whether as a stream of its own.
  public func answersNACK(_ info: PacketInfo) -> Bool {
    nackFormats & 1 << UInt32(outgoingFormat(info).rawValue) != 0
  }
  public func usesRTX(_ info: PacketInfo) -> Bool {
    rtxSSRC != nil && rtxPayloadTypes[Int(outgoingFormat(info).rawValue)] != 255
  }

  /// The packet's own format; of RED, its blocks' where the subscriber has no RED, or not with that codec in it.
  @inline(__always)
  func outgoingFormat(_ info: PacketInfo) -> CodecFormat {
    let isWhole =
      info.format.rawValue == info.primaryFormat.rawValue
      || (payloadTypes[Int(info.format.rawValue)] != 255
        && payloadTypes[Int(info.primaryFormat.rawValue)] != 255)
    return isWhole ? info.format : info.primaryFormat
  }
}

extension ClockMapping {
  /// The same moments in a stream whose timestamps are `difference` higher.
  func shifted(by difference: UInt32) -> ClockMapping {
    var mapping = self
    mapping.timestamp &+= difference
    return mapping
  }
}

/// What one slot did, in packets unless it says otherwise.
public struct ForwarderCounters: Sendable {
  public var packets: UInt64 = 0
  public var retransmitted: UInt64 = 0
  /// Asked for, but not kept, or asked for again too soon.
  public var notRetransmitted: UInt64 = 0
  /// Left out: before the key frame, from before an anchor, in a codec that the subscriber lacks.
  public var waiting: UInt64 = 0
  public var late: UInt64 = 0
  public var codecMissing: UInt64 = 0
  /// Too large for the buffer of an outgoing packet, or with ranges outside of itself.
  public var unwritable: UInt64 = 0
  /// How often the stream was anchored to a source.
  public var anchors: UInt64 = 0
}
