/// Why bytes are no RTCP that we accept. The reason is counted, never answered.
///
/// Offsets are bytes from the compound's start where the reader throws, from the body's where a parser does.
public enum RTCPError: Error, Equatable, Sendable {
  /// Fewer than four bytes are left for a packet's header.
  case truncated(offset: Int, available: Int)
  case wrongVersion(offset: Int, version: UInt8)
  /// The length field announces more than there is.
  case lengthOverruns(offset: Int, size: Int, available: Int)
  /// Only the last packet of a compound may be padded (RFC 3550 §6.4.1).
  case paddingNotLast(offset: Int)
  /// The padding counts 0 bytes, or more than the packet's body has.
  case wrongPadding(offset: Int, padding: Int, available: Int)
  /// A parser was handed a packet that is another's.
  case wrongKind(type: UInt8, format: UInt8)
  /// The body is too short for what its type and count need.
  case bodyTooShort(type: UInt8, needs: Int, size: Int)
  /// A source description's item runs out of the packet, or its chunk has no end.
  case itemOverruns(offset: Int)
  /// An application-layer message with another name than "REMB".
  case unknownApplication(name: UInt32)
  /// A bit rate beyond 64 bits.
  case bitrateOverflows(exponent: UInt8, mantissa: UInt32)
  /// Transport feedback about no packet.
  case noStatuses
  /// Transport feedback whose chunks end before all packets have a status.
  case statusesMissing(announced: Int, found: Int)
  /// The status symbol 3, which has no meaning.
  case reservedSymbol(index: Int)
}
