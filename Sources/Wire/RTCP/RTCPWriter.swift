import Model

/// Writes a compound of RTCP packets, one behind the other, into a buffer.
///
/// Every `append` answers the bytes that it added, or nil with nothing changed where they don't fit. A full
/// compound begins with a report and holds a CNAME (RFC 3550 §6.1); a reduced-size one need not (RFC 5506).
public struct RTCPWriter: ~Copyable {
  private let bytes: UnsafeMutableRawPointer?
  private let capacity: Int
  /// Bytes written so far, a multiple of four.
  public private(set) var size = 0
  /// Where the last packet starts, if it is a report that takes blocks.
  private var report: Int?

  public init(into buffer: UnsafeMutableRawBufferPointer) {
    bytes = buffer.baseAddress
    capacity = buffer.count
  }

  @discardableResult
  public mutating func append(_ value: SenderReport) -> Int? {
    guard let start = begin(RTCPPacket.senderReport, 0, body: SenderReport.size), let bytes else {
      return nil
    }
    bytes.storeBigEndian(value.ssrc, at: start)
    bytes.storeBigEndian(value.ntp.rawValue, at: start + 4)
    bytes.storeBigEndian(value.rtpTimestamp, at: start + 12)
    bytes.storeBigEndian(value.packetCount, at: start + 16)
    bytes.storeBigEndian(value.octetCount, at: start + 20)
    report = start - 4
    return 4 + SenderReport.size
  }

  @discardableResult
  public mutating func append(_ value: ReceiverReport) -> Int? {
    guard let start = begin(RTCPPacket.receiverReport, 0, body: ReceiverReport.size), let bytes else {
      return nil
    }
    bytes.storeBigEndian(value.ssrc, at: start)
    report = start - 4
    return 4 + ReceiverReport.size
  }

  /// Adds a block to the report that was appended last.
  /// - Returns: nil also if the last packet is no report, or has its 31 blocks.
  @discardableResult
  public mutating func append(_ block: ReportBlock) -> Int? {
    guard let report, let bytes, capacity - size >= ReportBlock.size else { return nil }
    let first = bytes.load(fromByteOffset: report, as: UInt8.self)
    guard first & 0x1F < 31 else { return nil }
    block.write(bytes, at: size)
    size += ReportBlock.size
    bytes.store(byte: first + 1, at: report)
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: (size - report) / 4 - 1), at: report + 2)
    return ReportBlock.size
  }

  /// A source description with the canonical name of one source.
  /// - Parameter cname: 1–255 bytes of UTF-8; others are refused.
  @discardableResult
  public mutating func append(cname: String, ssrc: UInt32) -> Int? {
    let length = cname.utf8.count
    guard length >= 1, length <= 255 else { return nil }
    // The source, type and length, the name, and one to four zero bytes.
    let body = (4 + 2 + length) / 4 * 4 + 4
    guard let start = begin(RTCPPacket.sourceDescription, 1, body: body), let bytes else { return nil }
    bytes.storeBigEndian(ssrc, at: start)
    bytes.store(byte: 1, at: start + 4)
    bytes.store(byte: UInt8(truncatingIfNeeded: length), at: start + 5)
    var place = start + 6
    for byte in cname.utf8 {
      bytes.store(byte: byte, at: place)
      place += 1
    }
    for rest in place..<start + body { bytes.store(byte: 0, at: rest) }
    return 4 + body
  }

  /// A goodbye of up to 31 sources.
  @discardableResult
  public mutating func append(goodbye ssrcs: Span<UInt32>) -> Int? {
    guard ssrcs.count <= 31 else { return nil }
    let body = 4 * ssrcs.count
    guard let start = begin(RTCPPacket.goodbye, UInt8(ssrcs.count), body: body), let bytes else { return nil }
    for index in ssrcs.indices { bytes.storeBigEndian(ssrcs[index], at: start + 4 * index) }
    return 4 + body
  }

  /// A request for lost packets, which are paired up where they lie within 17 (RFC 4585 §6.2.1).
  /// - Parameter sequences: ascending on the circle of 16 bits; where they aren't, more pairs are needed.
  /// - Returns: nil also if nothing was lost.
  @discardableResult
  public mutating func append(nack sequences: Span<UInt16>, _ sources: FeedbackSources) -> Int? {
    guard sequences.count > 0 else { return nil }
    var pairs = 1
    var base = sequences[0]
    for index in sequences.indices where sequences[index] &- base > 16 {
      pairs += 1
      base = sequences[index]
    }
    let body = 4 * pairs
    guard
      let start = begin(RTCPPacket.transportLayerFeedback, 1, body: FeedbackSources.size + body, sources),
      let bytes
    else { return nil }
    var place = start
    base = sequences[0]
    var mask: UInt16 = 0
    for index in sequences.indices {
      let distance = sequences[index] &- base
      if distance > 16 {
        bytes.storeBigEndian(UInt32(base) << 16 | UInt32(mask), at: place)
        place += 4
        base = sequences[index]
        mask = 0
      } else if distance > 0 {
        mask |= 1 << (distance - 1)
      }
    }
    bytes.storeBigEndian(UInt32(base) << 16 | UInt32(mask), at: place)
    return 4 + FeedbackSources.size + body
  }

  /// A request for a key frame because a picture was lost.
  @discardableResult
  public mutating func append(pictureLoss sources: FeedbackSources) -> Int? {
    begin(RTCPPacket.payloadSpecificFeedback, 1, body: FeedbackSources.size, sources).map { _ in
      4 + FeedbackSources.size
    }
  }

  /// A request for a key frame of one stream.
  @discardableResult
  public mutating func append(fullIntraRequest entry: FullIntraRequest.Entry, sender: UInt32) -> Int? {
    let sources = FeedbackSources(sender: sender, media: 0)
    guard
      let start = begin(RTCPPacket.payloadSpecificFeedback, 4, body: FeedbackSources.size + 8, sources),
      let bytes
    else { return nil }
    bytes.storeBigEndian(entry.ssrc, at: start)
    bytes.storeBigEndian(UInt32(entry.sequence) << 24, at: start + 4)
    return 4 + FeedbackSources.size + 8
  }

  /// An estimate for up to 255 streams.
  /// - Parameter bitrate: bits per second; rounded down to 18 significant bits.
  @discardableResult
  public mutating func append(estimate bitrate: UInt64, for ssrcs: Span<UInt32>, sender: UInt32) -> Int? {
    guard ssrcs.count <= 255 else { return nil }
    let sources = FeedbackSources(sender: sender, media: 0)
    let body = ReceiverEstimate.size + 4 * ssrcs.count
    guard let start = begin(RTCPPacket.payloadSpecificFeedback, 15, body: body, sources), let bytes else {
      return nil
    }
    let exponent = max(0, 64 - 18 - bitrate.leadingZeroBitCount)
    let mantissa = UInt32(truncatingIfNeeded: bitrate >> UInt64(exponent))
    bytes.storeBigEndian(ReceiverEstimate.name, at: start)
    bytes.storeBigEndian(
      UInt32(ssrcs.count) << 24 | UInt32(truncatingIfNeeded: exponent) << 18 | mantissa, at: start + 4)
    for index in ssrcs.indices { bytes.storeBigEndian(ssrcs[index], at: start + 8 + 4 * index) }
    return 4 + body
  }

  /// Writes a packet's first four bytes, and those of a feedback message's sources.
  /// - Returns: where the rest goes; nil if the packet doesn't fit.
  private mutating func begin(
    _ type: UInt8, _ format: UInt8, body: Int, _ sources: FeedbackSources? = nil
  ) -> Int? {
    guard let bytes, capacity - size >= 4 + body, body <= 4 * 0xFFFF else { return nil }
    bytes.store(byte: 0x80 | format, at: size)
    bytes.store(byte: type, at: size + 1)
    bytes.storeBigEndian(UInt16(truncatingIfNeeded: body / 4), at: size + 2)
    defer {
      size += 4 + body
      report = nil
    }
    guard let sources else { return size + 4 }
    bytes.storeBigEndian(sources.sender, at: size + 4)
    bytes.storeBigEndian(sources.media, at: size + 8)
    return size + 4 + FeedbackSources.size
  }
}
