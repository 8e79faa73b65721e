public import Crypto
public import ICE
public import Model

/// One remote's transport: ICE, DTLS and SRTP. Datagrams and the time come in; datagrams go to the context's outbox,
/// plain RTP and RTCP to the caller.
///
/// Generic over its ICE agent: the server's, or a controlling one, with which the same code is a client or the far end
/// of a test. It knows nothing of media but whose packets they are.
///
///     ICE check ──▶ path validated ──▶ handshake ──▶ keys ──▶ media both ways ──▶ closed
///
/// All of it is a value that can be taken out as bytes and put back (`encode`, `init(from:)`), except in the middle of
/// a handshake. What the packets of a busy transport pass through is inlinable, so that it is specialised for the agent.
public struct Transport<Agent: ICEAgent & ~Copyable>: ~Copyable {
  public var agent: Agent
  @usableFromInline var dtls: DTLSTransport
  @usableFromInline var path: NetworkPath?
  @usableFromInline var end: TransportEnd?
  @usableFromInline let createdAt: Instant
  @usableFromInline var traffic: TrafficTally

  /// - Parameters:
  ///   - role: ours in the handshake.
  ///   - fingerprints: of the far end's certificate, from its description.
  public init(
    agent: consuming Agent, role: DTLSRole, fingerprints: [Fingerprint], createdAt: Instant
  ) {
    self.agent = agent
    self.createdAt = createdAt
    dtls = DTLSTransport(role: role, fingerprints: fingerprints)
    traffic = TrafficTally(since: createdAt)
  }

  /// Where media goes; nil before a path is selected, and after the transport's end.
  @inlinable @inline(__always)
  public var selectedPath: NetworkPath? { path }

  /// Why it ended by itself; nil while it hasn't.
  @inlinable public var ended: TransportEnd? { end }

  /// Whether the handshake is done.
  @inlinable @inline(__always)
  public var isConnected: Bool { dtls.isConnected }

  /// Whether media can be sent.
  @inlinable @inline(__always)
  public var takesMedia: Bool { dtls.isConnected && path != nil }

  public var profile: SRTPProfile? { dtls.profile }
  public var association: DTLSAssociation? { dtls.association }

  /// Where the handshake's datagrams came in.
  public var handshakePath: NetworkPath? { dtls.path }

  /// SSRCs whose packets were recently authenticated.
  public var openedStreamCount: Int { dtls.openedStreamCount }

  public var bitrates: Bitrates { traffic.bitrates }

  /// Counts up the bytes of media since the last time.
  /// - Returns: whether the rates differ from those before.
  public mutating func tally(now: Instant) -> Bool { traffic.tally(now: now) }

  /// Keeps the replay windows of a stream that belongs to a track, whatever else comes.
  public mutating func keepStream(_ ssrc: UInt32) { dtls.keepStream(ssrc) }
  /// Gives back the place of a stream that belongs to no track any more.
  public mutating func forgetStream(_ ssrc: UInt32) { dtls.forgetStream(ssrc) }

  @usableFromInline
  mutating func close(_ reason: TransportEnd, _ context: inout TransportContext) {
    guard end == nil else { return }
    end = reason
    path = nil
    context.events.noteClosed(reason)
  }
}

/// Time for a new transport to find a path and finish its handshake.
public enum TransportTimers {
  public static let connect = Duration.seconds(30)
}
