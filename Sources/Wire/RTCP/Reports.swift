public import Model

/// What a receiver says about one stream (RFC 3550 §6.4.1).
public struct ReportBlock: Equatable, Sendable {
  public static let size = 24

  /// The stream that is reported on.
  public var ssrc: UInt32
  /// Lost since the last report, in 256ths of what was expected.
  public var fractionLost: UInt8
  /// Lost since the beginning; negative with duplicates. 24 bits on the wire, where it is clamped.
  public var cumulativeLost: Int32
  /// Highest sequence number received, the count of wraps in the upper half.
  public var highestSequence: UInt32
  /// Interarrival jitter in units of the RTP clock.
  public var jitter: UInt32
  /// The middle 32 bits of the last sender report's NTP time; 0 before the first.
  public var lastSenderReport: UInt32
  /// Time since that report in 1/65536 s.
  public var delaySinceLastSenderReport: UInt32

  public init(
    ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, highestSequence: UInt32 = 0,
    jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequence = highestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  /// - Parameter bytes: at least `size` of them.
  init(_ bytes: UnsafeRawPointer) {
    ssrc = bytes.loadBigEndian(at: 0, as: UInt32.self)
    let loss = bytes.loadBigEndian(at: 4, as: UInt32.self)
    fractionLost = UInt8(truncatingIfNeeded: loss >> 24)
    // Moved up and back down, so that the 24th bit becomes the sign.
    cumulativeLost = Int32(bitPattern: loss << 8) >> 8
    highestSequence = bytes.loadBigEndian(at: 8, as: UInt32.self)
    jitter = bytes.loadBigEndian(at: 12, as: UInt32.self)
    lastSenderReport = bytes.loadBigEndian(at: 16, as: UInt32.self)
    delaySinceLastSenderReport = bytes.loadBigEndian(at: 20, as: UInt32.self)
  }

  func write(_ bytes: UnsafeMutableRawPointer, at offset: Int) {
    let lost = UInt32(bitPattern: min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)) & 0xFF_FFFF
    bytes.storeBigEndian(ssrc, at: offset)
    bytes.storeBigEndian(UInt32(fractionLost) << 24 | lost, at: offset + 4)
    bytes.storeBigEndian(highestSequence, at: offset + 8)
    bytes.storeBigEndian(jitter, at: offset + 12)
    bytes.storeBigEndian(lastSenderReport, at: offset + 16)
    bytes.storeBigEndian(delaySinceLastSenderReport, at: offset + 20)
  }
}

/// The blocks of a report, read when asked for. Points into the compound and must not outlive it.
public struct ReportBlocks {
  /// 0–31.
  public let count: Int
  let bytes: UnsafeRawPointer

  /// - Returns: nil if there is no block of that number.
  public subscript(index: Int) -> ReportBlock? {
    guard index >= 0, index < count else { return nil }
    return ReportBlock(bytes + ReportBlock.size * index)
  }
}

/// What a sender says about its stream (RFC 3550 §6.4.1); the blocks are read beside it.
public struct SenderReport: Equatable, Sendable {
  /// Bytes of its body before the blocks.
  static let size = 24

  public var ssrc: UInt32
  /// The sender's wall clock at the moment of the report.
  public var ntp: NTPTime
  /// The same moment on the stream's RTP clock.
  public var rtpTimestamp: UInt32
  public var packetCount: UInt32
  /// Bytes of payload.
  public var octetCount: UInt32

  public init(ssrc: UInt32, ntp: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32) {
    self.ssrc = ssrc
    self.ntp = ntp
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
  }

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    let bytes = try packet.bytes(.senderReport, atLeast: Self.size)
    ssrc = bytes.loadBigEndian(at: 0, as: UInt32.self)
    ntp = NTPTime(rawValue: bytes.loadBigEndian(at: 4, as: UInt64.self))
    rtpTimestamp = bytes.loadBigEndian(at: 12, as: UInt32.self)
    packetCount = bytes.loadBigEndian(at: 16, as: UInt32.self)
    octetCount = bytes.loadBigEndian(at: 20, as: UInt32.self)
  }
}

/// What a receiver that sends nothing says (RFC 3550 §6.4.2); the blocks are read beside it.
public struct ReceiverReport: Equatable, Sendable {
  static let size = 4

  public var ssrc: UInt32

  public init(ssrc: UInt32) { self.ssrc = ssrc }

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    ssrc = try packet.bytes(.receiverReport, atLeast: Self.size).loadBigEndian(at: 0, as: UInt32.self)
  }
}

extension ReportBlocks {
  /// The blocks of a sender or receiver report; what profiles append behind them is left alone.
  public init(_ packet: RTCPPacket) throws(RTCPError) {
    let head = packet.kind == .senderReport ? SenderReport.size : ReceiverReport.size
    let kind: RTCPKind = packet.kind == .senderReport ? .senderReport : .receiverReport
    count = Int(packet.format)
    bytes = try packet.bytes(kind, atLeast: head + ReportBlock.size * count) + head
  }
}
