public import ICE
public import Model
internal import Transport

/// All that makes a peer: who it is, how its transport is secured, what it sends and receives.
public struct PeerSetup: Sendable {
  public var key: PeerKey
  /// Ours; the fragment names the home worker.
  public var local: ICECredentials
  public var remote: RemoteTransport
  public var media: AgreedMedia
  public var verification: ICEVerification
  /// The source under which reports and requests to this peer are sent when it receives nothing.
  public var reportSSRC: UInt32
  public var createdAt: Instant

  public init(
    key: PeerKey, local: ICECredentials, remote: RemoteTransport, media: AgreedMedia,
    verification: ICEVerification, reportSSRC: UInt32, createdAt: Instant
  ) {
    self.key = key
    self.local = local
    self.remote = remote
    self.media = media
    self.verification = verification
    self.reportSSRC = reportSSRC
    self.createdAt = createdAt
  }
}

/// Why a peer ended.
public enum PeerCloseReason: String, Sendable, CaseIterable {
  /// The control plane asked for it.
  case requested
  /// Nothing was heard on the selected path for the consent time (RFC 7675).
  case connectionLost
  /// Nothing came, or no handshake was finished, in the time given to a new peer.
  case neverConnected
  /// The handshake failed: wrong certificate, no common protection, alert.
  case handshakeFailed
  /// No place for another peer.
  case overloaded

  /// It did not end because it was to.
  public var isFailure: Bool {
    switch self {
    case .connectionLost, .neverConnected, .handshakeFailed: true
    case .requested, .overloaded: false
    }
  }

  init(_ end: TransportEnd) {
    switch end {
    case .connectionLost: self = .connectionLost
    case .neverConnected: self = .neverConnected
    case .handshakeFailed: self = .handshakeFailed
    }
  }
}
