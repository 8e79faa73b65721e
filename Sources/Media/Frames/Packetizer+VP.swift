internal import Model
internal import Wire

extension Packetizer {
  /// With a picture id of 15 bits (RFC 7741 §4.2).
  func vp8(_ frame: [UInt8]) -> [[UInt8]] {
    Self.divide(frame.count, limit: maximum - 4).map { piece in
      let start: UInt8 = piece.lowerBound == 0 ? 0x10 : 0
      return [0x80 | start, 0x80, 0x80 | UInt8(pictureID >> 8), UInt8(pictureID & 0xFF)] + frame[piece]
    }
  }

  /// With a picture id of 15 bits, in the mode that isn't flexible, without layers; a key frame says how large it is (RFC 9628 §4.2).
  func vp9(_ frame: [UInt8]) -> [[UInt8]] {
    guard let head = frame.withUnsafeBytes({ VP9FrameHeader($0) }) else { return [] }
    var structure: [UInt8] = []
    if let size = head.size {
      structure = [0x10, UInt8(size.width >> 8), UInt8(size.width & 0xFF)]
      structure += [UInt8(size.height >> 8), UInt8(size.height & 0xFF)]
    }
    return Self.divide(frame.count, limit: maximum - 3 - structure.count).map { piece in
      let isFirst = piece.lowerBound == 0
      var first: UInt8 = 0x80 | (head.isKeyFrame ? 0 : 0x40)
      if isFirst { first |= 0x08 }
      if piece.upperBound == frame.count { first |= 0x04 }
      if isFirst, !structure.isEmpty { first |= 0x02 }
      let descriptor = [first, 0x80 | UInt8(pictureID >> 8), UInt8(pictureID & 0xFF)]
      return descriptor + (isFirst ? structure : []) + frame[piece]
    }
  }
}
