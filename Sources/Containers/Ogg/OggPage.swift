/// A page of an Ogg file: up to 255 segments of packets, with a check sum (RFC 3533 §6).
struct OggPage: Sendable {
  static let headSize = 27
  /// Bytes of the longest page: 255 segments of 255 bytes.
  static let largest = headSize + 255 + 255 * 255

  struct Flags: OptionSet, Sendable {
    var rawValue: UInt8
    /// Its first segment goes on with a packet of the page before.
    static let continued = Flags(rawValue: 1)
    static let first = Flags(rawValue: 2)
    static let last = Flags(rawValue: 4)
  }

  var flags: Flags = []
  /// Where the last packet that ends in it ends; −1 where none does.
  var granule: Int64 = 0
  var serial: UInt32
  var number: UInt32 = 0
  /// Sizes of the segments; one of 255 bytes is followed by more of the same packet.
  var segments: [UInt8] = []
  var content: [UInt8] = []

  init(serial: UInt32) { self.serial = serial }

  var bytes: [UInt8] {
    var bytes = Array("OggS".utf8)
    bytes += [0, flags.rawValue]
    bytes.append(littleEndian: granule)
    bytes.append(littleEndian: serial)
    bytes.append(littleEndian: number)
    bytes += [0, 0, 0, 0, UInt8(segments.count)] + segments + content
    let sum = OggChecksum.of(bytes)
    for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index)) }
    return bytes
  }

  /// - Returns: nil until all of it has come; then it has been taken.
  init?(_ queue: inout ByteQueue) throws(ContainerError) {
    guard queue.count >= Self.headSize else { return nil }
    let offset = queue.offset
    guard queue.peek(0..<4).elementsEqual("OggS".utf8) else {
      throw .notThis(format: "page of Ogg", offset: offset)
    }
    guard queue[4] == 0 else { throw .invalid(field: "Ogg's version", offset: offset + 4) }
    let count = Int(queue[26])
    guard queue.count >= Self.headSize + count else { return nil }
    let segments = Array(queue.peek(Self.headSize..<Self.headSize + count))
    let size = Self.headSize + count + segments.reduce(0) { $0 + Int($1) }
    guard queue.count >= size else { return nil }
    self.init(serial: queue.littleEndian(UInt32.self, at: 14))
    flags = Flags(rawValue: queue[5])
    granule = queue.littleEndian(Int64.self, at: 6)
    number = queue.littleEndian(UInt32.self, at: 18)
    self.segments = segments
    var page = Array(queue.take(size))
    let sum: UInt32 = ByteQueue.littleEndian(page[22..<26])
    for index in 22..<26 { page[index] = 0 }
    guard OggChecksum.of(page) == sum else { throw .damaged(offset: offset) }
    content = Array(page[(Self.headSize + count)...])
  }
}

/// The cyclic redundancy check of Ogg: the polynomial of Ethernet, highest bit first, without start value or complement.
enum OggChecksum {
  static func of(_ bytes: [UInt8]) -> UInt32 {
    var remainder: UInt32 = 0
    for byte in bytes { remainder = remainder << 8 ^ table[Int(UInt8(remainder >> 24) ^ byte)] }
    return remainder
  }

  private static let table: InlineArray<256, UInt32> = InlineArray { index in
    (0..<8).reduce(UInt32(index) << 24) { value, _ in value >> 31 == 1 ? value << 1 ^ 0x04C1_1DB7 : value << 1
    }
  }
}
