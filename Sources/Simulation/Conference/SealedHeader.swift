internal import Wire

/// What SRTP leaves in the clear of an RTP packet. How much padding there is, is sealed: it can't be read as plain RTP.
struct SealedHeader {
  let sequence: UInt16
  let timestamp: UInt32
  let ssrc: UInt32
  /// There is padding, which is all that a probe has.
  let isPadded: Bool

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= RTPHeader.fixedSize, bytes[0] >> 6 == 2 else { return nil }
    func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
    sequence = UInt16(number(2..<4))
    timestamp = number(4..<8)
    ssrc = number(8..<12)
    isPadded = bytes[0] & 0x20 != 0
  }
}
