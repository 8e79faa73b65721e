#if PLANTED_DEFECTS
  internal import Model
#endif

/// A fragment of a ClientHello, distinguished from those of another (RFC 6347 §4.2.2): by the message's length, and by its
/// random bytes once a fragment with them came.
public struct DTLSHello: Equatable, Sendable {
  public struct Random: Equatable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64)

    public static func == (a: Self, b: Self) -> Bool { a.words == b.words }
  }

  /// Bytes of the whole message.
  public var length: Int
  /// Nil in fragments that don't hold all of it.
  public var random: Random?

  /// - Returns: nil unless the datagram begins with a ClientHello or a fragment of one.
  public init?(_ datagram: UnsafeRawBufferPointer) {
    guard DTLSRecord.isClientHello(datagram), let record = DTLSRecord(datagram, at: 0),
      let fragment = DTLSFragment(datagram, at: record.payload.lowerBound, end: record.payload.upperBound)
    else { return nil }
    length = fragment.length
    // After two bytes of version.
    guard fragment.offset == 0, fragment.size >= 34 else { return }
    let start = record.payload.lowerBound + DTLSFragment.headerSize + 2
    func word(_ index: Int) -> UInt64 {
      datagram.loadUnaligned(fromByteOffset: start + 8 * index, as: UInt64.self)
    }
    random = Random(words: (word(0), word(1), word(2), word(3)))
  }

  /// Whether another fragment may be of the same message; takes its random bytes over if they weren't known.
  public mutating func admits(_ other: DTLSHello) -> Bool {
    guard other.length == length else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.helloLength) { return true }
    #endif
    guard let new = other.random else { return true }
    if let random { return random == new }
    random = new
    return true
  }
}

/// The twelve bytes before each fragment of a handshake message in the clear (RFC 6347 §4.2.2).
struct DTLSFragment {
  static let headerSize = 12
  /// More than any certificate that is taken, and than any ClientHello that browsers make.
  static let messageLimit = 32_768

  var length: Int
  var offset: Int
  var size: Int

  /// - Returns: nil where no fragment lies within `end` that itself lies within its message.
  init?(_ datagram: UnsafeRawBufferPointer, at start: Int, end: Int) {
    guard end &- start >= Self.headerSize, end <= datagram.count else { return nil }
    func number(_ place: Int) -> Int {
      Int(datagram[start &+ place]) << 16 | Int(datagram[start &+ place &+ 1]) << 8
        | Int(datagram[start &+ place &+ 2])
    }
    length = number(1)
    offset = number(6)
    size = number(9)
    guard length <= Self.messageLimit, size <= end &- start &- Self.headerSize, offset &+ size <= length,
      size > 0 || length == 0
    else { return nil }
  }
}

extension DTLSRecord {
  /// Whether all handshake messages in the clear are fragments that lie within their records and their messages; what
  /// isn't so would end a handshake that it isn't part of.
  public static func hasSoundFragments(_ datagram: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while let record = DTLSRecord(datagram, at: offset) {
      offset = record.payload.upperBound
      guard record.type == .handshake, record.epoch == 0 else { continue }
      var start = record.payload.lowerBound
      repeat {
        guard let fragment = DTLSFragment(datagram, at: start, end: offset) else { return false }
        start &+= DTLSFragment.headerSize &+ fragment.size
      } while start < offset
    }
    return true
  }
}
