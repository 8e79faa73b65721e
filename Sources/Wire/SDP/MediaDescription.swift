/// One section of a description: its `m=` line and what belongs to it (RFC 8866 §5.14).
public struct MediaDescription: Equatable, Sendable {
  /// `audio`, `video`, `application` or another token.
  public var media: String
  /// 0 declines or stops the section, unless it is `bundle-only` (RFC 9143 §6).
  public var port: UInt16
  public var protocolName: String
  /// Payload types in RTP sections, where each is a number below 128 and stands once; other tokens elsewhere.
  public var formats: [String]
  public var connection: ConnectionAddress?
  public var bandwidths: [Bandwidth]
  public var shared = SharedAttributes()
  public var mid: String?
  public var isBundleOnly = false
  /// RTP and RTCP share one port (RFC 5761).
  public var rtcpMux = false
  /// RTCP need not be compound (RFC 5506).
  public var rtcpReducedSize = false
  public var candidates: [CandidateAttribute] = []
  public var streams: [StreamAttribute] = []
  public var rtpMaps: [RTPMapAttribute] = []
  public var feedback: [FeedbackAttribute] = []
  public var formatParameters: [FormatAttribute] = []
  public var ssrcs: [SSRCAttribute] = []
  public var ssrcGroups: [SSRCGroupAttribute] = []
  public var rids: [RIDAttribute] = []
  public var simulcast: SimulcastAttribute?
  /// RFC 8841 §5.
  public var sctpPort: UInt16?
  /// Bytes; 0 means any (RFC 8841 §6).
  public var maximumMessageSize: UInt64?
  public var others: [OtherAttribute] = []

  public init(
    media: String, port: UInt16, protocolName: String, formats: [String],
    connection: ConnectionAddress? = nil,
    bandwidths: [Bandwidth] = [], mid: String? = nil
  ) {
    self.media = media
    self.port = port
    self.protocolName = protocolName
    self.formats = formats
    self.connection = connection
    self.bandwidths = bandwidths
    self.mid = mid
  }

  /// The formats are payload types: the protocol is RTP of one profile or another.
  public var isRTP: Bool {
    protocolName.utf8.split(separator: 0x2F).contains { $0.elementsEqual("RTP".utf8) }
  }

  /// The formats of an RTP section, in the sender's order of preference.
  public var payloadTypes: [UInt8] { isRTP ? formats.compactMap { UInt8($0) } : [] }

  /// Port 0 that is meant as such.
  public var isStopped: Bool { port == 0 && !isBundleOnly }

  public func rtpMap(of payloadType: UInt8) -> RTPMapAttribute? {
    rtpMaps.first { $0.payloadType == payloadType }
  }
  public func parameters(of payloadType: UInt8) -> FormatAttribute? {
    formatParameters.first { $0.payloadType == payloadType }
  }
  /// Feedback offered for one payload type, wildcards included; in lower case.
  public func feedback(of payloadType: UInt8) -> Set<String> {
    Set(
      feedback.filter { $0.payloadType == payloadType || $0.payloadType == nil }.map { $0.kind.lowercased() })
  }
}
