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
  /// A ClientHello that isn't the one a handshake was begun with, while that is under way.
  case dtlsOtherHello
  /// An element of the header extensions is longer than what is left of them.
  case extensionMalformed
  /// Under an SSRC by which we send to this very peer.
  case streamOfOurs
  /// A section's stream has yet another SSRC, just after it got one.
  case streamChurn
  /// RTCP that nothing here acts on: estimates, arrivals, extended reports, types that nobody knows.
  case rtcpUnused
  /// Packets asked for beyond those that are taken from one compound.
  case nackOverflow
  /// Packets asked for that were never sent, were another source's, or were sent again just now or too often.
  case nackRefused
  /// A sender report that disagrees with the clock so far, and that no other has confirmed.
  case clockStepped
  /// A packet of a publisher's that is larger than what is ever sent on; counted by subscriber.
  case packetTooLarge
}

/// Plain counters of one worker's peers.
public struct PeerCounters: Sendable {
  @usableFromInline var drops: InlineArray<64, UInt64> = InlineArray(repeating: 0)
  private var failures: InlineArray<8, UInt64> = InlineArray(repeating: 0)
  public var packetsReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var packetsSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var retransmissionsSent: UInt64 = 0
  public var retransmissionsReceived: UInt64 = 0
  public var keyFrameRequestsSent: UInt64 = 0
  public var nackedPackets: UInt64 = 0
  public var feedbackSent: UInt64 = 0
  /// Key frames that subscribers asked for, however many a publisher was asked for in consequence.
  public var keyFrameWishes: UInt64 = 0
  /// Addresses that were given up because they never answered a check of ours.
  public var pathsAbandoned: UInt64 = 0

  public init() {}

  @inlinable public mutating func count(_ reason: PeerDrop) { drops[Int(reason.rawValue)] &+= 1 }
  @inlinable public subscript(reason: PeerDrop) -> UInt64 { drops[Int(reason.rawValue)] }
  mutating func count(_ reason: PeerDrop, times: Int) {
    drops[Int(reason.rawValue)] &+= UInt64(clamping: times)
  }

  public mutating func count(_ failure: HandshakeFailure) { failures[Int(failure.rawValue)] &+= 1 }
  public subscript(failure: HandshakeFailure) -> UInt64 { failures[Int(failure.rawValue)] }
}
