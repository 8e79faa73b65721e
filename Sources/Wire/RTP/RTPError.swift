/// Why bytes are no RTP packet that we accept. The reason is counted, never answered.
public enum RTPError: Error, Equatable, Sendable {
  case tooShort(bytes: Int)
  case wrongVersion(UInt8)
  /// The contributing sources that the first byte announces don't fit.
  case contributorsOverrun(count: Int, packet: Int)
  /// The extension block at `offset` says a length that doesn't fit.
  case extensionOverruns(offset: Int, words: Int, packet: Int)
  /// The padding bit is set and the padding's own count is 0 (RFC 3550 §5.1: it counts itself).
  case paddingCountZero
  case paddingOverruns(padding: Int, available: Int)
}
