internal import Model

/// One of the pieces that a flight recorder's blocks are made of: 32 bytes. A record is a head, and as many pieces behind it as its
/// bytes need.
///
///     head   kind  path  size  kept  cluster  time      16 bytes
///     more   0     31 bytes
struct FlightCell: BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable, CaseIterable {
    /// What the piece before it has no room for.
    case more = 0
    case rtpIn, rtpOut, rtcpIn, rtcpOut, stunIn, stunOut, dtlsIn, dtlsOut, decision

    var isInbound: Bool {
      switch self {
      case .rtpIn, .rtcpIn, .stunIn, .dtlsIn: true
      case .more, .rtpOut, .rtcpOut, .stunOut, .dtlsOut, .decision: false
      }
    }

    /// Bytes of a packet that are kept at most. Of STUN that is its header (RFC 8489 §5), of DTLS the first record's (RFC 6347 §4.1):
    /// no attributes and no fragments, so no credentials and no certificates.
    var most: Int {
      switch self {
      case .rtpIn, .rtpOut: 64
      case .rtcpIn, .rtcpOut: FlightCell.first + 12 * FlightCell.further
      case .stunIn, .stunOut: 20
      case .dtlsIn, .dtlsOut: 13
      case .more, .decision: FlightCell.first
      }
    }
  }

  /// Bytes that a head has room for, and a piece behind it.
  static let first = 16
  static let further = 31

  var kind: Kind
  /// Its place among the recorder's paths.
  var path: UInt8
  /// Of the datagram, without UDP and IP; of RTCP what it is in plain text.
  var size: UInt16
  /// Its bytes that are kept, in this piece and those behind it.
  var kept: UInt16
  /// The probe that it is part of; 0: none.
  var cluster: UInt16 = 0
  var at: Int64
  var bytes: (UInt64, UInt64) = (0, 0)
}
