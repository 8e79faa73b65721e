/// Seals what we send to one peer, in place (RFC 3711, RFC 7714).
///
/// It holds keys and reused cipher contexts, and no index: the caller names each packet's index and answers for
/// using it once (`SealGuard`). Nothing is allocated per packet. Belongs to one thread at a time.
public struct SRTPSealer: ~Copyable {
  private let rtp: Transform
  private let rtcp: Transform
  /// Bytes that `sealRTP` adds.
  public let rtpOverhead: Int
  /// Bytes that `sealRTCP` adds.
  public let rtcpOverhead: Int

  enum Transform: ~Copyable {
    case gcm(GCMTransform)
    case counter(CounterTransform)
  }

  public init(keys: SRTPKeys) {
    rtpOverhead = keys.profile.rtpOverhead
    rtcpOverhead = keys.profile.rtcpOverhead
    rtp = Self.transform(keys, .rtpEncryption, .rtpAuthentication, .rtpSalt)
    rtcp = Self.transform(keys, .rtcpEncryption, .rtcpAuthentication, .rtcpSalt)
  }

  private static func transform(
    _ keys: SRTPKeys, _ encryption: SRTPKeyDerivation.Label, _ authentication: SRTPKeyDerivation.Label,
    _ salt: SRTPKeyDerivation.Label
  ) -> Transform {
    let key = SRTPKeyDerivation.derive(encryption, keys.profile.keySize, from: keys)
    let salt = SRTPKeyDerivation.derive(salt, keys.profile.saltSize, from: keys)
    if keys.profile.isAEAD { return .gcm(GCMTransform(key: key, salt: salt)) }
    let authentication = SRTPKeyDerivation.derive(authentication, 20, from: keys)
    return .counter(CounterTransform(key: key, authentication: authentication, salt: salt))
  }

  /// Encrypts the payload and appends the tag.
  /// - Parameters:
  ///   - packet: an RTP packet of `size` bytes in a buffer of `capacity`.
  ///   - headerSize: bytes left readable: fixed header, CSRCs and extensions.
  ///   - index: rollover counter and sequence number, 48 bits; the low 16 are those in the header.
  /// - Returns: bytes of the sealed packet.
  public mutating func sealRTP(
    _ packet: UnsafeMutableRawPointer, headerSize: Int, size: Int, capacity: Int, ssrc: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    guard headerSize >= 12, size >= headerSize else { throw .malformed }
    guard size &+ rtpOverhead <= capacity else {
      throw .capacity(needed: size &+ rtpOverhead, capacity: capacity)
    }
    guard index < RTPIndex.limit else { throw .indexExhausted }
    switch rtp {
    case .gcm(let gcm):
      try gcm.sealRTP(packet, headerSize: headerSize, size: size, ssrc: ssrc, index: index)
    case .counter(let counter):
      try counter.sealRTP(packet, headerSize: headerSize, size: size, ssrc: ssrc, index: index)
    }
    return size &+ rtpOverhead
  }

  /// Encrypts a compound packet after its first eight bytes and appends E flag, index and tag.
  /// - Parameter index: 31 bits, counted by the caller per SSRC (RFC 3711 §3.4).
  /// - Returns: bytes of the sealed packet.
  public mutating func sealRTCP(
    _ packet: UnsafeMutableRawPointer, size: Int, capacity: Int, ssrc: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    guard size >= 8 else { throw .malformed }
    guard size &+ rtcpOverhead <= capacity else {
      throw .capacity(needed: size &+ rtcpOverhead, capacity: capacity)
    }
    guard index < 0x8000_0000 else { throw .indexExhausted }
    switch rtcp {
    case .gcm(let gcm): try gcm.sealRTCP(packet, size: size, ssrc: ssrc, index: index)
    case .counter(let counter): try counter.sealRTCP(packet, size: size, ssrc: ssrc, index: index)
    }
    return size &+ rtcpOverhead
  }
}
