public import Model

/// The loudness of an audio packet (RFC 6464 §3).
public struct AudioLevel: Equatable, Sendable {
  /// Decibels below overload: 0 is the loudest, 127 silence.
  public var attenuation: UInt8
  /// The sender believes that it is speech.
  public var voice: Bool

  @inlinable public init(attenuation: UInt8, voice: Bool) {
    self.attenuation = attenuation & 0x7F
    self.voice = voice
  }

  /// - Returns: nil if the element is empty or outside of the packet.
  @inlinable public init?(_ packet: UnsafeRawBufferPointer, _ element: HeaderExtensionReader.Element) {
    // The two-byte form may pad the value (RFC 6464 §3); the first byte is it.
    guard element.lies(in: packet, atLeast: 1), let bytes = packet.baseAddress else { return nil }
    let byte = bytes.byte(at: element.offset)
    self.init(attenuation: byte & 0x7F, voice: byte & 0x80 != 0)
  }

  @inlinable public var byte: UInt8 { (voice ? 0x80 : 0) | (attenuation & 0x7F) }
}

/// The number that a packet has among all packets of its transport
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
public enum TransportSequence {
  public static let size = 2

  /// - Returns: nil if the element isn't two bytes long or lies outside of the packet.
  @inlinable public static func read(
    _ packet: UnsafeRawBufferPointer, _ element: HeaderExtensionReader.Element
  ) -> UInt16? {
    guard element.size == size, element.lies(in: packet, atLeast: size), let bytes = packet.baseAddress
    else { return nil }
    return bytes.loadBigEndian(at: element.offset, as: UInt16.self)
  }

  /// Replaces the number in place.
  /// - Parameter offset: of the element's data.
  /// - Returns: false if it lies outside of the packet.
  @discardableResult
  @inlinable public static func write(
    _ value: UInt16, _ packet: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Bool {
    guard offset >= 0, offset <= packet.count &- size, let bytes = packet.baseAddress else { return false }
    bytes.storeBigEndian(value, at: offset)
    return true
  }
}

/// When a packet left, in seconds × 2^18 of which 24 bits are kept: a circle of 64 s
/// (http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time).
public enum AbsoluteSendTime {
  public static var size: Int { 3 }

  /// Any clock does, as long as it is the same for all packets of a transport.
  @inlinable public static func units(nanoseconds: Int64) -> UInt32 {
    let seconds = nanoseconds / 1_000_000_000
    let rest = nanoseconds % 1_000_000_000
    return UInt32(truncatingIfNeeded: seconds << 18 &+ (rest << 18) / 1_000_000_000) & 0xFF_FFFF
  }

  /// - Returns: nil if the element isn't three bytes long or lies outside of the packet.
  @inlinable public static func read(
    _ packet: UnsafeRawBufferPointer, _ element: HeaderExtensionReader.Element
  ) -> UInt32? {
    guard element.size == size, element.lies(in: packet, atLeast: size), let bytes = packet.baseAddress
    else { return nil }
    return UInt32(bytes.byte(at: element.offset)) << 16
      | UInt32(bytes.loadBigEndian(at: element.offset &+ 1, as: UInt16.self))
  }

  /// Writes three bytes.
  /// - Parameter offset: the caller knows that they are in bounds.
  @inlinable @inline(__always)
  public static func write(_ units: UInt32, _ bytes: UnsafeMutableRawPointer, at offset: Int) {
    bytes.store(byte: UInt8(truncatingIfNeeded: units >> 16), at: offset)
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: units), at: offset &+ 1)
  }
}

/// When what is in a packet was captured (http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time).
public enum AbsoluteCaptureTime {
  /// Bytes: an NTP time, and in the longer form how far the clock that it is read from is ahead of the sender's, in
  /// seconds × 2^32, signed, as the sender estimates it.
  public static var shortSize: Int { 8 }
  public static var longSize: Int { 16 }

  /// The moment by the clock of the sender's reports. Without an estimate that is taken for the clock that captured.
  /// - Parameters:
  ///   - offset: of the element's data.
  ///   - isLong: the element has the longer form.
  /// - Returns: nil if the element lies outside of the packet.
  @inlinable public static func read(
    _ packet: UnsafeRawBufferPointer, at offset: Int, isLong: Bool
  ) -> NTPTime? {
    guard offset >= 0, offset <= packet.count &- (isLong ? longSize : shortSize),
      let bytes = packet.baseAddress
    else { return nil }
    let captured = bytes.loadBigEndian(at: offset, as: UInt64.self)
    let ahead = isLong ? bytes.loadBigEndian(at: offset &+ 8, as: UInt64.self) : 0
    return NTPTime(rawValue: captured &- ahead)
  }

  /// Replaces the time in place.
  /// - Parameter offset: of the element's data.
  /// - Returns: false if it lies outside of the packet.
  @discardableResult
  @inlinable public static func write(
    _ time: NTPTime, _ packet: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Bool {
    guard offset >= 0, offset <= packet.count &- shortSize, let bytes = packet.baseAddress else {
      return false
    }
    bytes.storeBigEndian(time.rawValue, at: offset)
    return true
  }
}

/// The bytes of a MID (RFC 9143 §15.1), held so that packets are compared with them without a String.
public struct MIDBytes: Equatable, Sendable {
  /// Longer ones are not kept: the one-byte form carries 16, browsers use one or two digits.
  public static let capacity = 32

  @usableFromInline var storage: InlineArray<32, UInt8> = InlineArray(repeating: 0)
  @usableFromInline var size: Int

  /// - Returns: nil if `text` is empty or longer than `capacity` in UTF-8.
  public init?(_ text: String) {
    size = text.utf8.count
    guard size >= 1, size <= Self.capacity else { return nil }
    for (index, byte) in text.utf8.enumerated() { storage[index] = byte }
  }

  @inlinable public var count: Int { size }
  /// - Parameter index: below `count`.
  @inlinable public subscript(index: Int) -> UInt8 { storage[index] }

  /// Whether the element's data is this MID. Bytes beyond its end are not looked at, so a prefix is no match.
  @inlinable public func matches(
    _ packet: UnsafeRawBufferPointer, _ element: HeaderExtensionReader.Element
  ) -> Bool {
    guard element.size == size, element.lies(in: packet, atLeast: 1), let bytes = packet.baseAddress else {
      return false
    }
    for index in 0..<size where bytes.byte(at: element.offset &+ index) != storage[index] { return false }
    return true
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.size == b.size && (0..<a.size).allSatisfy { a.storage[$0] == b.storage[$0] }
  }
}

extension HeaderExtensionReader.Element {
  @inlinable func lies(in packet: UnsafeRawBufferPointer, atLeast minimum: Int) -> Bool {
    size >= minimum && offset >= 0 && offset <= packet.count &- size
  }
}
