import Wire

/// Packets of RTP, each counted from the sealed datagram to where it would be forwarded: what its subscribers get is charged
/// to their rooms.
///
/// The peer has 128 sections to publish in, and has had a thousand. Two streams are announced; any other is looked for by the
/// section that it names.
enum PacketCosts {
  static let kinds = ["known stream", "new stream"]

  static func kind(of input: [UInt8]) -> String? {
    guard input.count >= 12, input.count <= 1_400 else { return nil }
    let isPacket = input.withUnsafeBytes { bytes in
      !RTCPPacket.matches(bytes) && (try? RTPHeader(bytes)) != nil
    }
    return isPacket ? isKnown(input) ? kinds[0] : kinds[1] : nil
  }

  /// Whether the packet is of one of the two.
  static func isKnown(_ input: [UInt8]) -> Bool {
    let ssrc = input[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return ssrc == 1 || ssrc == 2
  }
}
