/// Why a payload is no RED that we accept. The reason is counted, never answered.
public enum REDError: Error, Equatable, Sendable {
  case empty
  /// The block headers run out of the payload.
  case headersOverrun(size: Int)
  /// The older blocks are longer than the payload.
  case blocksOverrun(bytes: Int, size: Int)
  /// Blocks of different codecs in one packet, which no subscriber can be given.
  case mixed(UInt8, UInt8)
  /// More older blocks than anybody needs.
  case tooManyBlocks
}

/// How one RTP payload is divided into blocks (RFC 2198 §3). Offsets are from the payload's first byte.
public struct REDPayload: Equatable, Sendable {
  /// Older blocks that are read; libwebrtc makes at most nine.
  public static var maximumOlderBlocks: Int { 31 }

  /// Of all blocks, 0–127.
  public var payloadType: UInt8
  /// Blocks that earlier packets had too; each has a header of four bytes, the newest one of one byte.
  public var olderBlocks: Int
  /// Where the newest block lies; its end is the payload's.
  public var primaryOffset: Int

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(REDError) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    payloadType = bytes.byte(at: 0) & 0x7F
    olderBlocks = 0
    var offset = 0
    var older = 0
    while bytes.byte(at: offset) & 0x80 != 0 {
      guard offset &+ 4 < payload.count else { throw .headersOverrun(size: payload.count) }
      guard olderBlocks < Self.maximumOlderBlocks else { throw .tooManyBlocks }
      older &+= Int(bytes.loadBigEndian(at: offset &+ 2, as: UInt16.self) & 0x3FF)
      olderBlocks &+= 1
      offset &+= 4
      let next = bytes.byte(at: offset) & 0x7F
      guard next == payloadType else { throw .mixed(payloadType, next) }
    }
    primaryOffset = offset &+ 1 &+ older
    guard primaryOffset <= payload.count else {
      throw .blocksOverrun(bytes: primaryOffset, size: payload.count)
    }
  }

  /// Gives all blocks another payload type.
  /// - Parameters:
  ///   - payload: as large as the one that was read; bytes outside of it are never written.
  ///   - olderBlocks: as read from it.
  @inlinable public static func rewrite(
    _ payload: UnsafeMutableRawBufferPointer, olderBlocks: Int, payloadType: UInt8
  ) {
    guard olderBlocks >= 0, 4 &* olderBlocks < payload.count, let bytes = payload.baseAddress else { return }
    for index in 0..<olderBlocks { bytes.store(byte: 0x80 | (payloadType & 0x7F), at: 4 &* index) }
    bytes.store(byte: payloadType & 0x7F, at: 4 &* olderBlocks)
  }
}
