internal import Containers
internal import Media
internal import Model
internal import Wire

/// What a file says of a track in front, taken from its frames: some codecs have it only there.
struct CodecParameters: Sendable {
  /// By type of unit: 7 and 8 of H.264, 32–34 of H.265; 1 of AV1.
  private var sets: [UInt8: [UInt8]] = [:]
  private var codec: Codec?

  /// Takes what is in a frame.
  mutating func note(_ frame: EncodedFrame) {
    let codec = frame.format.codec
    if codec != self.codec {
      self.codec = codec
      sets = [:]
    }
    switch codec {
    case .h264: note(frame.bytes) { $0 & 0x1F }
    case .h265: note(frame.bytes) { $0 >> 1 & 0x3F }
    case .av1 where frame.isKeyFrame: noteSequenceHeader(frame.bytes)
    default: break
    }
  }

  private mutating func note(_ frame: [UInt8], _ type: (UInt8) -> UInt8) {
    for unit in NALUnits.behindSizes(frame, width: 4) ?? [] {
      let type = type(frame[unit.lowerBound])
      if [7, 8, 32, 33, 34].contains(type) { sets[type] = Array(frame[unit]) }
    }
  }

  private mutating func noteSequenceHeader(_ frame: [UInt8]) {
    frame.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count, let unit = AV1Unit(UnsafeRawBufferPointer(rebasing: bytes[offset...])) {
        if unit.kind == .sequenceHeader {
          sets[1] = Array(bytes[(offset + unit.content.lowerBound)..<(offset + unit.content.upperBound)])
          return
        }
        offset += unit.content.upperBound
      }
    }
  }

  /// - Parameter size: of the first picture.
  /// - Returns: nil where something that files need hasn't come yet.
  func track(_ format: CodecFormat, size: PictureSize) -> MatroskaTrack? {
    switch format.codec {
    case .vp8, .vp9: return .video(format.codec, size: size)
    case .av1:
      guard let header = sets[1], let record = AV1Configuration.record(sequence: header) else { return nil }
      return .video(.av1, size: size, codecPrivate: record)
    case .h264:
      guard let sequence = sets[7], let picture = sets[8],
        let record = H264Configuration.record(sequence: sequence, picture: picture)
      else { return nil }
      return .video(.h264, size: size, codecPrivate: record)
    case .h265:
      guard let video = sets[32], let sequence = sets[33], let picture = sets[34],
        let record = H265Configuration.record(video: video, sequence: sequence, picture: picture)
      else { return nil }
      return .video(.h265, size: size, codecPrivate: record)
    // Packets of one channel and of two may follow each other; two hold both.
    case .opus: return .opus(OpusHead(channels: 2))
    case .pcmu, .pcma, .g722: return .telephone(format.codec)
    case .red: return nil
    }
  }
}
