internal import Wire

/// A packet that was sent, taken apart to be sent again.
struct PlainPacket {
  let header: RTPHeader
  let payload: [UInt8]

  /// - Parameter bytes: of a packet in plain text.
  /// - Returns: nil for what isn't RTP.
  init?(_ bytes: [UInt8]) {
    let parts: (RTPHeader, [UInt8])? = bytes.withUnsafeBytes { packet in
      guard let header = try? RTPHeader(packet) else { return nil }
      return (header, Array(packet[header.payloadOffset...]))
    }
    guard let parts else { return nil }
    (header, payload) = parts
  }
}
