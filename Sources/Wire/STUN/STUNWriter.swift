public import Model

/// Writes a STUN message into a buffer, attribute by attribute; the header's length is right after each.
///
/// What doesn't fit is left out and leaves `overflowed` set: such a message must not be sent.
public struct STUNWriter {
  private let buffer: UnsafeMutableRawBufferPointer
  private let transaction: STUNTransactionID
  /// Bytes written so far.
  public private(set) var count = 0
  public private(set) var overflowed = false

  /// Starts a Binding message.
  /// - Parameter buffer: stays the caller's and outlives the writer.
  public init(
    _ buffer: UnsafeMutableRawBufferPointer, _ messageClass: STUNClass, transaction: STUNTransactionID
  ) {
    self.buffer = buffer
    self.transaction = transaction
    guard buffer.count >= STUNHeader.size else {
      overflowed = true
      return
    }
    let kind = UInt16(messageClass.rawValue)
    put(STUNMessage.binding | (kind & 1) << 4 | (kind & 2) << 7, at: 0)
    put(UInt16(0), at: 2)
    put(STUNHeader.cookie, at: 4)
    put(transaction.high, at: 8)
    put(transaction.low, at: 12)
    count = STUNHeader.size
  }

  public mutating func append(_ type: STUNAttributeType) { _ = open(type, length: 0) }

  public mutating func append(_ type: STUNAttributeType, _ value: UInt32) {
    if let start = open(type, length: 4) { put(value, at: start) }
  }

  public mutating func append(_ type: STUNAttributeType, _ value: UInt64) {
    if let start = open(type, length: 8) { put(value, at: start) }
  }

  /// USERNAME: the receiver's fragment, a colon, the sender's (RFC 8445 §7.2.2).
  public mutating func appendUsername(_ receiver: [UInt8], _ sender: [UInt8]) {
    let length = receiver.count + 1 + sender.count
    guard length <= STUNMessage.usernameLimit, var at = open(.username, length: length) else {
      overflowed = true
      return
    }
    for byte in receiver {
      buffer[at] = byte
      at += 1
    }
    buffer[at] = UInt8(ascii: ":")
    for byte in sender {
      at += 1
      buffer[at] = byte
    }
  }

  /// XOR-MAPPED-ADDRESS (RFC 8489 §14.2).
  public mutating func appendMapped(_ address: SocketAddress) {
    guard let start = open(.xorMappedAddress, length: address.isIPv4 ? 8 : 20) else { return }
    put(UInt16(address.isIPv4 ? 1 : 2), at: start)
    put(address.port ^ UInt16(STUNHeader.cookie >> 16), at: start + 2)
    if address.isIPv4 {
      put(address.ipv4 ^ STUNHeader.cookie, at: start + 4)
    } else {
      put(address.high ^ transaction.addressMask, at: start + 4)
      put(address.low ^ transaction.low, at: start + 12)
    }
  }

  /// ERROR-CODE (RFC 8489 §14.8).
  /// - Parameter code: 300–699.
  public mutating func appendError(_ code: Int, _ reason: StaticString) {
    guard let start = open(.errorCode, length: 4 + reason.utf8CodeUnitCount) else { return }
    put(UInt16(0), at: start)
    buffer[start + 2] = UInt8(truncatingIfNeeded: code / 100)
    buffer[start + 3] = UInt8(truncatingIfNeeded: code % 100)
    let text = UnsafeRawBufferPointer(start: reason.utf8Start, count: reason.utf8CodeUnitCount)
    UnsafeMutableRawBufferPointer(rebasing: buffer[(start + 4)...]).copyMemory(from: text)
  }

  /// UNKNOWN-ATTRIBUTES: those of `message` that we would have to understand (RFC 8489 §14.9).
  public mutating func appendUnknown(of message: borrowing STUNMessage) {
    let named = min(message.unknownCount, STUNMessage.unknownLimit)
    guard let start = open(.unknownAttributes, length: 2 * named) else { return }
    for index in 0..<named { put(message.unknown[index], at: start + 2 * index) }
  }

  /// Opens MESSAGE-INTEGRITY: the header then counts it, and its code is to be taken of the bytes before it.
  /// - Returns: where the attribute begins; its code goes four bytes later. Nil if it doesn't fit.
  public mutating func openIntegrity() -> Int? {
    open(.messageIntegrity, length: 20).map { $0 - 4 }
  }

  /// FINGERPRINT: the last attribute, after the code of MESSAGE-INTEGRITY is in place.
  public mutating func appendFingerprint() {
    guard let start = open(.fingerprint, length: 4) else { return }
    put(STUNFingerprint.of(UnsafeRawBufferPointer(rebasing: buffer[..<(start - 4)])), at: start)
  }

  /// - Returns: where the value goes.
  private mutating func open(_ type: STUNAttributeType, length: Int) -> Int? {
    let padded = (length + 3) & ~3
    guard !overflowed, length <= Int(UInt16.max), 4 + padded <= buffer.count - count,
      count + 4 + padded - STUNHeader.size <= Int(UInt16.max)
    else {
      overflowed = true
      return nil
    }
    put(type.rawValue, at: count)
    put(UInt16(truncatingIfNeeded: length), at: count + 2)
    let start = count + 4
    for padding in length..<padded { buffer[start + padding] = 0 }
    count = start + padded
    put(UInt16(truncatingIfNeeded: count - STUNHeader.size), at: 2)
    return start
  }

  private func put<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    buffer.storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
  }
}
