/// An open bitstream unit of AV1 (OBU, AV1 specification §5.3), as RTP and files divide a picture into.
public struct AV1Unit: Equatable, Sendable {
  public enum Kind: UInt8, Sendable {
    case sequenceHeader = 1
    case temporalDelimiter = 2
    case frameHeader = 3
    case tileGroup = 4
    case metadata = 5
    case frame = 6
    case redundantFrameHeader = 7
    case tileList = 8
    case padding = 15
  }

  /// nil of reserved types, which decoders ignore.
  public let kind: Kind?
  /// Bytes of its header: one, or two with layers; the size that may follow isn't counted.
  public let headerSize: Int
  /// Where its content begins and ends, from the unit's first byte.
  public let content: Range<Int>

  /// - Parameter unit: begins with the unit. One without a size of its own takes all of it.
  /// - Returns: nil where the header is cut, claims an error, or has a size that goes beyond.
  public init?(_ unit: UnsafeRawBufferPointer) {
    guard let first = unit.first, first & 0x80 == 0 else { return nil }
    kind = Kind(rawValue: first >> 3 & 0x0F)
    headerSize = first & 0x04 != 0 ? 2 : 1
    guard headerSize <= unit.count else { return nil }
    guard first & 0x02 != 0 else {
      content = headerSize..<unit.count
      return
    }
    guard let (size, start) = AV1Payload.length(unit, at: headerSize), size <= unit.count &- start else {
      return nil
    }
    content = start..<start &+ size
  }

  /// Reads a number in leb128 (§4.10.5).
  /// - Returns: the number, and where it ends; nil for one that is cut, or has more than five bytes.
  public static func length(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (value: Int, end: Int)? {
    AV1Payload.length(bytes, at: start)
  }

  /// Adds a number in leb128 (§4.10.5), of at most 32 bits.
  public static func append(length: Int, to bytes: inout [UInt8]) {
    var rest = UInt32(truncatingIfNeeded: length)
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Adds a unit as files have it: with its size (§5.2).
  public func append(_ unit: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(unit[0] | 0x02)
    if headerSize == 2 { bytes.append(unit[1]) }
    Self.append(length: content.count, to: &bytes)
    bytes += unit[content]
  }

  /// Adds a unit as RTP has it: without its size (AV1 RTP specification §5).
  public func appendBare(_ unit: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(unit[0] & ~0x02)
    if headerSize == 2 { bytes.append(unit[1]) }
    bytes += unit[content]
  }
}
