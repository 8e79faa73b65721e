/// Bytes of a file that have come and aren't read yet; what is read is given back.
///
/// A reader asks whether a whole piece is there before it takes it, and bounds the piece first: so no more waits here than the
/// largest piece and what came with it.
struct ByteQueue: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  /// Bytes that are still to be passed over when they come.
  private var skipped: UInt64 = 0
  /// Of the next byte, from the file's first.
  private(set) var offset = 0

  init() {}

  var count: Int { bytes.count - start }

  mutating func append(_ new: some Collection<UInt8>) {
    var new = new[...]
    if skipped > 0 {
      let passed = Int(min(skipped, UInt64(new.count)))
      new = new.dropFirst(passed)
      skipped -= UInt64(passed)
      offset &+= passed
    }
    if start > 0, start >= bytes.count / 2 {
      bytes.removeSubrange(..<start)
      start = 0
    }
    bytes += new
  }

  /// A byte that is there.
  subscript(index: Int) -> UInt8 { bytes[start + index] }

  /// - Precondition: they are there.
  func peek(_ range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[start + range.lowerBound..<start + range.upperBound]
  }

  /// - Precondition: so many are there.
  mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer {
      start += count
      offset &+= count
    }
    return bytes[start..<start + count]
  }

  /// Passes over bytes, as many of them as have come now, and the others as they come.
  mutating func skip(_ count: UInt64) {
    let here = Int(min(count, UInt64(self.count)))
    start += here
    offset &+= here
    skipped = count - UInt64(here)
  }

  /// - Precondition: so many bytes are there.
  func littleEndian<T: FixedWidthInteger>(_ type: T.Type, at index: Int) -> T {
    Self.littleEndian(peek(index..<index + MemoryLayout<T>.size))
  }

  static func littleEndian<T: FixedWidthInteger>(_ bytes: some Collection<UInt8>) -> T {
    bytes.reversed().reduce(0) { $0 << 8 | T(truncatingIfNeeded: $1) }
  }
}

extension [UInt8] {
  mutating func append(littleEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { self += $0 }
  }
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { self += $0 }
  }
}
