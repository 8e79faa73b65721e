/// Why a payload is no AV1 that we accept. The reason is counted, never answered.
public enum AV1Error: Error, Equatable, Sendable {
  case empty
  /// It says that it continues a frame, and that it begins a coded video sequence.
  case contradiction
  /// An element longer than the payload, or without a byte of its own.
  case truncated(offset: Int, size: Int)
}

/// What the aggregation header and the first unit of one RTP payload say (AV1 RTP specification, §4.4).
public struct AV1Payload: Equatable, Sendable {
  /// N: the first packet of a coded video sequence, which begins with a key frame.
  public var startsKeyFrame: Bool
  /// The first unit begins a frame; a frame's further tiles don't.
  public var startsFrame: Bool
  /// Where the first unit is, in bytes from the payload's first.
  public var firstUnit: Int

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(AV1Error) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    let header = bytes.byte(at: 0)
    let continues = header & 0x80 != 0
    startsKeyFrame = header & 0x08 != 0
    guard !(continues && startsKeyFrame) else { throw .contradiction }
    startsFrame = startsKeyFrame
    firstUnit = 1
    // One element goes without its length; of more, and of an unsaid number, the first has it.
    var offset = 1
    if header & 0x30 != 0x10 {
      guard let (size, start) = Self.length(payload, at: 1), size > 0, size <= payload.count &- start else {
        throw .truncated(offset: 1, size: payload.count)
      }
      offset = start
      firstUnit = start
    }
    guard offset < payload.count else { throw .truncated(offset: offset, size: payload.count) }
    if continues { return }
    switch bytes.byte(at: offset) >> 3 & 0x0F {
    // Sequence header, temporal delimiter, frame header, frame.
    case 1, 2, 3, 6: startsFrame = true
    default: break
    }
  }

  /// A number in leb128 (AV1 specification §4.10.5), at most five bytes of it.
  @usableFromInline static func length(
    _ payload: UnsafeRawBufferPointer, at start: Int
  ) -> (value: Int, end: Int)? {
    var value = 0
    for index in 0..<5 {
      guard start &+ index < payload.count, let bytes = payload.baseAddress else { return nil }
      let byte = bytes.byte(at: start &+ index)
      value |= Int(byte & 0x7F) << (7 &* index)
      if byte & 0x80 == 0 { return (value, start &+ index &+ 1) }
    }
    return nil
  }
}
