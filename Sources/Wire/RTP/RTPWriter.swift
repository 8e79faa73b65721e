/// Which of the two layouts an extension block has (RFC 8285 §4.2, §4.3). One block has one form.
public enum HeaderExtensionForm: UInt8, Sendable {
  case oneByte
  case twoByte

  /// Whether the form can hold an element of `id` with `size` bytes of data.
  @inlinable public func holds(id: UInt8, size: Int) -> Bool {
    switch self {
    case .oneByte: id &- 1 < 14 && size >= 1 && size <= 16
    case .twoByte: id != 0 && size >= 0 && size <= 255
    }
  }

  /// Asked for every element before the block is begun: turns to the two-byte form when the element needs it.
  @inlinable public mutating func admit(id: UInt8, size: Int) {
    if self == .oneByte && !holds(id: id, size: size) { self = .twoByte }
  }
}

/// Writes an RTP header with an extension block into a buffer; the payload is then the caller's to place.
///
/// The room is checked when the header is begun and once per element; `finish` can't fail.
public struct RTPWriter: ~Copyable {
  @usableFromInline let bytes: UnsafeMutableRawPointer
  @usableFromInline let capacity: Int
  /// Where the extension block starts, and where the next element goes.
  @usableFromInline let block: Int
  @usableFromInline var offset: Int
  @usableFromInline let form: HeaderExtensionForm

  /// Writes the fixed header.
  /// - Parameters:
  ///   - csrcCount: contributors, 0–15, whose room is left; each must be set with `setContributor`.
  ///   - form: the layout of the extension block; without elements no block is written.
  /// - Returns: nil if the fixed header and the contributors don't fit.
  @inlinable public init?(
    into buffer: UnsafeMutableRawBufferPointer, marker: Bool, payloadType: UInt8, sequence: UInt16,
    timestamp: UInt32, ssrc: UInt32, csrcCount: Int = 0, form: HeaderExtensionForm = .oneByte
  ) {
    let size = RTPHeader.fixedSize &+ 4 &* csrcCount
    guard csrcCount >= 0, csrcCount <= 15, buffer.count >= size, let bytes = buffer.baseAddress else {
      return nil
    }
    self.bytes = bytes
    self.form = form
    block = size
    offset = size
    // The block's end is padded to four bytes, so only whole words count as room.
    capacity = buffer.count & ~3
    bytes.store(byte: 0x80 | UInt8(truncatingIfNeeded: csrcCount), at: 0)
    bytes.store(byte: (marker ? 0x80 : 0) | (payloadType & 0x7F), at: 1)
    bytes.storeBigEndian(sequence, at: 2)
    bytes.storeBigEndian(timestamp, at: 4)
    bytes.storeBigEndian(ssrc, at: 8)
  }

  /// - Parameter index: below the `csrcCount` given at the start; others are ignored.
  @inlinable public mutating func setContributor(_ index: Int, ssrc: UInt32) {
    guard index >= 0, RTPHeader.fixedSize &+ 4 &* index < block else { return }
    bytes.storeBigEndian(ssrc, at: RTPHeader.fixedSize &+ 4 &* index)
  }

  /// Adds an element.
  /// - Parameter data: `size` bytes, outside of the buffer that is written.
  /// - Returns: false, with nothing written, if the form can't hold it or the room is used up.
  @discardableResult
  @inlinable public mutating func append(id: UInt8, _ data: UnsafeRawPointer, size: Int) -> Bool {
    guard let place = reserve(id: id, size: size) else { return false }
    (bytes + place).copyMemory(from: data, byteCount: size)
    return true
  }

  /// As `append`.
  /// - Returns: the data's offset in the buffer, nil as with `append`.
  @inlinable public mutating func appendCopy(id: UInt8, _ data: UnsafeRawPointer, size: Int) -> Int? {
    guard let place = reserve(id: id, size: size) else { return nil }
    (bytes + place).copyMemory(from: data, byteCount: size)
    return place
  }

  /// Changes data of an element that was added; what lies outside of the block is not touched.
  @inlinable public mutating func overwrite<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at place: Int)
  {
    guard place >= block, place <= offset &- MemoryLayout<T>.size else { return }
    bytes.storeBigEndian(value, at: place)
  }

  /// Adds an element whose data the caller writes itself, into zeroed bytes.
  /// - Returns: the data's offset in the buffer, nil as with `append`.
  @inlinable public mutating func appendZeros(id: UInt8, size: Int) -> Int? {
    guard let place = reserve(id: id, size: size) else { return nil }
    for index in 0..<size { bytes.store(byte: 0, at: place &+ index) }
    return place
  }

  /// Adds a two-byte number, such as a transport sequence number.
  @discardableResult
  @inlinable public mutating func append(id: UInt8, _ value: UInt16) -> Bool {
    guard let place = reserve(id: id, size: 2) else { return false }
    bytes.storeBigEndian(value, at: place)
    return true
  }

  /// Adds a MID, without making a String.
  @discardableResult
  @inlinable public mutating func append(id: UInt8, _ mid: MIDBytes) -> Bool {
    guard let place = reserve(id: id, size: mid.count) else { return false }
    for index in 0..<mid.count { bytes.store(byte: mid[index], at: place &+ index) }
    return true
  }

  /// Closes the extension block.
  /// - Returns: the header's size, which is the payload's offset.
  @inlinable public consuming func finish() -> Int {
    guard offset > block else { return block }
    while offset & 3 != 0 {
      bytes.store(byte: 0, at: offset)
      offset &+= 1
    }
    bytes.store(byte: bytes.load(as: UInt8.self) | 0x10, at: 0)
    bytes.storeBigEndian(form == .oneByte ? 0xBEDE as UInt16 : 0x1000, at: block)
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: (offset &- block &- 4) >> 2), at: block &+ 2)
    return offset
  }

  @inlinable mutating func reserve(id: UInt8, size: Int) -> Int? {
    guard form.holds(id: id, size: size) else { return nil }
    let start = offset == block ? block &+ 4 : offset
    let head = form == .oneByte ? 1 : 2
    guard size <= capacity &- start &- head else { return nil }
    if form == .oneByte {
      bytes.store(byte: id << 4 | UInt8(truncatingIfNeeded: size &- 1), at: start)
    } else {
      bytes.store(byte: id, at: start)
      bytes.store(byte: UInt8(truncatingIfNeeded: size), at: start &+ 1)
    }
    offset = start &+ head &+ size
    return start &+ head
  }
}
