/// A codec with the numbers that one section of one description gave it.
public struct NegotiatedCodec: Equatable, Sendable {
  public var format: CodecFormat
  public var payloadType: UInt8
  /// The payload type of its retransmissions (RFC 4588), where negotiated.
  public var rtxPayloadType: UInt8?
  /// Feedback that was agreed on: generic NACK, picture loss indication, full intra request, transport-wide arrival
  /// times, the receiver's estimate.
  public var nack: Bool
  public var pli: Bool
  public var fir: Bool
  public var transportCC: Bool
  public var remb: Bool
  /// Arrival times by stream (RFC 8888), of all payload types.
  public var ccfb: Bool
  /// The value of `a=fmtp`, verbatim.
  public var formatParameters: String

  public init(
    format: CodecFormat, payloadType: UInt8, rtxPayloadType: UInt8? = nil, nack: Bool = false,
    pli: Bool = false, fir: Bool = false, transportCC: Bool = false, remb: Bool = false, ccfb: Bool = false,
    formatParameters: String = ""
  ) {
    self.format = format
    self.payloadType = payloadType
    self.rtxPayloadType = rtxPayloadType
    self.nack = nack
    self.pli = pli
    self.fir = fir
    self.transportCC = transportCC
    self.remb = remb
    self.ccfb = ccfb
    self.formatParameters = formatParameters
  }

  /// A codec in the format that it has without parameters.
  public init(
    codec: Codec, payloadType: UInt8, rtxPayloadType: UInt8? = nil, nack: Bool = false, pli: Bool = false,
    transportCC: Bool = false, formatParameters: String = ""
  ) {
    self.init(
      format: CodecFormat(codec), payloadType: payloadType, rtxPayloadType: rtxPayloadType, nack: nack,
      pli: pli, transportCC: transportCC, formatParameters: formatParameters)
  }

  public var codec: Codec { format.codec }
}

/// A section in which the far end sends to us: one track.
public struct ReceiveSection: Equatable, Sendable {
  /// The track's number within its transport; stable for the transport's life, never reused.
  public var index: UInt16
  public var mid: String
  public var kind: MediaKind
  public var codecs: [NegotiatedCodec]
  public var extensions: HeaderExtensionMap
  /// The streams in which the track comes, in the order of the description: one, or a simulcast's; at most `mostEncodings`.
  public var encodings: [ReceiveEncoding]
  /// The synchronisation context of the sender; tracks of one CNAME share a clock.
  public var cname: String

  /// - Parameter encodings: from 1 to `mostEncodings`; what is beyond is left out.
  public init(
    index: UInt16, mid: String, kind: MediaKind, codecs: [NegotiatedCodec], extensions: HeaderExtensionMap,
    encodings: [ReceiveEncoding], cname: String = ""
  ) {
    self.index = index
    self.mid = mid
    self.kind = kind
    self.codecs = codecs
    self.extensions = extensions
    self.encodings = encodings.isEmpty ? [ReceiveEncoding()] : Array(encodings.prefix(Self.mostEncodings))
    self.cname = cname
  }

  /// A section with one encoding.
  public init(
    index: UInt16, mid: String, kind: MediaKind, codecs: [NegotiatedCodec], extensions: HeaderExtensionMap,
    ssrc: UInt32? = nil, rtxSSRC: UInt32? = nil, cname: String = "", rid: String? = nil
  ) {
    self.init(
      index: index, mid: mid, kind: kind, codecs: codecs, extensions: extensions,
      encodings: [ReceiveEncoding(rid: rid, ssrc: ssrc, rtxSSRC: rtxSSRC)], cname: cname)
  }

  /// Browsers send three at most.
  public static let mostEncodings = 3

  /// Of the first encoding.
  public var ssrc: UInt32? { encodings[0].ssrc }
  public var rtxSSRC: UInt32? { encodings[0].rtxSSRC }

  /// Its packets name their encoding, and are no one's without.
  public var namesEncodings: Bool { encodings[0].rid != nil }
}

/// A section in which we send: a slot, whose outgoing stream keeps its identity for life while the track that
/// feeds it may change.
public struct SendSection: Equatable, Sendable {
  /// The slot's number within its transport; stable, never reused.
  public var index: UInt16
  public var mid: String
  public var kind: MediaKind
  public var codecs: [NegotiatedCodec]
  public var extensions: HeaderExtensionMap
  public var ssrc: UInt32
  public var rtxSSRC: UInt32?
  /// Equal for the audio and the video slot of a pair, so that browsers play them in step.
  public var cname: String
  /// The stream id of `a=msid`, equal for a pair as well.
  public var streamID: String
  /// The far end takes header extensions in both forms, mixed (RFC 8285 §6); else all are in the one-byte form.
  public var allowsMixedExtensions: Bool

  public init(
    index: UInt16, mid: String, kind: MediaKind, codecs: [NegotiatedCodec], extensions: HeaderExtensionMap,
    ssrc: UInt32, rtxSSRC: UInt32?, cname: String, streamID: String, allowsMixedExtensions: Bool = false
  ) {
    self.index = index
    self.mid = mid
    self.kind = kind
    self.codecs = codecs
    self.extensions = extensions
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.cname = cname
    self.streamID = streamID
    self.allowsMixedExtensions = allowsMixedExtensions
  }

  /// The codec under which a stream of `format` can be sent here: the same format, else one that includes it. Nil
  /// where the far end lacks the codec.
  ///
  /// RED has no place of its own: who lacks it gets its primary blocks, so ask for their codec.
  public func codec(taking format: CodecFormat) -> NegotiatedCodec? {
    codecs.first { $0.format == format } ?? codecs.first { $0.format.takes(format) }
  }
}

/// What one transport carries, as agreed: the outcome of negotiation, the input of the media plane.
public struct AgreedMedia: Equatable, Sendable {
  public var receive: [ReceiveSection]
  public var send: [SendSection]
  /// RTCP may leave report and name out where it has neither to say (`a=rtcp-rsize`, RFC 5506 §5): all sections that
  /// carry something agreed to that. What was not agreed on is not used.
  public var allowsReducedSizeRTCP: Bool

  public init(
    receive: [ReceiveSection] = [], send: [SendSection] = [], allowsReducedSizeRTCP: Bool = false
  ) {
    self.receive = receive
    self.send = send
    self.allowsReducedSizeRTCP = allowsReducedSizeRTCP
  }
}
