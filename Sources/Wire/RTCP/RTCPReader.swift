/// What an RTCP packet is about, from its type and its format.
public enum RTCPKind: UInt8, Equatable, Sendable {
  /// RFC 3550 §6.4.1, §6.4.2, §6.5, §6.6.
  case senderReport, receiverReport, sourceDescription, goodbye
  /// RFC 4585 §6.2.1, §6.3.1.
  case nack, pictureLoss
  /// RFC 5104 §4.3.1.
  case fullIntraRequest
  /// draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
  case transportFeedback
  /// RFC 8888 §3.1.
  case congestionFeedback
  /// RFC 4585 §6.4: REMB, or a message that we don't know.
  case applicationFeedback
  /// RFC 3611.
  case extendedReport
  case other

  init(type: UInt8, format: UInt8) {
    self =
      switch (type, format) {
      case (RTCPPacket.senderReport, _): .senderReport
      case (RTCPPacket.receiverReport, _): .receiverReport
      case (RTCPPacket.sourceDescription, _): .sourceDescription
      case (RTCPPacket.goodbye, _): .goodbye
      case (RTCPPacket.transportLayerFeedback, 1): .nack
      case (RTCPPacket.transportLayerFeedback, 11): .congestionFeedback
      case (RTCPPacket.transportLayerFeedback, 15): .transportFeedback
      case (RTCPPacket.payloadSpecificFeedback, 1): .pictureLoss
      case (RTCPPacket.payloadSpecificFeedback, 4): .fullIntraRequest
      case (RTCPPacket.payloadSpecificFeedback, 15): .applicationFeedback
      case (RTCPPacket.extendedReport, _): .extendedReport
      default: .other
      }
  }
}

/// One packet of a compound. It points into the compound and must not outlive it.
public struct RTCPPacket {
  public static let senderReport: UInt8 = 200
  public static let receiverReport: UInt8 = 201
  public static let sourceDescription: UInt8 = 202
  public static let goodbye: UInt8 = 203
  public static let transportLayerFeedback: UInt8 = 205
  public static let payloadSpecificFeedback: UInt8 = 206
  public static let extendedReport: UInt8 = 207

  public let type: UInt8
  /// The five bits that hold a count or a feedback message type, 0–31.
  public let format: UInt8
  /// Where in the compound the packet starts.
  public let offset: Int
  /// What follows the packet's first four bytes, without padding.
  public let body: UnsafeRawBufferPointer

  public var kind: RTCPKind { RTCPKind(type: type, format: format) }

  /// Whether a datagram of the RTP range is RTCP: its second byte is 192–223 (RFC 5761 §4).
  @inlinable public static func matches(_ datagram: UnsafeRawBufferPointer) -> Bool {
    guard datagram.count >= 2, let bytes = datagram.baseAddress else { return false }
    return bytes.byte(at: 1) &- 192 < 32
  }
}

/// Walks the packets of a compound in plain text (RFC 3550 §6.1). A reduced-size one may begin with any type
/// (RFC 5506).
///
/// The first lie about a length ends the walk with an error; packets before it were good.
public struct RTCPReader {
  let compound: UnsafeRawBufferPointer
  var offset = 0

  /// - Parameter compound: must outlive the reader and the packets that it gives.
  public init(_ compound: UnsafeRawBufferPointer) { self.compound = compound }

  /// The next packet; nil at the end, and always after an error.
  public mutating func next() throws(RTCPError) -> RTCPPacket? {
    guard offset < compound.count, let bytes = compound.baseAddress else { return nil }
    let start = offset
    let available = compound.count - start
    // Until the packet turns out to be good, there is none behind it.
    offset = compound.count

    guard available >= 4 else { throw .truncated(offset: start, available: available) }
    let first = bytes.byte(at: start)
    guard first >> 6 == 2 else { throw .wrongVersion(offset: start, version: first >> 6) }
    let size = 4 + 4 * Int(bytes.loadBigEndian(at: start + 2, as: UInt16.self))
    guard size <= available else { throw .lengthOverruns(offset: start, size: size, available: available) }

    var bodySize = size - 4
    if first & 0x20 != 0 {
      guard size == available else { throw .paddingNotLast(offset: start) }
      // Usually a multiple of four, but libwebrtc pads transport feedback by one to three bytes.
      let padding = bodySize > 0 ? Int(bytes.byte(at: start + size - 1)) : 0
      guard padding > 0, padding <= bodySize else {
        throw .wrongPadding(offset: start, padding: padding, available: bodySize)
      }
      bodySize -= padding
    }
    offset = start + size
    return RTCPPacket(
      type: bytes.byte(at: start + 1), format: first & 0x1F, offset: start,
      body: UnsafeRawBufferPointer(start: bytes + start + 4, count: bodySize))
  }
}

extension RTCPPacket {
  /// The body's bytes, once it is known to be of `kind` and to have at least `size` of them.
  func bytes(_ kind: RTCPKind, atLeast size: Int) throws(RTCPError) -> UnsafeRawPointer {
    guard self.kind == kind else { throw .wrongKind(type: type, format: format) }
    guard body.count >= size, let bytes = body.baseAddress else {
      throw .bodyTooShort(type: type, needs: size, size: body.count)
    }
    return bytes
  }
}
