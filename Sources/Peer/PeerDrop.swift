/// Why a datagram or packet of a peer went no further; counted by this name, for the operator.
public enum PeerDrop: UInt8, Sendable, CaseIterable {
  /// First byte of none of the protocols (RFC 7983).
  case unknownProtocol
  /// DTLS or media from an address that ICE has not validated.
  case unvalidatedPath
  case dtlsMalformed
  /// Held flights have a bound in datagrams, bytes and time.
  case dtlsHeldOverflow
  /// A late ClientHello, an alert, application data: nothing that an established association answers.
  case dtlsIgnored
  /// Media before the handshake is finished.
  case mediaBeforeHandshake
  case srtpAuthentication
  case srtpReplayed
  case srtpTooOld
  case srtpMalformed
  case srtpOther
  case rtpMalformed
  /// A stream that no section claims.
  case streamUnmapped
  case streamTableFull
  case rtcpMalformed
  /// Feedback about a stream that isn't this peer's.
  case rtcpForeignStream
  case unknownPayloadType
  case payloadMalformed
  case duplicate
  case tooOld
  case sequenceJump
  case retransmissionWithoutStream
  case paddingOnly
  case otherClock
  /// Something to send, but no selected path or no keys yet.
  case sendWithoutPath
  /// An index would have been sealed twice: a mistake of ours.
  case sealRefused
  case sealFailed
  /// The track's publisher holds it.
  case trackMuted
  /// Sent already by the worker that had the peer before: the new one was behind.
  case repeatedAfterMove
}

/// Plain counters of one worker's peers.
public struct PeerCounters: Sendable {
  @usableFromInline var drops: InlineArray<48, UInt64> = InlineArray(repeating: 0)
  public var packetsReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var packetsSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var retransmissionsSent: UInt64 = 0
  public var retransmissionsReceived: UInt64 = 0
  public var keyFrameRequestsSent: UInt64 = 0
  public var nackedPackets: UInt64 = 0
  public var feedbackSent: UInt64 = 0

  public init() {}

  @inlinable public mutating func count(_ reason: PeerDrop) { drops[Int(reason.rawValue)] &+= 1 }
  @inlinable public subscript(reason: PeerDrop) -> UInt64 { drops[Int(reason.rawValue)] }
}
