/// Why a packet was not sealed or opened. Carried without allocation; counted, never answered.
public enum SRTPError: Error, Equatable, Sendable {
  /// Less than header, trailer and tag of the profile need.
  case tooShort(bytes: Int)
  /// No RTP or RTCP of version 2, or a header longer than the packet.
  case malformed
  /// The index was opened before.
  case replayed(index: UInt64)
  /// The index is below the window of received indices.
  case tooOld(index: UInt64)
  /// The tag is not that of this packet under this key.
  case authentication
  /// SRTCP whose E flag says that it is not encrypted (RFC 3711 §3.4).
  case notEncrypted
  /// No place for the trailer: `needed` bytes in a buffer of `capacity`.
  case capacity(needed: Int, capacity: Int)
  /// The index does not fit 48 bits (SRTP) or 31 (SRTCP); the key is used up (RFC 3711 §9.2).
  case indexExhausted
  /// A status of libsrtp or a refusal of OpenSSL that is none of the above.
  case library(status: UInt32)
}
