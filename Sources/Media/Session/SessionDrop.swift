/// Why a plain packet, or what one asked for, went no further in a session; counted by this name, for the operator.
public enum SessionDrop: UInt8, Sendable, CaseIterable {
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
  /// The track's publisher has muted it.
  case trackMuted
  /// An element of the header extensions is longer than what is left of them.
  case extensionMalformed
  /// Under an SSRC by which we send to this very peer.
  case streamOfOurs
  /// A section's stream has yet another SSRC, just after it got one.
  case streamChurn
  /// RTCP that nothing here acts on: estimates, arrivals, extended reports, types that are unknown.
  case rtcpUnused
  /// Packets asked for beyond those that are taken from one compound.
  case nackOverflow
  /// Packets asked for that were never sent, were another source's, or were sent again just now or too often.
  case nackRefused
  /// A sender report that disagrees with the clock so far, and that no other has confirmed.
  case clockStepped
  /// A packet that a subscriber was to get, and that wasn't kept any more when it was to leave.
  case tooLateToLeave
  /// A packet of a publisher's that is larger than what is ever sent on; counted by subscriber.
  case packetTooLarge
  /// Sound at more than any codec of ours takes.
  case soundOverRate
  /// A key frame that is asked for, by one whose stream flows, again and again.
  case keyFrameAskedOften

  init(_ reason: MediaDrop) {
    switch reason {
    case .unknownPayloadType: self = .unknownPayloadType
    case .malformedPayload: self = .payloadMalformed
    case .duplicate: self = .duplicate
    case .tooOld: self = .tooOld
    case .sequenceJump: self = .sequenceJump
    case .retransmissionWithoutStream: self = .retransmissionWithoutStream
    case .paddingOnly: self = .paddingOnly
    case .otherClock: self = .otherClock
    }
  }
}

/// Plain counters of the sessions of one worker.
public struct MediaCounters: Sendable {
  @usableFromInline var drops: InlineArray<32, UInt64> = InlineArray(repeating: 0)
  public var retransmissionsSent: UInt64 = 0
  public var retransmissionsReceived: UInt64 = 0
  public var keyFrameRequestsSent: UInt64 = 0
  /// Key frames that subscribers asked for, however many a publisher was asked for in consequence.
  public var keyFrameRequestsReceived: UInt64 = 0
  public var nackedPackets: UInt64 = 0

  public init() {}

  @inlinable public mutating func count(_ reason: SessionDrop) { drops[Int(reason.rawValue)] &+= 1 }
  @inlinable public subscript(reason: SessionDrop) -> UInt64 { drops[Int(reason.rawValue)] }
}
