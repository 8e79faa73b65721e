public import Model

/// A track of a Matroska file.
public struct MatroskaTrack: Equatable, Sendable {
  public var codec: Codec
  /// What a decoder is given before the first frame: `H264Configuration`, `H265Configuration`, `AV1Configuration`, the head of Opus.
  public var codecPrivate: [UInt8]
  /// Of the first picture.
  public var size = PictureSize()
  /// 1 or 2, of sound.
  public var channels: UInt8 = 1
  /// Nanoseconds between a frame's timestamp and when it is played.
  public var codecDelay: UInt64 = 0
  public var name = ""

  /// - Parameter codecPrivate: none of VP8 and VP9.
  public static func video(_ codec: Codec, size: PictureSize, codecPrivate: [UInt8] = []) -> MatroskaTrack {
    MatroskaTrack(codec: codec, codecPrivate: codecPrivate, size: size)
  }

  public static func opus(_ head: OpusHead) -> MatroskaTrack {
    MatroskaTrack(
      codec: .opus, codecPrivate: head.bytes, channels: head.channels,
      codecDelay: UInt64(head.preSkip) * 1_000_000 / 48)
  }

  /// PCMU, PCMA or G.722, of one channel: what Windows says of such sound (`WAVEFORMATEX`).
  /// - Returns: nil of another codec.
  public static func telephone(_ codec: Codec) -> MatroskaTrack? {
    let sampling = samplingFrequency(of: codec)
    guard let tag = formatTag(of: codec) else { return nil }
    var format: [UInt8] = []
    format.append(littleEndian: tag)
    format.append(littleEndian: UInt16(1))
    format.append(littleEndian: UInt32(sampling))
    // Bytes a second, and of a block; each sample of G.722 has half a byte.
    format.append(littleEndian: UInt32(8_000))
    format.append(littleEndian: UInt16(1))
    format.append(littleEndian: UInt16(codec == .g722 ? 4 : 8))
    format.append(littleEndian: UInt16(0))
    return MatroskaTrack(codec: codec, codecPrivate: format)
  }

  /// WebM has the open codecs alone; others are Matroska.
  public var isWebM: Bool {
    switch codec {
    case .vp8, .vp9, .av1, .opus: true
    default: false
    }
  }

  static func formatTag(of codec: Codec) -> UInt16? {
    switch codec {
    case .pcma: 6
    case .pcmu: 7
    case .g722: 0x028F
    default: nil
    }
  }

  static func samplingFrequency(of codec: Codec) -> Double {
    switch codec {
    case .opus: 48_000
    case .g722: 16_000
    default: 8_000
    }
  }

  /// - Returns: nil of a codec that has none, as RED.
  var codecID: String? {
    switch codec {
    case .vp8: "V_VP8"
    case .vp9: "V_VP9"
    case .av1: "V_AV1"
    case .h264: "V_MPEG4/ISO/AVC"
    case .h265: "V_MPEGH/ISO/HEVC"
    case .opus: "A_OPUS"
    case .pcmu, .pcma, .g722: "A_MS/ACM"
    case .red: nil
    }
  }

  /// - Parameter format: of `A_MS/ACM`, which names several.
  static func codec(id: String, format: [UInt8]) -> Codec? {
    guard id == "A_MS/ACM" else {
      return Codec.allCases.first { MatroskaTrack(codec: $0, codecPrivate: []).codecID == id }
    }
    guard format.count >= 4, format[2] == 1, format[3] == 0 else { return nil }
    let tag = UInt16(format[0]) | UInt16(format[1]) << 8
    return [Codec.pcmu, .pcma, .g722].first { formatTag(of: $0) == tag }
  }
}
