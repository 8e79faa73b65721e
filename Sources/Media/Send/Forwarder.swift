public import Model
internal import Wire

/// What a subscriber receives in one slot: a stream with an SSRC, sequence numbers, timestamps and picture ids of
/// its own, continuous to its end, whatever track feeds it.
///
///     idle ──source──▶ waiting for a key frame ──key frame──▶ flowing
///                      (audio flows at once)   ◀─another source, or it started over─┘
///                              ▲                                                    │
///                              └────── a codec that it has ── without the codec ◀───┘
///
/// A packet passes in two steps. `select` knows the source: whether the subscriber gets the packet, and where the source is
/// joined to the stream. `depart`, when the packet leaves, owns the stream's numbers: the first packet of a source sets an
/// anchor, and from there on the stream's numbers are the source's plus constant differences. Places of packets that haven't
/// come stay free, those of packets that are dropped between the steps close. Old anchors are kept for retransmissions.
public struct Forwarder: ~Copyable {
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
  var formats = OutgoingFormats()
  var extensions = OutgoingExtensions()

  /// What feeds the stream.
  public internal(set) var source: TrackKey?
  public internal(set) var encodings = StreamEncodings()
  var leftOut = LeftOut()
  var state = State.idle
  var generation: UInt32 = 0
  var joined = JoinedSource()
  var pending = PendingAnchor()
  var anchors = Anchors()
  var position: StreamPosition
  var rtxSequence: Int64
  var clocks = StreamClocks()
  /// Since when the source's packets come here, without a long break that was noticed.
  var heardSince = Instant(nanoseconds: 0)
  public internal(set) var reports = ForwarderReports()
  public internal(set) var counters = ForwarderCounters()
  /// Last: 2 KiB that an ordinary packet has no use for, so that what it needs lies close together.
  var retransmissions = RetransmissionLimiter()

  /// - Parameter random: where sequence numbers and timestamps begin (RFC 3550 §5.1).
  public init(_ section: SendSection, random: inout RandomSource) {
    kind = section.kind
    ssrc = section.ssrc
    rtxSSRC = section.rtxSSRC
    // In the lower half, so that the first rollover is far (RFC 3711 §3.3.1).
    let highest = Int64(random.next() & 0x7FFF)
    rtxSequence = Int64(random.next() & 0x7FFF)
    position = StreamPosition(highest: highest, timestamp: UInt32(truncatingIfNeeded: random.next()))
    apply(section)
  }

  /// Takes a renegotiated section: payload types and extensions may change, the stream does not.
  public mutating func apply(_ section: SendSection) {
    formats = OutgoingFormats(section)
    rtxSSRC = section.rtxSSRC
    extensions = OutgoingExtensions(section)
  }

  /// Feeds the stream from another track, or from none.
  /// - Parameters:
  ///   - track: with the encoding that is shown first.
  ///   - mapping: what is known of that encoding's clock.
  /// - Returns: true when the track should be asked for a key frame.
  public mutating func setSource(_ track: TrackKey?, clock mapping: ClockMapping?) -> Bool {
    guard track?.track != source else { return false }
    joined.past = nil
    // While a source that started over is waited for, its clock is not that of the packets already sent.
    if state == .flowing, joined.isJoined, isAnchored(joined.restart, joined.encoding) { noteSentClock() }
    source = track?.track
    encodings = StreamEncodings(shown: track?.encoding ?? 0)
    leftOut.filter = LayerFilter()
    clocks.source = mapping
    generation &+= 1
    joined.isJoined = false
    pending = PendingAnchor()
    guard track != nil else {
      state = .idle
      return false
    }
    state = kind == .video ? .waitingForKeyFrame : .flowing
    return kind == .video
  }

  /// What is known of the clock of the packets already sent, which are the present source's.
  mutating func noteSentClock() {
    clocks.sent = clocks.source.flatMap {
      $0.rate == clocks.rate ? $0.shifted(by: anchors[0].timestamp) : nil
    }
  }

  /// More is known of the clock of one of the source's encodings.
  public mutating func setClock(_ mapping: ClockMapping, encoding: UInt8 = 0) {
    if encoding == encodings.shown { clocks.source = mapping }
    if encoding == encodings.next { encodings.nextClock = mapping }
  }

  /// Something was sent.
  public var hasBegun: Bool { position.hasSent }

  /// True while a key frame is what the subscriber waits for.
  public var needsKeyFrame: Bool { state == .waitingForKeyFrame && kind == .video && !encodings.isPaused }

  /// Whether the subscriber may ask again for packets of the format, and whether as a stream of its own.
  public func answersNACK(_ info: PacketInfo) -> Bool {
    formats.nack & 1 << UInt32(outgoingFormat(info).rawValue) != 0
  }
  public func usesRTX(_ info: PacketInfo) -> Bool {
    rtxSSRC != nil && formats.rtxPayloadTypes[Int(outgoingFormat(info).rawValue)] != 255
  }

  /// The packet's own format; of RED, its blocks' where the subscriber has no RED, or not with that codec in it, and they can be
  /// taken out.
  @inline(__always)
  func outgoingFormat(_ info: PacketInfo) -> CodecFormat {
    let isWhole =
      info.format.rawValue == info.primaryFormat.rawValue
      || info.flags.contains(.encrypted)
      || (formats.payloadTypes[Int(info.format.rawValue)] != 255
        && formats.payloadTypes[Int(info.primaryFormat.rawValue)] != 255)
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
  /// Of another encoding than the one that is shown.
  public var otherEncoding: UInt64 = 0
  /// Of a layer that isn't shown.
  public var layerLeftOut: UInt64 = 0
  /// Packets of padding, which no other field counts.
  public var padding: UInt64 = 0
  /// Too large for the buffer of an outgoing packet, or with ranges outside of itself.
  public var unwritable: UInt64 = 0
  /// Dependency descriptors that have no room for the decode targets that are sent, and leave as they came.
  public var descriptorsUnchanged: UInt64 = 0
  /// How often the stream was anchored to a source.
  public var anchors: UInt64 = 0
}
