internal import Model

/// A `PacketInfo` as bytes for another node, which may be another build: of fixed size, in network order, with a version in
/// front. A later version may only add at the end, and says by its number that it has.
extension PacketInfo {
  public static let wireVersion: UInt8 = 3
  public static let wireSize = 56

  /// Why bytes are no packet's info.
  public enum WireError: Error, Equatable, Sendable {
    case size(Int)
    case version(UInt8)
    /// A codec's format that no build of this version has.
    case format(UInt8)
    /// An offset or a size lies outside of the packet.
    case range(field: String)
  }

  /// The first `wireSize` bytes of `bytes` are written.
  /// - Precondition: there are so many.
  public func encode(into bytes: UnsafeMutableRawBufferPointer) {
    precondition(bytes.count >= Self.wireSize)
    var writer = FieldWriter(bytes: bytes)
    writer.put(Self.wireVersion)
    writer.put(restart)
    writer.put(flags.rawValue)
    writer.put(timestamp)
    writer.put(UInt64(bitPattern: arrival.nanoseconds))
    writer.put(UInt64(bitPattern: extendedSequence))
    writer.put(format.rawValue)
    writer.put(primaryFormat.rawValue)
    writer.put(audioLevel)
    writer.put(contributors)
    writer.put(payloadOffset)
    writer.put(payloadSize)
    writer.put(primaryOffset)
    writer.put(pictureID)
    writer.put(carried.frameNumber)
    writer.put(olderBlocks)
    writer.put(pictureIDOffset)
    writer.put(tl0PictureIndexOffset)
    writer.put(tl0PictureIndex)
    writer.put(carried.descriptorOffset)
    writer.put(carried.colorSpaceOffset)
    writer.put(carried.playoutDelayOffset)
    writer.put(carried.descriptorSize)
    writer.put(carried.colorSpaceSize)
    writer.put(layer.spatial)
    writer.put(layer.temporal)
    writer.put(layer.opens)
    writer.put(carried.captureTimeOffset)
    writer.put(encoding)
    // Of later versions.
    while writer.position < Self.wireSize { writer.put(UInt8(0)) }
  }

  /// Reads every version up to `wireVersion`; the first has no time of capture, the second one encoding of each track.
  /// - Parameters:
  ///   - bytes: exactly one.
  ///   - packetSize: of the packet that it is about, in which every range has to lie.
  public init(decoding bytes: UnsafeRawBufferPointer, packetSize: Int) throws(WireError) {
    guard bytes.count == Self.wireSize else { throw .size(bytes.count) }
    var reader = FieldReader(bytes: bytes)
    let version: UInt8 = reader.take()
    guard (1...Self.wireVersion).contains(version) else { throw .version(version) }
    self.init()
    restart = reader.take()
    flags = Flags(rawValue: reader.take())
    timestamp = reader.take()
    arrival = Instant(nanoseconds: Int64(bitPattern: reader.take()))
    extendedSequence = Int64(bitPattern: reader.take())
    format = try Self.format(reader.take())
    primaryFormat = try Self.format(reader.take())
    audioLevel = reader.take()
    contributors = reader.take()
    payloadOffset = reader.take()
    payloadSize = reader.take()
    primaryOffset = reader.take()
    pictureID = reader.take()
    carried.frameNumber = reader.take()
    olderBlocks = reader.take()
    pictureIDOffset = reader.take()
    tl0PictureIndexOffset = reader.take()
    tl0PictureIndex = reader.take()
    carried.descriptorOffset = reader.take()
    carried.colorSpaceOffset = reader.take()
    carried.playoutDelayOffset = reader.take()
    carried.descriptorSize = reader.take()
    carried.colorSpaceSize = reader.take()
    layer = LayerID(spatial: reader.take(), temporal: reader.take())
    // Earlier builds write 0 here.
    layer.opens = reader.take()
    let captureTimeOffset: UInt16 = reader.take()
    carried.captureTimeOffset = version >= 2 ? captureTimeOffset : 0
    let number: UInt8 = reader.take()
    encoding = version >= 3 ? number : 0
    guard encoding < ReceiveSection.mostEncodings else { throw .range(field: "encoding") }
    try checkRanges(packetSize)
  }

  private static func format(_ value: UInt8) throws(WireError) -> CodecFormat {
    guard let format = CodecFormat(rawValue: value) else { throw .format(value) }
    return format
  }

  /// Later stages read by these without looking again.
  private func checkRanges(_ packetSize: Int) throws(WireError) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.infoOutsidePacket) { return }
    #endif
    let payload = Int(payloadSize)
    guard contributors <= 15, 12 + 4 * Int(contributors) <= packetSize else {
      throw .range(field: "contributors")
    }
    guard Int(payloadOffset) >= 12, Int(payloadOffset) + payload <= packetSize else {
      throw .range(field: "payload")
    }
    guard Int(primaryOffset) <= payload else { throw .range(field: "primaryOffset") }
    guard Int(pictureIDOffset) + (flags.contains(.longPictureID) ? 2 : 1) <= payload || pictureIDOffset == 0
    else {
      throw .range(field: "pictureIDOffset")
    }
    guard tl0PictureIndexOffset == 0 || Int(tl0PictureIndexOffset) < payload else {
      throw .range(field: "tl0PictureIndexOffset")
    }
    try checkExtension("descriptor", carried.descriptorOffset, carried.descriptorSize)
    try checkExtension("colorSpace", carried.colorSpaceOffset, carried.colorSpaceSize)
    try checkExtension("playoutDelay", carried.playoutDelayOffset, CarriedExtensions.playoutDelaySize)
    try checkExtension("captureTime", carried.captureTimeOffset, CarriedExtensions.captureTimeSize)
  }

  private func checkExtension(_ field: String, _ offset: UInt16, _ size: UInt8) throws(WireError) {
    guard offset == 0 || Int(offset) + Int(size) <= Int(payloadOffset) else { throw .range(field: field) }
  }
}

/// Integers in network order, one behind the other; the caller has seen to the room.
private struct FieldWriter {
  let bytes: UnsafeMutableRawBufferPointer
  var position = 0

  mutating func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    bytes.storeBytes(of: value.bigEndian, toByteOffset: position, as: Value.self)
    position += MemoryLayout<Value>.size
  }
}

private struct FieldReader {
  let bytes: UnsafeRawBufferPointer
  var position = 0

  mutating func take<Value: FixedWidthInteger & BitwiseCopyable>() -> Value {
    defer { position += MemoryLayout<Value>.size }
    return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
  }
}
