public import Model

/// Attributes that stand in the session or in a section; the section's count (RFC 8866 §5.13).
public struct SharedAttributes: Equatable, Sendable {
  /// 4–256 characters (RFC 8839 §5.4).
  public var iceUfrag: String?
  /// 22–256 characters.
  public var icePassword: String?
  public var iceOptions: [String]
  public var fingerprints: [FingerprintAttribute]
  public var setup: SetupAttribute?
  public var direction: MediaDirection?
  public var extensions: [ExtensionAttribute]
  /// `a=extmap-allow-mixed`: one-byte and two-byte header extensions may alternate (RFC 8285 §6).
  public var allowsMixedExtensions: Bool
  /// No further candidate follows (RFC 8840 §4.2).
  public var endOfCandidates: Bool

  public init(
    iceUfrag: String? = nil, icePassword: String? = nil, iceOptions: [String] = [],
    fingerprints: [FingerprintAttribute] = [], setup: SetupAttribute? = nil, direction: MediaDirection? = nil,
    extensions: [ExtensionAttribute] = [], allowsMixedExtensions: Bool = false, endOfCandidates: Bool = false
  ) {
    self.iceUfrag = iceUfrag
    self.icePassword = icePassword
    self.iceOptions = iceOptions
    self.fingerprints = fingerprints
    self.setup = setup
    self.direction = direction
    self.extensions = extensions
    self.allowsMixedExtensions = allowsMixedExtensions
    self.endOfCandidates = endOfCandidates
  }

  /// Both halves, where both are there.
  public var iceCredentials: ICECredentials? {
    guard let iceUfrag, let icePassword else { return nil }
    return ICECredentials(ufrag: iceUfrag, password: icePassword)
  }
}

/// Who sends, seen from the describing side (RFC 8866 §6.7).
public enum MediaDirection: String, Sendable, CaseIterable {
  case sendrecv, sendonly, recvonly, inactive

  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
  }

  public var sends: Bool { self == .sendrecv || self == .sendonly }
  public var receives: Bool { self == .sendrecv || self == .recvonly }
  /// The same seen from the other side.
  public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
  /// What both allow.
  public func narrowed(to other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}

/// `a=setup` (RFC 4145 §4): who starts the DTLS handshake.
public enum SetupAttribute: String, Sendable, CaseIterable {
  case active, passive, actpass, holdconn
}

/// `a=fingerprint` (RFC 8122 §5), also with hash functions that Roost does not take.
public struct FingerprintAttribute: Equatable, Sendable {
  /// In lower case.
  public var hash: String
  public var digest: [UInt8]

  public init(hash: String, digest: [UInt8]) {
    self.hash = hash
    self.digest = digest
  }
  public init(_ fingerprint: Fingerprint) {
    self.init(hash: fingerprint.algorithm.name, digest: fingerprint.digest)
  }

  /// The fingerprint, if its hash function is strong enough to be taken.
  public var fingerprint: Fingerprint? {
    guard let algorithm = Self.algorithm(hash) else { return nil }
    return Fingerprint(algorithm: algorithm, digest: digest)
  }

  private static func algorithm(_ hash: String) -> Fingerprint.Algorithm? {
    Fingerprint.Algorithm.allCases.first { $0.name == hash }
  }
}

extension FingerprintAttribute: SDPValue {
  static var grammar: String { "<hash> <digest as XX:XX:…>, the digest as long as the hash makes it" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let hash = fields.next(), hash.isToken, let text = fields.next(), fields.isAtEnd else { return nil }
    let parts = text.parts(at: 0x3A)
    guard parts.count <= 128 else { return nil }
    var digest: [UInt8] = []
    for part in parts {
      guard part.utf8.count == 2, part.utf8.first != 0x2B, let byte = UInt8(part, radix: 16) else {
        return nil
      }
      digest.append(byte)
    }
    let name = hash.lowercased()
    if let algorithm = Self.algorithm(name), algorithm.size != digest.count { return nil }
    self.init(hash: name, digest: digest)
  }

  var value: String {
    let hex = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return hash + " " + hex.joined(separator: ":")
  }
}
