#if PLANTED_DEFECTS
  internal import Model
#endif

/// Writes transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1), packet by packet in
/// the order of transport sequence numbers.
///
/// Statuses come before all deltas on the wire. So the deltas are gathered at the buffer's end, last byte first,
/// and turned round when the message is finished; the room between is what is left.
public struct TransportFeedbackWriter: ~Copyable {
  private static let headSize = 4 + TransportFeedback.headSize
  private static let longestRun = 0x1FFF
  private static let mostStatuses = 0xFFFF

  private let bytes: UnsafeMutableRawPointer
  private let capacity: Int
  /// Where the next chunk goes.
  private var offset = Self.headSize
  private var deltaBytes = 0
  private var statuses = 0
  /// Symbols that no chunk holds yet: up to 14, or a longer run of one. They always fit one chunk.
  private var pending = InlineArray<14, UInt8>(repeating: 0)
  private var pendingCount = 0
  private var uniform = true
  private var large = false

  /// - Parameters:
  ///   - buffer: what doesn't end on a word is left alone.
  ///   - referenceTime: in units of 64 ms; the low 24 bits are taken.
  /// - Returns: nil if not even the head fits.
  public init?(
    into buffer: UnsafeMutableRawBufferPointer, sources: FeedbackSources, baseSequence: UInt16,
    referenceTime: UInt32, feedbackCount: UInt8
  ) {
    guard buffer.count >= Self.headSize, let bytes = buffer.baseAddress else { return nil }
    self.bytes = bytes
    // The length field counts words in 16 bits.
    capacity = min(buffer.count & ~3, 4 * 0x1_0000)
    bytes.store(byte: 0x80 | 15, at: 0)
    bytes.store(byte: RTCPPacket.transportLayerFeedback, at: 1)
    bytes.storeBigEndian(sources.sender, at: 4)
    bytes.storeBigEndian(sources.media, at: 8)
    bytes.storeBigEndian(baseSequence, at: 12)
    bytes.storeBigEndian(referenceTime << 8 | UInt32(feedbackCount), at: 16)
  }

  /// The next `count` packets were not received; a long run costs no more than a short one.
  /// - Returns: how many of them were added: fewer if the message is full.
  public mutating func appendLost(_ count: Int = 1) -> Int {
    var added = 0
    while added < count {
      guard append(symbol: 0, delta: 0) else { break }
      added += 1
      guard uniform, pending[0] == 0, pendingCount >= pending.count else { continue }
      // What fits the same chunk needs no further room.
      let more = min(count - added, Self.longestRun - pendingCount, Self.mostStatuses - statuses)
      pendingCount += more
      statuses += more
      added += more
    }
    return added
  }

  /// The next packet was received.
  /// - Parameter delta: 250 µs ticks since the packet received before it, in the first since the reference time.
  /// - Returns: false, with nothing added, if the message is full or `delta` is beyond 16 bits.
  public mutating func appendReceived(delta: Int32) -> Bool {
    guard let delta = Int16(exactly: delta) else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.deltaByte), delta == 256 { return append(symbol: 1, delta: delta) }
    #endif
    return append(symbol: delta >= 0 && delta <= 255 ? 1 : 2, delta: delta)
  }

  /// Closes the message, which must be the last of its compound if it is padded.
  /// - Returns: its size, a multiple of four; nil if no packet was added.
  public consuming func finish() -> Int? {
    guard statuses > 0 else { return nil }
    emit(last: true)
    var deltas = UnsafeMutableRawBufferPointer(start: bytes + (capacity - deltaBytes), count: deltaBytes)
    deltas.reverse()
    (bytes + offset).copyMemory(from: bytes + (capacity - deltaBytes), byteCount: deltaBytes)

    let end = offset + deltaBytes
    let size = (end + 3) & ~3
    if size > end {
      for place in end..<size { bytes.store(byte: 0, at: place) }
      bytes.store(byte: UInt8(truncatingIfNeeded: size - end), at: size - 1)
      bytes.store(byte: 0x80 | 0x20 | 15, at: 0)
    }
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: size / 4 - 1), at: 2)
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: statuses), at: 14)
    return size
  }

  private mutating func append(symbol: UInt8, delta: Int16) -> Bool {
    let fits = holds(symbol)
    // With the chunk that is yet to be written for what is pending.
    let size = offset + (fits ? 2 : 4) + deltaBytes + Int(symbol)
    guard statuses < Self.mostStatuses, size <= capacity else { return false }
    if !fits { emit(last: false) }

    if pendingCount > 0 && symbol != pending[0] { uniform = false }
    if pendingCount < 14 { pending[pendingCount] = symbol }
    pendingCount += 1
    large = large || symbol == 2
    statuses += 1
    if symbol == 2 { push(UInt8(truncatingIfNeeded: delta >> 8)) }
    if symbol != 0 { push(UInt8(truncatingIfNeeded: delta)) }
    return true
  }

  private mutating func push(_ byte: UInt8) {
    deltaBytes += 1
    bytes.store(byte: byte, at: capacity - deltaBytes)
  }

  /// Whether what is pending still fits one chunk with `symbol` behind it.
  private func holds(_ symbol: UInt8) -> Bool {
    if pendingCount < 7 { return true }
    if pendingCount < 14 && !large && symbol != 2 { return true }
    return pendingCount < Self.longestRun && uniform && symbol == pending[0]
  }

  /// Writes one chunk. Only the last of a message may hold fewer symbols than its form has room for, so up to six
  /// may stay pending otherwise.
  private mutating func emit(last: Bool) {
    var word: UInt16
    var taken = pendingCount
    if uniform {
      word = UInt16(pending[0]) << 13 | UInt16(truncatingIfNeeded: pendingCount)
    } else if pendingCount == 14 || (last && pendingCount > 7) {
      // More than seven that differ are none of them large: `holds` saw to it.
      word = 0x8000
      for index in 0..<taken { word |= UInt16(pending[index]) << UInt16(13 - index) }
    } else {
      taken = min(pendingCount, 7)
      word = 0xC000
      for index in 0..<taken { word |= UInt16(pending[index]) << UInt16(12 - 2 * index) }
    }
    bytes.storeBigEndian(word, at: offset)
    offset += 2

    pendingCount -= taken
    uniform = true
    large = false
    for index in 0..<pendingCount {
      pending[index] = pending[index + taken]
      uniform = uniform && pending[index] == pending[0]
      large = large || pending[index] == 2
    }
  }
}
