import Model

/// What is agreed on with a peer under attack: every codec, announced and unannounced streams, a simulcast, slots with
/// and without retransmissions. Slots and tracks of one number are of one kind.
enum PeerMedia {
  static let tracks = 3
  static let reportSSRC: UInt32 = 9
  /// Of the participant: sound, a picture and its retransmissions, streams that no description announced, one of ours.
  static let farStreams: [UInt32] = [1, 2, 3, 11, 12, 13, 1_001, 0xFFFF_FFFF]
  static let payloadTypes: [UInt8] = [
    111, 63, 96, 97, 98, 99, 45, 46, 102, 103, 0, 127, 106, 107, 98, 102,
  ]
  /// Payload types by stream of ours.
  static let ownStreams: [UInt32: Set<UInt8>] = [
    1_000: [111, 63], 1_001: [96, 98, 45, 102, 106], 1_002: [97, 99, 46, 103, 107], 1_003: [96, 102],
  ]

  /// An extension that the participant writes, by a bit each.
  enum Element {
    case text(UInt8, String)
    case bytes(UInt8)
  }
  static let farExtensions: [Element] = [
    .text(1, "1"), .text(1, "2"), .text(5, "h"), .text(6, "h"), .bytes(2), .bytes(3), .bytes(7),
  ]

  /// - Parameter variant: 0 all; 1 of the pictures VP8 alone, and without retransmissions; 2 of these no third; 3 nothing.
  static func agreed(_ variant: Int, reducedSize: Bool) -> AgreedMedia {
    guard variant < 3 else { return AgreedMedia(allowsReducedSizeRTCP: reducedSize) }
    let count = variant < 2 ? tracks : 2
    return AgreedMedia(
      receive: Array(received(variant)[..<count]), send: Array(sent(variant)[..<count]),
      allowsReducedSizeRTCP: reducedSize)
  }

  private static func received(_ variant: Int) -> [ReceiveSection] {
    [
      ReceiveSection(
        index: 0, mid: "0", kind: .audio, codecs: audio, extensions: extensions, ssrc: 1, cname: "c"),
      ReceiveSection(
        index: 1, mid: "1", kind: .video, codecs: video(variant), extensions: extensions, ssrc: 2,
        rtxSSRC: variant == 0 ? 3 : nil, cname: "c"),
      ReceiveSection(
        index: 2, mid: "2", kind: .video, codecs: estimated, extensions: extensions, cname: "d", rid: "h"),
    ]
  }

  private static func sent(_ variant: Int) -> [SendSection] {
    [
      SendSection(
        index: 0, mid: "3", kind: .audio, codecs: audio, extensions: extensions, ssrc: 1_000, rtxSSRC: nil,
        cname: "u", streamID: "s"),
      SendSection(
        index: 1, mid: "4", kind: .video, codecs: video(variant), extensions: extensions, ssrc: 1_001,
        rtxSSRC: variant == 0 ? 1_002 : nil, cname: "u", streamID: "s", allowsMixedExtensions: true),
      SendSection(
        index: 2, mid: "5", kind: .video, codecs: estimated, extensions: extensions, ssrc: 1_003,
        rtxSSRC: nil, cname: "v", streamID: "t"),
    ]
  }

  private static var extensions: HeaderExtensionMap {
    var map = HeaderExtensionMap()
    map[.mid] = 1
    map[.audioLevel] = 2
    map[.transportSequence] = 3
    map[.absoluteSendTime] = 4
    map[.rid] = 5
    map[.repairedRid] = 6
    map[.dependencyDescriptor] = 7
    map[.colorSpace] = 8
    map[.playoutDelay] = 9
    map[.absoluteCaptureTime] = 10
    return map
  }

  private static var audio: [NegotiatedCodec] {
    [
      NegotiatedCodec(codec: .opus, payloadType: 111, nack: true, transportCC: true),
      NegotiatedCodec(codec: .red, payloadType: 63, transportCC: true),
    ]
  }

  private static func video(_ variant: Int) -> [NegotiatedCodec] {
    guard variant == 0 else { return [NegotiatedCodec(codec: .vp8, payloadType: 96, nack: true, pli: true)] }
    let formats: [(CodecFormat?, UInt8, UInt8)] = [
      (.vp8, 96, 97), (.vp9(profile: 0), 98, 99), (.av1(profile: 0), 45, 46),
      (.h264(.constrainedBaseline, mode: 1), 102, 103), (.h265(.main, tier: 0), 106, 107),
    ]
    return formats.compactMap { format, payloadType, rtx in
      format.map {
        NegotiatedCodec(
          format: $0, payloadType: payloadType, rtxPayloadType: rtx, nack: true, pli: true,
          transportCC: true)
      }
    }
  }

  /// For a sender that adapts by our estimate, and is asked for key frames by their number.
  private static var estimated: [NegotiatedCodec] {
    let formats: [(CodecFormat?, UInt8)] = [(.vp8, 96), (.h264(.constrainedBaseline, mode: 1), 102)]
    return formats.compactMap { format, payloadType in
      format.map {
        NegotiatedCodec(format: $0, payloadType: payloadType, nack: true, fir: true, remb: true)
      }
    }
  }
}
