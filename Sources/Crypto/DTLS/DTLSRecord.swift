/// The 13 bytes before every DTLS 1.2 record (RFC 6347 §4.1), read without keys.
public struct DTLSRecord: Equatable, Sendable {
  public static let headerSize = 13
  /// The most bytes after a header (RFC 6347 §4.1 with RFC 5246 §6.2.3).
  public static let payloadLimit = 1 << 14 + 2_048

  public enum ContentType: UInt8, Sendable {
    case changeCipherSpec = 20
    case alert = 21
    case handshake = 22
    case applicationData = 23
    case heartbeat = 24
    case connectionID = 25
  }

  public var type: ContentType
  public var epoch: UInt16
  /// 48 bits.
  public var sequence: UInt64
  /// Where the payload lies in the datagram.
  public var payload: Range<Int>

  /// Reads the record at `offset`; nil where there is none that lies within the datagram.
  public init?(_ datagram: UnsafeRawBufferPointer, at offset: Int) {
    guard offset >= 0, datagram.count &- offset >= Self.headerSize,
      let type = ContentType(rawValue: datagram[offset])
    else { return nil }
    let version = UInt16(bigEndian: datagram.loadUnaligned(fromByteOffset: offset &+ 1, as: UInt16.self))
    guard version == 0xFEFF || version == 0xFEFD else { return nil }
    let number = UInt64(bigEndian: datagram.loadUnaligned(fromByteOffset: offset &+ 3, as: UInt64.self))
    let length = UInt16(bigEndian: datagram.loadUnaligned(fromByteOffset: offset &+ 11, as: UInt16.self))
    let start = offset &+ Self.headerSize
    guard Int(length) <= Self.payloadLimit, Int(length) <= datagram.count &- start else { return nil }
    self.type = type
    epoch = UInt16(truncatingIfNeeded: number >> 48)
    sequence = number & 0xFFFF_FFFF_FFFF
    payload = start..<start &+ Int(length)
  }

  /// Whether a datagram consists of records and nothing else; what doesn't never reaches OpenSSL.
  public static func looksLikeRecords(_ datagram: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    repeat {
      guard let record = DTLSRecord(datagram, at: offset) else { return false }
      offset = record.payload.upperBound
    } while offset < datagram.count
    return true
  }

  /// Whether a datagram starts with a ClientHello or a fragment of one, which is what begins a handshake.
  public static func isClientHello(_ datagram: UnsafeRawBufferPointer) -> Bool {
    // RFC 6347 §4.2.2: type, length, message number, fragment offset, fragment length.
    guard let record = DTLSRecord(datagram, at: 0), record.type == .handshake, record.epoch == 0,
      record.payload.count >= 12
    else { return false }
    return datagram[record.payload.lowerBound] == 1
  }
}
