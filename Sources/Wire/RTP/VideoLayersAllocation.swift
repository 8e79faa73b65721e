public import Model

/// Why an element is no allocation of layers that we accept.
public enum VideoLayersAllocationError: Error, Equatable, Sendable {
  case empty
  /// It ends in the middle of a field.
  case truncated
  /// A rate that four bytes don't hold.
  case rateTooLarge
  /// It names a stream that it doesn't list.
  case unlistedStream(UInt8)
  /// There are bytes behind the rates, but not five for each layer.
  case sizes(bytes: Int)
}

/// What a publisher sends of a track: which streams and layers, and how much that is
/// (http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00).
public struct VideoLayersAllocation: BitwiseCopyable, Sendable {
  /// The stream that it came in, 0–3.
  public var stream: UInt8 = 0
  /// 1–4; 0: nothing is sent.
  public var streams: UInt8 = 0
  /// By stream and, within it, layer of size.
  public var layers: InlineArray<16, AnnouncedLayer> = InlineArray(repeating: AnnouncedLayer())

  /// - Parameter element: the extension's data. At most 16 layers with four rates each are read of it.
  public init(_ element: UnsafeRawBufferPointer) throws(VideoLayersAllocationError) {
    guard element.count > 0, let bytes = element.baseAddress else { throw .empty }
    let first = bytes.byte(at: 0)
    guard element.count > 1 || first != 0 else { return }
    stream = first >> 6
    streams = (first >> 4 & 3) + 1
    guard stream < streams else { throw .unlistedStream(stream) }
    var bits = BitReader(element, offset: 4)
    let common = bits.read(4)
    var active: UInt16 = 0
    for index in 0..<Int(streams) {
      active |= UInt16(common != 0 ? common : bits.read(4)) << UInt16(4 &* index)
    }
    bits.align()
    for index in 0..<16 where active >> UInt16(index) & 1 != 0 {
      layers[index].temporalCount = UInt8(bits.read(2)) + 1
    }
    bits.align()
    var offset = bits.offset >> 3
    guard !bits.isOverrun else { throw .truncated }
    for index in 0..<16 {
      for temporal in 0..<Int(layers[index].temporalCount) {
        layers[index].rates[temporal] = try Self.number(element, at: &offset)
      }
    }
    try readSizes(element, at: offset, layers: active.nonzeroBitCount)
  }

  /// leb128 (AV1 specification §4.10.5), at most four bytes of it.
  private static func number(
    _ element: UnsafeRawBufferPointer, at offset: inout Int
  ) throws(VideoLayersAllocationError) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<4 as Range<UInt32> {
      guard offset < element.count else { throw .truncated }
      let byte = element[offset]
      offset &+= 1
      value |= UInt32(byte & 0x7F) << (7 &* index)
      if byte & 0x80 == 0 { return value }
    }
    throw .rateTooLarge
  }

  /// Whether sizes are there is known by the bytes that are left.
  private mutating func readSizes(
    _ element: UnsafeRawBufferPointer, at start: Int, layers count: Int
  ) throws(VideoLayersAllocationError) {
    let left = element.count &- start
    guard left > 0, let bytes = element.baseAddress else { return }
    guard left == 5 &* count else { throw .sizes(bytes: left) }
    var offset = start
    for index in 0..<16 where layers[index].temporalCount > 0 {
      let width = bytes.loadBigEndian(at: offset, as: UInt16.self)
      let height = bytes.loadBigEndian(at: offset &+ 2, as: UInt16.self)
      layers[index].picture = PictureSize(
        width: UInt16(clamping: UInt32(width) + 1), height: UInt16(clamping: UInt32(height) + 1))
      layers[index].frameRate = bytes.byte(at: offset &+ 4)
      offset &+= 5
    }
  }

  /// What it says of one of the track's streams, which are numbered as the description lists them.
  public func announcement(ofStream index: Int, arrival: Instant) -> EncodingAnnouncement {
    var announcement = EncodingAnnouncement(arrival: arrival)
    guard index >= 0, index < Int(streams) else { return announcement }
    for layer in 0..<4 { announcement.layers[layer] = layers[4 &* index &+ layer] }
    return announcement
  }
}
