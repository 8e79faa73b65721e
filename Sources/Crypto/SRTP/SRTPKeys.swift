public import Model

extension SRTPProfile {
  /// In the order in which we like them.
  public static let preferred: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80]

  /// Bytes of the master key (RFC 5764 §4.1.2, RFC 7714 §14.2).
  public var keySize: Int { self == .aeadAES256GCM ? 32 : 16 }
  /// Bytes of the master salt.
  public var saltSize: Int { self == .aes128CMSHA1_80 ? 14 : 12 }
  /// Bytes of the authentication tag of SRTP and SRTCP.
  public var tagSize: Int { self == .aes128CMSHA1_80 ? 10 : 16 }
  /// Bytes that sealing adds to RTP.
  public var rtpOverhead: Int { tagSize }
  /// Bytes that sealing adds to RTCP: the tag, the E flag and the index.
  public var rtcpOverhead: Int { tagSize + 4 }

  var isAEAD: Bool { self != .aes128CMSHA1_80 }
}

/// Master key and salt of one direction.
public struct SRTPKeys: Equatable, Sendable {
  public let profile: SRTPProfile
  public let masterKey: [UInt8]
  public let masterSalt: [UInt8]

  /// - Precondition: sizes as the profile says.
  public init(profile: SRTPProfile, masterKey: [UInt8], masterSalt: [UInt8]) {
    precondition(masterKey.count == profile.keySize && masterSalt.count == profile.saltSize)
    self.profile = profile
    self.masterKey = masterKey
    self.masterSalt = masterSalt
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(profile.rawValue)
    writer.write(masterKey)
    writer.write(masterSalt)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    guard let profile = SRTPProfile(rawValue: try reader.integer()) else {
      throw .invalid(field: "SRTP profile", offset: reader.offset - 2)
    }
    let key = try reader.array(limit: profile.keySize)
    let salt = try reader.array(limit: profile.saltSize)
    guard key.count == profile.keySize, salt.count == profile.saltSize else {
      throw .invalid(field: "SRTP key size", offset: reader.offset)
    }
    self.init(profile: profile, masterKey: key, masterSalt: salt)
  }
}

extension SRTPKeys: CustomStringConvertible {
  /// Keys never reach a log.
  public var description: String { "SRTPKeys(\(profile.name))" }
}
