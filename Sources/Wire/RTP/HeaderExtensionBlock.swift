/// A header extension block laid out ahead of its packets, for streams whose extensions say the same in each of
/// them; at most 48 bytes, which hold a MID of any length and an audio level.
public struct HeaderExtensionBlock: Sendable {
  public static let capacity = 48

  @usableFromInline var words: InlineArray<6, UInt64> = InlineArray(repeating: 0)
  /// Bytes, with the block's own four; 0 for a packet without extensions.
  public private(set) var size = 0

  /// A block without elements.
  public init() {}

  /// - Parameter append: adds the elements; what exceeds the room is left out, as by any writer.
  public init(form: HeaderExtensionForm, _ append: (inout RTPWriter) -> Void) {
    var packet = [UInt8](repeating: 0, count: RTPHeader.fixedSize + Self.capacity)
    packet.withUnsafeMutableBytes { buffer in
      guard
        var writer = RTPWriter(
          into: buffer, marker: false, payloadType: 0, sequence: 0, timestamp: 0, ssrc: 0, form: form)
      else { return }
      append(&writer)
      size = writer.finish() - RTPHeader.fixedSize
      for index in 0..<6 {
        words[index] = buffer.loadUnaligned(
          fromByteOffset: RTPHeader.fixedSize + 8 * index, as: UInt64.self)
      }
    }
  }
}

extension RTPWriter {
  /// Closes the header with a block laid out before, in place of elements of its own.
  ///
  /// All of the block's capacity is written, so that its size costs no branch; the payload comes over the rest.
  /// - Returns: the header's size, which is the payload's offset; nil if there is less room than the capacity.
  @inlinable @inline(__always)
  public consuming func finish(with prepared: borrowing HeaderExtensionBlock) -> Int? {
    guard HeaderExtensionBlock.capacity <= capacity &- block else { return nil }
    guard prepared.size > 0 else { return block }
    for index in 0..<6 {
      bytes.storeBytes(of: prepared.words[index], toByteOffset: block &+ 8 &* index, as: UInt64.self)
    }
    bytes.store(byte: bytes.load(as: UInt8.self) | 0x10, at: 0)
    return block &+ prepared.size
  }
}
