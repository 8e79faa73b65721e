internal import Engine
internal import Model

/// A key frame as a browser's decoder takes it (WebCodecs): the name of what it is in, and its bytes, of H.264 as a byte stream
/// (H.264 Annex B). It is looked at as far as that needs, and decoded nowhere on the server.
struct ThumbnailPicture: Equatable {
  let codec: String
  let bytes: [UInt8]

  /// - Returns: nil for one that no decoder could begin with.
  init?(_ frame: KeyFrame) {
    switch frame.format.codec {
    case .vp8: (codec, bytes) = ("vp8", frame.bytes)
    case .vp9:
      guard let name = Self.vp9(frame.bytes) else { return nil }
      (codec, bytes) = (name, frame.bytes)
    case .h264:
      guard let found = Self.h264(frame.bytes) else { return nil }
      (codec, bytes) = found
    default: return nil
    }
  }

  /// Profile and depth as the frame says them; the level is one that any decoder takes (VP9 codec ISO media file format binding).
  private static func vp9(_ bytes: [UInt8]) -> String? {
    guard let first = bytes.first, first >> 6 == 2 else { return nil }
    let profile = first >> 5 & 1 | first >> 3 & 2
    return "vp09.0\(profile).41.\(profile < 2 ? "08" : "10")"
  }

  /// Units behind their sizes become units behind start codes. The name has profile, constraints and level of the first sequence
  /// parameter set (RFC 6381 §3.3).
  private static func h264(_ bytes: [UInt8]) -> (codec: String, bytes: [UInt8])? {
    var codec: String?
    var stream: [UInt8] = []
    stream.reserveCapacity(bytes.count)
    var offset = 0
    while offset < bytes.count {
      guard offset + 4 < bytes.count else { return nil }
      let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let start = offset + 4
      guard size > 0, size <= bytes.count - start else { return nil }
      let unit = bytes[start..<start + size]
      if codec == nil, unit[start] & 0x1F == 7, size > 3 {
        codec = "avc1." + unit[start + 1...start + 3].map { hex($0) }.joined()
      }
      stream += [0, 0, 0, 1]
      stream += unit
      offset = start + size
    }
    return codec.map { ($0, stream) }
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
