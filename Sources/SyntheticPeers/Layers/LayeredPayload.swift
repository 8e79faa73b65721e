internal import Model

/// The bytes before the stamp of a packet in layers, as an encoder writes them.
enum LayeredPayload {
  struct Mark {
    var frame: LayerFrame
    /// The place of its picture behind the key frame.
    var place: Int
    /// Which of the frame's packets this is, from 0, and how many there are.
    var part: Int
    var parts: Int
    var encoding: LayeredVideo.Encoding

    var startsFrame: Bool { part == 0 }
    var endsFrame: Bool { part == parts - 1 }
  }

  /// - Parameter stampSize: bytes that follow.
  static func head(_ mark: Mark, _ structure: LayerStructure, stampSize: Int) -> [UInt8] {
    switch structure.codec {
    case .vp8: vp8(mark, structure)
    case .vp9, .vp9Flexible: vp9(mark, structure)
    case .h264: h264(mark, structure, stampSize: stampSize)
    }
  }

  /// RFC 7741 §4.2.
  static func vp8Descriptor(_ mark: Mark, _ structure: LayerStructure) -> [UInt8] {
    let isDiscardable = structure.isDiscardable(mark.place)
    var bytes: [UInt8] = [0x80 | (isDiscardable ? 0x20 : 0) | (mark.startsFrame ? 0x10 : 0), 0xE0]
    bytes.append(bigEndian: 0x8000 | mark.frame.pictureID)
    bytes.append(mark.frame.tl0PictureIndex)
    let isSync = structure.refersToBaseAlone(mark.place)
    bytes.append(UInt8(mark.frame.temporal) << 6 | (isSync ? 0x20 : 0))
    return bytes
  }

  /// RFC 7741 §4.3; the size of the picture stands in key frames (RFC 6386 §9.1).
  private static func vp8(_ mark: Mark, _ structure: LayerStructure) -> [UInt8] {
    var bytes = vp8Descriptor(mark, structure)
    guard mark.startsFrame else { return bytes }
    bytes += [mark.frame.isKey ? 0x10 : 0x11, 0, 0]
    guard mark.frame.isKey else { return bytes }
    bytes += [0x9D, 0x01, 0x2A]
    for size in [mark.encoding.width, mark.encoding.height] {
      bytes += [UInt8(size & 0xFF), UInt8(size >> 8)]
    }
    return bytes
  }

  /// RFC 9628 §4.2: each mode, with the structure of the layers in key pictures (§4.2.1).
  private static func vp9(_ mark: Mark, _ structure: LayerStructure) -> [UInt8] {
    let (frame, isFlexible) = (mark.frame, structure.codec == .vp9Flexible)
    let isTop = frame.spatial == structure.spatialLayers - 1
    let isUnused = isTop || structure.isKeyOnly && !frame.isKey
    let hasStructure = frame.isKey && frame.spatial == 0 && mark.startsFrame
    let flags: [(Bool, UInt8)] = [
      (!frame.isKey, 0x40), (isFlexible, 0x10), (mark.startsFrame, 0x08), (mark.endsFrame, 0x04),
      (hasStructure, 0x02), (isUnused, 0x01),
    ]
    var bytes = [flags.reduce(UInt8(0xA0)) { $1.0 ? $0 | $1.1 : $0 }]
    bytes.append(bigEndian: 0x8000 | frame.pictureID)
    let usesBelow = frame.spatial > 0 && (frame.isKey || !structure.isKeyOnly)
    bytes.append(
      UInt8(frame.temporal) << 5 | (structure.switchesUp(mark.place) ? 0x10 : 0) | UInt8(frame.spatial) << 1
        | (usesBelow ? 1 : 0))
    if !isFlexible { bytes.append(frame.tl0PictureIndex) }
    if isFlexible, !frame.isKey {
      let distances = structure.distances(mark.place)
      for (index, distance) in distances.enumerated() {
        bytes.append(UInt8(distance) << 1 | (index < distances.count - 1 ? 1 : 0))
      }
    }
    if hasStructure { bytes += scalability(mark.encoding, structure) }
    return bytes
  }

  private static func scalability(_ encoding: LayeredVideo.Encoding, _ structure: LayerStructure) -> [UInt8] {
    let hasPictures = structure.codec == .vp9
    var bytes = [UInt8(structure.spatialLayers - 1) << 5 | 0x10 | (hasPictures ? 0x08 : 0)]
    for spatial in 0..<structure.spatialLayers {
      let divisor = UInt16(1 << (structure.spatialLayers - 1 - spatial))
      bytes.append(bigEndian: encoding.width / divisor)
      bytes.append(bigEndian: encoding.height / divisor)
    }
    guard hasPictures else { return bytes }
    bytes.append(UInt8(LayerStructure.cycle))
    for place in LayerStructure.cycle..<2 * LayerStructure.cycle {
      let distances = structure.distances(place)
      bytes.append(
        UInt8(structure.temporal(place)) << 5 | (structure.switchesUp(place) ? 0x10 : 0)
          | UInt8(distances.count) << 2)
      bytes += distances.map { UInt8($0) }
    }
    return bytes
  }
}

/// A stamp that can be read by who has the key alone: for everybody else it is noise.
///
/// On the wire: eight bytes that differ in each packet, then stamp and filling, masked by what follows from them.
enum SealedStamp {
  private static let key: UInt64 = 0x5EC2_E75E_C2E7_5EC2
  static let nonceSize = 8

  static func write(_ stamp: PayloadStamp, nonce: UInt64, to bytes: inout [UInt8]) {
    bytes.append(bigEndian: nonce)
    let start = bytes.count
    stamp.write(to: &bytes)
    mask(&bytes, from: start, nonce)
  }

  static func read(_ payload: UnsafeRawBufferPointer) -> PayloadStamp? {
    guard payload.count > nonceSize else { return nil }
    let nonce = payload.prefix(nonceSize).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    var bytes = Array(payload.dropFirst(nonceSize))
    mask(&bytes, from: 0, nonce)
    return bytes.withUnsafeBytes { PayloadStamp($0) }
  }

  private static func mask(_ bytes: inout [UInt8], from start: Int, _ nonce: UInt64) {
    var random = RandomSource.seeded(state: nonce ^ key)
    var word: UInt64 = 0
    for index in start..<bytes.count {
      if (index - start) % 8 == 0 { word = random.next() }
      bytes[index] ^= UInt8(truncatingIfNeeded: word)
      word >>= 8
    }
  }
}
