/// When packets of named streams arrived, and how they were marked on the way (RFC 8888 §3.1). Points into the compound and must
/// not outlive it.
///
/// A message of 1,200 bytes speaks of some 600 packets; each takes two bytes of it, received or not.
public struct CongestionFeedback {
  /// Units of the report's time, and of a packet's distance from it, in a second.
  public static let timestampRate: Int64 = 65_536
  public static let offsetRate: Int64 = 1_024
  /// Bytes before and behind the streams.
  static let senderSize = 4
  static let timestampSize = 4
  /// Of a stream, before its packets.
  static let streamSize = 8
  /// Arrived longer ago than can be said; and at no time that is known.
  static let farOffset: UInt16 = 0x1FFE
  static let noOffset: UInt16 = 0x1FFF

  /// What the network marked a packet with (RFC 3168 §5).
  public enum ECN: UInt8, Equatable, Sendable {
    case notCapable, capable1, capable0, congested
  }

  /// What became of one packet.
  public struct Report: Equatable, Sendable {
    public var isReceived: Bool
    public var ecn: ECN
    /// Before the report's time, in 1024ths of a second; nil where it isn't known, or longer ago than 8 s.
    public var offset: UInt16?

    public init(isReceived: Bool, ecn: ECN = .notCapable, offset: UInt16? = nil) {
      self.isReceived = isReceived
      self.ecn = ecn
      self.offset = offset
    }

    init(_ word: UInt16) {
      isReceived = word >> 15 == 1
      ecn = isReceived ? ECN(rawValue: UInt8(truncatingIfNeeded: word >> 13 & 3)) ?? .notCapable : .notCapable
      let offset = word & 0x1FFF
      self.offset = isReceived && offset < CongestionFeedback.farOffset ? offset : nil
    }

    var word: UInt16 {
      guard isReceived else { return 0 }
      let offset = offset.map { min($0, CongestionFeedback.farOffset) } ?? CongestionFeedback.noOffset
      return 0x8000 | UInt16(ecn.rawValue) << 13 | offset
    }
  }

  /// Packets of one stream whose numbers follow each other.
  public struct Stream {
    public let ssrc: UInt32
    public let begin: UInt16
    public let count: Int
    let bytes: UnsafeRawPointer

    /// - Returns: nil if there is no packet of that place.
    public subscript(index: Int) -> Report? {
      guard index >= 0, index < count else { return nil }
      return Report(bytes.loadBigEndian(at: 2 * index, as: UInt16.self))
    }

    /// Bytes that it takes.
    var size: Int { CongestionFeedback.streamSize + (2 * count + 3) & ~3 }

    /// - Parameter bytes: at least `streamSize` of them.
    init(_ bytes: UnsafeRawPointer) {
      ssrc = bytes.loadBigEndian(at: 0, as: UInt32.self)
      begin = bytes.loadBigEndian(at: 4, as: UInt16.self)
      count = Int(bytes.loadBigEndian(at: 6, as: UInt16.self))
      self.bytes = bytes + CongestionFeedback.streamSize
    }
  }

  public let sender: UInt32
  /// When it was written, on the receiver's clock, modulo 2^32.
  public let timestamp: UInt32
  /// Packets that it speaks of, in all streams.
  public let reportCount: Int
  /// The streams alone.
  let bytes: UnsafeRawBufferPointer

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    let body = try packet.bytes(.congestionFeedback, atLeast: Self.senderSize + Self.timestampSize)
    sender = body.loadBigEndian(at: 0, as: UInt32.self)
    let end = packet.body.count & ~3 - Self.timestampSize
    timestamp = body.loadBigEndian(at: end, as: UInt32.self)
    bytes = UnsafeRawBufferPointer(start: body + Self.senderSize, count: end - Self.senderSize)

    var offset = 0
    var found = 0
    while offset < bytes.count {
      let left = bytes.count - offset
      guard left >= Self.streamSize, let start = bytes.baseAddress else {
        throw .bodyTooShort(type: packet.type, needs: Self.streamSize, size: left)
      }
      let stream = Stream(start + offset)
      guard stream.size <= left else {
        throw .bodyTooShort(type: packet.type, needs: stream.size, size: left)
      }
      found += stream.count
      offset += stream.size
    }
    reportCount = found
  }

  /// The streams in their order; one may be named more than once.
  public var streams: Streams { Streams(bytes: bytes) }

  public struct Streams {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    public mutating func next() -> Stream? {
      guard offset < bytes.count, let start = bytes.baseAddress else { return nil }
      let stream = Stream(start + offset)
      offset += stream.size
      return stream
    }
  }
}

/// Writes one message of congestion control feedback (RFC 8888 §3.1), stream by stream.
///
///     begin(stream) ──▶ append(packet), append(packet) … ──▶ begin(next stream) … ──▶ finish(time)
public struct CongestionFeedbackWriter: ~Copyable {
  private let bytes: UnsafeMutableRawPointer
  /// Without what the end takes.
  private let capacity: Int
  private var offset = 8
  /// Where the open stream begins; 0: none does.
  private var stream = 0
  private var count = 0

  /// - Parameters:
  ///   - buffer: nil comes back for one of fewer than 24 bytes.
  public init?(into buffer: UnsafeMutableRawBufferPointer, sender: UInt32) {
    guard buffer.count >= 24, let bytes = buffer.baseAddress else { return nil }
    self.bytes = bytes
    // The length field counts words in 16 bits.
    capacity = min(buffer.count & ~3, 4 * 0x1_0000) - CongestionFeedback.timestampSize
    bytes.store(byte: 0x80 | 11, at: 0)
    bytes.store(byte: RTCPPacket.transportLayerFeedback, at: 1)
    bytes.storeBigEndian(sender, at: 4)
  }

  /// What follows is of this stream, from this number on.
  /// - Returns: false, with nothing added, if not even one packet fits.
  public mutating func begin(ssrc: UInt32, sequence: UInt16) -> Bool {
    closeStream()
    guard offset + CongestionFeedback.streamSize + 4 <= capacity else { return false }
    stream = offset
    bytes.storeBigEndian(ssrc, at: offset)
    bytes.storeBigEndian(sequence, at: offset + 4)
    offset += CongestionFeedback.streamSize
    return true
  }

  /// The next packet of the stream.
  /// - Returns: false, with nothing added, if the message is full or no stream was begun.
  public mutating func append(_ report: CongestionFeedback.Report) -> Bool {
    guard stream > 0, count < 0xFFFF, offset + 2 <= capacity else { return false }
    bytes.storeBigEndian(report.word, at: offset)
    offset += 2
    count += 1
    return true
  }

  /// How many more packets the open stream has room for.
  public var room: Int { stream > 0 ? min((capacity - offset) / 2, 0xFFFF - count) : 0 }

  /// Closes the message.
  /// - Parameter timestamp: now, in 65,536ths of a second on the clock that offsets are counted from.
  /// - Returns: its size, a multiple of four; nil if it speaks of no packet.
  public consuming func finish(timestamp: UInt32) -> Int? {
    closeStream()
    guard offset > 8 else { return nil }
    bytes.storeBigEndian(timestamp, at: offset)
    let size = offset + CongestionFeedback.timestampSize
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: size / 4 - 1), at: 2)
    return size
  }

  private mutating func closeStream() {
    guard stream > 0 else { return }
    if count == 0 {
      offset = stream
    } else {
      bytes.storeBigEndian(UInt16(truncatingIfNeeded: count), at: stream + 6)
      if count % 2 == 1 {
        bytes.storeBigEndian(UInt16(0), at: offset)
        offset += 2
      }
    }
    stream = 0
    count = 0
  }
}
