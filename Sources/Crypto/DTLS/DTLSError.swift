/// Why a handshake failed; the state is final.
public enum DTLSError: Error, Equatable, Sendable {
  /// The far end's certificate has none of the fingerprints of its description.
  case wrongFingerprint
  /// The far end sent a fatal alert with this description (RFC 5246 §7.2).
  case alertReceived(UInt8)
  /// Not finished within `DTLSHandshake.patience`, or too many time-outs without an answer.
  case timedOut
  /// The far end supports none of our SRTP profiles (RFC 5764 §4.1.1).
  case noSRTPProfile
  /// A violation of the protocol, or nothing in common, as OpenSSL puts it.
  case refused(OpenSSLError)
}
