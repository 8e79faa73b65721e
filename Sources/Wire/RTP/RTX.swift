/// Retransmission as a stream of its own (RFC 4588 §4): the payload is the original sequence number and the
/// original payload.
public enum RTX {
  /// Bytes that the original sequence number takes before the payload.
  public static let sequenceSize = 2

  /// - Parameter header: as read from this very packet.
  /// - Returns: nil if there is no payload, as in a packet that is padding alone.
  @inlinable public static func originalSequence(
    of packet: UnsafeRawBufferPointer, _ header: RTPHeader
  ) -> UInt16? {
    guard header.payloadSize >= sequenceSize, header.headerSize <= packet.count &- sequenceSize,
      let bytes = packet.baseAddress
    else { return nil }
    return bytes.loadBigEndian(at: header.headerSize, as: UInt16.self)
  }

  /// Restores the original in place: the header moves two bytes towards the payload and takes the original's
  /// sequence number, SSRC and payload type. Extensions and padding stay those of the retransmission.
  /// - Returns: the offset in `packet` at which the restored packet starts; nil, with nothing changed, if
  ///   there is no original sequence number.
  @inlinable public static func decapsulate(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, payloadType: UInt8, ssrc: UInt32
  ) -> Int? {
    guard let sequence = originalSequence(of: UnsafeRawBufferPointer(packet), header),
      header.headerSize >= RTPHeader.fixedSize, let bytes = packet.baseAddress
    else { return nil }
    let restored = bytes + sequenceSize
    restored.copyMemory(from: bytes, byteCount: header.headerSize)
    restored.store(byte: (header.marker ? 0x80 : 0) | (payloadType & 0x7F), at: 1)
    restored.storeBigEndian(sequence, at: 2)
    restored.storeBigEndian(ssrc, at: 8)
    return sequenceSize
  }

  /// Writes the retransmission of a packet. The header with its extensions is copied, padding is not
  /// (RFC 4588 §4).
  /// - Parameters:
  ///   - header: as read from this very packet.
  ///   - buffer: elsewhere in memory.
  /// - Returns: the bytes written; nil if they don't fit.
  @inlinable public static func encapsulate(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, into buffer: UnsafeMutableRawBufferPointer,
    payloadType: UInt8, sequence: UInt16, ssrc: UInt32
  ) -> Int? {
    let original = header.headerSize &+ header.payloadSize
    let size = original &+ sequenceSize
    guard header.headerSize >= RTPHeader.fixedSize, header.payloadSize >= 0, original <= packet.count,
      size <= buffer.count, let from = packet.baseAddress, let to = buffer.baseAddress
    else { return nil }
    to.copyMemory(from: from, byteCount: header.headerSize)
    to.store(byte: from.byte(at: 0) & ~0x20, at: 0)
    to.store(byte: (header.marker ? 0x80 : 0) | (payloadType & 0x7F), at: 1)
    to.storeBigEndian(sequence, at: 2)
    to.storeBigEndian(ssrc, at: 8)
    to.storeBigEndian(header.sequence, at: header.headerSize)
    (to + header.headerSize + sequenceSize).copyMemory(
      from: from + header.headerSize, byteCount: header.payloadSize)
    return size
  }
}
