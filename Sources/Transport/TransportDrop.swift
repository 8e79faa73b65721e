public import Crypto

/// Why a datagram went no further in a transport; counted by this name, for the operator.
public enum TransportDrop: UInt8, Sendable, CaseIterable {
  /// First byte of none of the protocols (RFC 7983).
  case unknownProtocol
  /// DTLS or media from an address that ICE has not validated.
  case unvalidatedPath
  case dtlsMalformed
  /// Kept flights have a bound in datagrams, bytes and time.
  case dtlsHeldOverflow
  /// A late ClientHello, an alert, application data: nothing that an established association answers.
  case dtlsIgnored
  /// A ClientHello that isn't the one a handshake was begun with, while that is under way.
  case dtlsOtherHello
  /// Media before the handshake is finished.
  case mediaBeforeHandshake
  case srtpAuthentication
  case srtpReplayed
  case srtpTooOld
  case srtpMalformed
  case srtpOther
  /// Something to send, but no selected path or no keys yet.
  case sendWithoutPath
  /// An index would have been sealed twice: a mistake of ours.
  case sealRefused
  case sealFailed

  @usableFromInline
  init(_ error: SRTPError) {
    switch error {
    case .replayed: self = .srtpReplayed
    case .tooOld: self = .srtpTooOld
    case .authentication: self = .srtpAuthentication
    case .tooShort, .malformed, .notEncrypted: self = .srtpMalformed
    case .capacity, .indexExhausted, .library: self = .srtpOther
    }
  }
}

/// Plain counters of the transports of one worker.
public struct TransportCounters: Sendable {
  @usableFromInline var drops: InlineArray<32, UInt64> = InlineArray(repeating: 0)
  private var failures: InlineArray<8, UInt64> = InlineArray(repeating: 0)
  /// Of media, RTCP among it, sealed.
  public var packetsReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  /// RTP alone.
  public var packetsSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  /// Compounds of RTCP.
  public var feedbackSent: UInt64 = 0
  /// Addresses that were given up because they never answered a check of ours.
  public var pathsAbandoned: UInt64 = 0

  public init() {}

  @inlinable public mutating func count(_ reason: TransportDrop, times: Int = 1) {
    drops[Int(reason.rawValue)] &+= UInt64(clamping: times)
  }
  @inlinable public subscript(reason: TransportDrop) -> UInt64 { drops[Int(reason.rawValue)] }

  public mutating func count(_ failure: HandshakeFailure) { failures[Int(failure.rawValue)] &+= 1 }
  public subscript(failure: HandshakeFailure) -> UInt64 { failures[Int(failure.rawValue)] }
}
