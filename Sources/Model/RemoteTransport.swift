/// A user name fragment and password of one side (RFC 8445 §5.3).
public struct ICECredentials: Hashable, Sendable {
  public var ufrag: String
  public var password: String

  public init(ufrag: String, password: String) {
    self.ufrag = ufrag
    self.password = password
  }
}

/// Which end of the DTLS handshake we are. It stays for the life of the association (RFC 8842 §5.5).
public enum DTLSRole: UInt8, Sendable {
  /// `a=setup:active`: we send the ClientHello.
  case client = 0
  /// `a=setup:passive`: we wait for it.
  case server = 1
}

/// A certificate's digest as SDP carries it (RFC 8122 §5).
public struct Fingerprint: Hashable, Sendable {
  public enum Algorithm: UInt8, Sendable, CaseIterable {
    case sha256 = 0
    case sha384 = 1
    case sha512 = 2

    public var name: String { ["sha-256", "sha-384", "sha-512"][Int(rawValue)] }
    /// Bytes of the digest.
    public var size: Int { [32, 48, 64][Int(rawValue)] }
  }

  public var algorithm: Algorithm
  public var digest: [UInt8]

  public init(algorithm: Algorithm, digest: [UInt8]) {
    self.algorithm = algorithm
    self.digest = digest
  }
}

/// The far end of a transport as its description names it.
public struct RemoteTransport: Equatable, Sendable {
  public var credentials: ICECredentials
  public var fingerprints: [Fingerprint]
  /// Our own role, which follows from the far end's `a=setup`.
  public var role: DTLSRole

  public init(credentials: ICECredentials, fingerprints: [Fingerprint], role: DTLSRole) {
    self.credentials = credentials
    self.fingerprints = fingerprints
    self.role = role
  }
}
