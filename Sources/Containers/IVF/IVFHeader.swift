public import Model

/// The 32 bytes in front of an IVF file, a container of one track of video that libvpx's tools brought.
public struct IVFHeader: Equatable, Sendable {
  public static let size = 32

  /// VP8, VP9 or AV1.
  public var codec: Codec
  /// Of the first picture; later ones may have another size.
  public var width: UInt16
  public var height: UInt16
  /// A second has `rate` / `scale` units of the frames' timestamps.
  public var rate: UInt32
  public var scale: UInt32
  /// How many there are; 0 or wrong where the file was not finished.
  public var frames: UInt32

  public init(
    codec: Codec, width: UInt16, height: UInt16, rate: UInt32 = 90_000, scale: UInt32 = 1, frames: UInt32 = 0
  ) {
    self.codec = codec
    self.width = width
    self.height = height
    self.rate = rate
    self.scale = scale
    self.frames = frames
  }

  /// - Returns: nil of a codec that IVF has no letters for.
  static func letters(of codec: Codec) -> [UInt8]? {
    switch codec {
    case .vp8: Array("VP80".utf8)
    case .vp9: Array("VP90".utf8)
    case .av1: Array("AV01".utf8)
    default: nil
    }
  }

  static let framesOffset = 24

  /// - Returns: nil of a codec that IVF has no letters for.
  var bytes: [UInt8]? {
    guard let letters = Self.letters(of: codec) else { return nil }
    var bytes = Array("DKIF".utf8)
    bytes.append(littleEndian: UInt16(0))
    bytes.append(littleEndian: UInt16(Self.size))
    bytes += letters
    bytes.append(littleEndian: width)
    bytes.append(littleEndian: height)
    bytes.append(littleEndian: rate)
    bytes.append(littleEndian: scale)
    bytes.append(littleEndian: frames)
    bytes.append(littleEndian: UInt32(0))
    return bytes
  }

  /// - Parameter queue: has at least `size` bytes, which stay in it.
  init(_ queue: ByteQueue) throws(ContainerError) {
    guard queue.peek(0..<4).elementsEqual("DKIF".utf8) else { throw .notThis(format: "IVF", offset: 0) }
    guard queue.littleEndian(UInt16.self, at: 4) == 0 else {
      throw .invalid(field: "IVF's version", offset: 4)
    }
    guard queue.littleEndian(UInt16.self, at: 6) == Self.size else {
      throw .invalid(field: "the header's size", offset: 6)
    }
    let letters = queue.peek(8..<12)
    guard
      let codec = [Codec.vp8, .vp9, .av1].first(where: { codec in
        Self.letters(of: codec).map { letters.elementsEqual($0) } ?? false
      })
    else { throw .invalid(field: "the codec", offset: 8) }
    self.init(
      codec: codec, width: queue.littleEndian(UInt16.self, at: 12),
      height: queue.littleEndian(UInt16.self, at: 14), rate: queue.littleEndian(UInt32.self, at: 16),
      scale: queue.littleEndian(UInt32.self, at: 20),
      frames: queue.littleEndian(UInt32.self, at: Self.framesOffset))
    guard rate > 0, scale > 0 else { throw .invalid(field: "the time base", offset: 16) }
  }
}
