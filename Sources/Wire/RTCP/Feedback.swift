#if PLANTED_DEFECTS
  internal import Model
#endif

/// The two sources that every feedback message names (RFC 4585 §6.1).
public struct FeedbackSources: Equatable, Sendable {
  static let size = 8

  /// Who gives the feedback.
  public var sender: UInt32
  /// The stream that it is about; 0 where the message names streams itself.
  public var media: UInt32

  public init(sender: UInt32, media: UInt32) {
    self.sender = sender
    self.media = media
  }

  init(_ bytes: UnsafeRawPointer) {
    sender = bytes.loadBigEndian(at: 0, as: UInt32.self)
    media = bytes.loadBigEndian(at: 4, as: UInt32.self)
  }
}

/// A request for lost packets (RFC 4585 §6.2.1), walked number by number in the order on the wire.
///
/// A compound of 1,200 bytes can name 5,000 packets, and any packet many times: the caller bounds what it does.
public struct NACKReader {
  public let sources: FeedbackSources
  let bytes: UnsafeRawPointer
  let end: Int
  var offset = FeedbackSources.size
  /// What is left of the current pair: bit 0 stands for `base`.
  var base: UInt16 = 0
  var bits: UInt32 = 0

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    bytes = try packet.bytes(.nack, atLeast: FeedbackSources.size + 4)
    sources = FeedbackSources(bytes)
    end = packet.body.count & ~3
  }

  /// The next sequence number that is asked for.
  public mutating func next() -> UInt16? {
    if bits == 0 {
      guard offset < end else { return nil }
      base = bytes.loadBigEndian(at: offset, as: UInt16.self)
      bits = UInt32(bytes.loadBigEndian(at: offset + 2, as: UInt16.self)) << 1 | 1
      offset += 4
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.nackMask) { bits = bits >> 1 | 1 }
      #endif
    }
    let index = bits.trailingZeroBitCount
    bits &= bits &- 1
    return base &+ UInt16(truncatingIfNeeded: index)
  }
}

/// A request for a key frame because a picture was lost (RFC 4585 §6.3.1).
public struct PictureLossIndication: Equatable, Sendable {
  public var sources: FeedbackSources

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    sources = FeedbackSources(try packet.bytes(.pictureLoss, atLeast: FeedbackSources.size))
  }
}

/// A request for key frames of named streams (RFC 5104 §4.3.1). Points into the compound, must not outlive it.
public struct FullIntraRequest {
  public struct Entry: Equatable, Sendable {
    /// The stream that is to send a key frame.
    public var ssrc: UInt32
    /// A repeated number is the same request again.
    public var sequence: UInt8

    public init(ssrc: UInt32, sequence: UInt8) {
      self.ssrc = ssrc
      self.sequence = sequence
    }
  }

  public let sources: FeedbackSources
  public let count: Int
  let bytes: UnsafeRawPointer

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    let body = try packet.bytes(.fullIntraRequest, atLeast: FeedbackSources.size + 8)
    sources = FeedbackSources(body)
    bytes = body + FeedbackSources.size
    count = (packet.body.count - FeedbackSources.size) / 8
  }

  /// - Returns: nil if there is no entry of that number.
  public subscript(index: Int) -> Entry? {
    guard index >= 0, index < count else { return nil }
    return Entry(
      ssrc: bytes.loadBigEndian(at: 8 * index, as: UInt32.self), sequence: bytes.byte(at: 8 * index + 4))
  }
}

/// The bit rate that a receiver believes it can take (draft-alvestrand-rmcat-remb-03 §2.2). Points into the
/// compound and must not outlive it.
public struct ReceiverEstimate {
  static let name: UInt32 = 0x5245_4D42
  static let size = FeedbackSources.size + 8

  public let sources: FeedbackSources
  /// Bits per second over all streams that are named.
  public let bitrate: UInt64
  /// Streams that the estimate is for, 0–255.
  public let count: Int
  let bytes: UnsafeRawPointer

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    let body = try packet.bytes(.applicationFeedback, atLeast: FeedbackSources.size + 4)
    let name = body.loadBigEndian(at: 8, as: UInt32.self)
    guard name == Self.name else { throw .unknownApplication(name: name) }
    _ = try packet.bytes(.applicationFeedback, atLeast: Self.size)
    sources = FeedbackSources(body)
    count = Int(body.byte(at: 12))
    _ = try packet.bytes(.applicationFeedback, atLeast: Self.size + 4 * count)
    bytes = body + Self.size

    let word = body.loadBigEndian(at: 12, as: UInt32.self) & 0xFF_FFFF
    let exponent = UInt8(truncatingIfNeeded: word >> 18)
    let mantissa = word & 0x3_FFFF
    bitrate = UInt64(mantissa) << UInt64(exponent)
    guard bitrate >> UInt64(exponent) == UInt64(mantissa) else {
      throw .bitrateOverflows(exponent: exponent, mantissa: mantissa)
    }
  }

  /// - Returns: nil if there is no stream of that number.
  public subscript(index: Int) -> UInt32? {
    guard index >= 0, index < count else { return nil }
    return bytes.loadBigEndian(at: 4 * index, as: UInt32.self)
  }
}
