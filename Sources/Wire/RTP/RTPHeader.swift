/// What stands before the payload of an RTP packet (RFC 3550 §5.1), with the ranges of what follows.
///
/// Offsets and sizes are bytes from the packet's first; every range lies inside the packet it was read from.
public struct RTPHeader: Equatable, Sendable {
  /// Bytes of a header without contributors and extensions.
  public static let fixedSize = 12

  public var marker: Bool
  /// 0–127.
  public var payloadType: UInt8
  public var sequence: UInt16
  public var timestamp: UInt32
  public var ssrc: UInt32
  /// Contributing sources, 0–15, four bytes each from offset 12.
  public var csrcCount: Int
  /// All bytes before the payload.
  public var headerSize: Int
  /// The 16 bits that tell how the extension block is to be read; 0 without a block.
  public var extensionProfile: UInt16
  /// The body of the extension block, behind its own four bytes; both 0 without a block.
  public var extensionOffset: Int
  public var extensionSize: Int
  /// Bytes of payload, padding not counted.
  public var payloadSize: Int
  /// Bytes of padding behind the payload, with the byte that counts them; 0–255.
  public var paddingSize: Int

  @inlinable public var payloadOffset: Int { headerSize }

  /// - Parameter packet: the whole packet in plain text; nothing of it is kept.
  @inlinable public init(_ packet: UnsafeRawBufferPointer) throws(RTPError) {
    guard packet.count >= Self.fixedSize, let bytes = packet.baseAddress else {
      throw .tooShort(bytes: packet.count)
    }
    let first = bytes.byte(at: 0)
    guard first >> 6 == 2 else { throw .wrongVersion(first >> 6) }
    let second = bytes.byte(at: 1)
    marker = second & 0x80 != 0
    payloadType = second & 0x7F
    sequence = bytes.loadBigEndian(at: 2, as: UInt16.self)
    timestamp = bytes.loadBigEndian(at: 4, as: UInt32.self)
    ssrc = bytes.loadBigEndian(at: 8, as: UInt32.self)

    csrcCount = Int(first & 0x0F)
    var size = Self.fixedSize &+ 4 &* csrcCount
    guard size <= packet.count else { throw .contributorsOverrun(count: csrcCount, packet: packet.count) }
    extensionProfile = 0
    extensionOffset = 0
    extensionSize = 0
    if first & 0x10 != 0 {
      guard size &+ 4 <= packet.count else {
        throw .extensionOverruns(offset: size, words: 0, packet: packet.count)
      }
      let words = Int(bytes.loadBigEndian(at: size &+ 2, as: UInt16.self))
      guard size &+ 4 &+ 4 &* words <= packet.count else {
        throw .extensionOverruns(offset: size, words: words, packet: packet.count)
      }
      extensionProfile = bytes.loadBigEndian(at: size, as: UInt16.self)
      extensionOffset = size &+ 4
      extensionSize = 4 &* words
      size &+= 4 &+ extensionSize
    }
    headerSize = size

    let rest = packet.count &- size
    paddingSize = 0
    if first & 0x20 != 0 {
      // Without a byte left the count would be read out of the header.
      guard rest > 0 else { throw .paddingOverruns(padding: 0, available: 0) }
      paddingSize = Int(bytes.byte(at: packet.count &- 1))
      guard paddingSize > 0 else { throw .paddingCountZero }
      guard paddingSize <= rest else { throw .paddingOverruns(padding: paddingSize, available: rest) }
    }
    payloadSize = rest &- paddingSize
  }
}
