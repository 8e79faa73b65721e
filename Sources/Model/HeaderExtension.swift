/// An RTP header extension that Roost understands; each is negotiated by its URI (RFC 8285).
public enum HeaderExtension: UInt8, Sendable, CaseIterable {
  /// RFC 9143 §15: which section of the description a stream belongs to.
  case mid = 0
  /// RFC 6464: the loudness of the packet and whether it is speech.
  case audioLevel = 1
  /// draft-holmer-rmcat-transport-wide-cc-extensions-01: a sequence number over all streams of a transport.
  case transportSequence = 2
  /// RFC 8852 §3.1: which of a section's encodings a stream is.
  case rid = 3
  /// RFC 8852 §3.2: which encoding a stream of retransmissions repairs.
  case repairedRid = 4
  /// draft-alvestrand-rmcat-remb-03 §4 and its companion page: when the packet left, in 24 bits of seconds × 2^18.
  case absoluteSendTime = 5
  /// AV1 RTP specification, appendix A: which frames a frame refers to, whatever the codec.
  case dependencyDescriptor = 6
  /// The colours of a picture, with its first key frame and when they change.
  case colorSpace = 7
  /// The least and the greatest delay at which the sender wants a picture shown.
  case playoutDelay = 8
  /// http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time: when what is in the packet was captured.
  case absoluteCaptureTime = 9
  /// http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00: which layers a publisher sends, how large and at what
  /// rate.
  case videoLayersAllocation = 10

  public var uri: String {
    switch self {
    case .mid: "urn:ietf:params:rtp-hdrext:sdes:mid"
    case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    case .transportSequence: "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    case .rid: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    case .repairedRid: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    case .dependencyDescriptor:
      "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
    case .colorSpace: "http://www.webrtc.org/experiments/rtp-hdrext/color-space"
    case .playoutDelay: "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    case .absoluteCaptureTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    case .videoLayersAllocation: "http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00"
    }
  }

  /// The data belongs to the media: it goes on to subscribers, whatever feeds them. The rest is between two ends of one transport.
  public var isCarried: Bool {
    switch self {
    case .dependencyDescriptor, .colorSpace, .playoutDelay, .absoluteCaptureTime: true
    case .mid, .audioLevel, .transportSequence, .rid, .repairedRid, .absoluteSendTime, .videoLayersAllocation:
      false
    }
  }

  /// Whether sections of the kind have a use for it.
  public func suits(_ kind: MediaKind) -> Bool {
    switch self {
    case .audioLevel: kind == .audio
    case .dependencyDescriptor, .colorSpace, .playoutDelay, .videoLayersAllocation: kind == .video
    case .mid, .transportSequence, .absoluteSendTime, .rid, .repairedRid, .absoluteCaptureTime: true
    }
  }

  public init?(uri: some StringProtocol) {
    guard let found = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
    self = found
  }
}

/// Which id each extension has on one transport: at most 16 kinds, ids 1–255, 0 where it isn't negotiated.
public struct HeaderExtensionMap: Equatable, Sendable {
  @usableFromInline var ids: InlineArray<16, UInt8> = InlineArray(repeating: 0)

  public init() {}

  /// The id under which `kind` travels; 0 is never an id on the wire (RFC 8285 §4.2).
  @inlinable public subscript(kind: HeaderExtension) -> UInt8 {
    get { ids[Int(kind.rawValue)] }
    set { ids[Int(kind.rawValue)] = newValue }
  }

  /// The kind that travels under `id`.
  @inlinable public func kind(of id: UInt8) -> HeaderExtension? {
    guard id != 0 else { return nil }
    for kind in 0..<16 where ids[kind] == id { return HeaderExtension(rawValue: UInt8(kind)) }
    return nil
  }

  /// At least one that goes on to subscribers was negotiated.
  public var hasCarried: Bool {
    HeaderExtension.allCases.contains { $0.isCarried && self[$0] != 0 }
  }

  public static func == (a: Self, b: Self) -> Bool {
    (0..<16).allSatisfy { a.ids[$0] == b.ids[$0] }
  }
}
