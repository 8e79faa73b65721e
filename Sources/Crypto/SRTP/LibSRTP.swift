import CSRTP
import Model

/// A libsrtp session that opens one peer's packets, freed with this value.
struct LibSRTP: ~Copyable {
  /// libsrtp's own replay window, as wide as ours.
  private static let window = UInt(IndexWindow.size)
  /// Once a process; libsrtp tests its ciphers here.
  private static let started: srtp_err_status_t = srtp_init()

  private let session: srtp_t
  private let keys: SRTPKeys

  /// A session that opens any SSRC under `keys`, each from rollover counter 0.
  init(keys: SRTPKeys) throws(SRTPError) {
    guard Self.started == srtp_err_status_ok else { throw .library(status: Self.started.rawValue) }
    var created: srtp_t?
    let status = Self.withPolicy(keys, ssrc: srtp_ssrc_t(type: ssrc_any_inbound, value: 0)) {
      srtp_create(&created, &$0)
    }
    guard status == srtp_err_status_ok, let created else { throw .library(status: status.rawValue) }
    session = created
    self.keys = keys
  }

  deinit { srtp_dealloc(session) }

  /// Opens in place.
  /// - Parameter index: for the error alone.
  /// - Returns: bytes of the plain packet.
  func openRTP(_ packet: UnsafeMutableRawBufferPointer, index: UInt64) throws(SRTPError) -> Int {
    var size = Int32(truncatingIfNeeded: packet.count)
    let status = srtp_unprotect(session, packet.baseAddress, &size)
    guard status == srtp_err_status_ok else { throw Self.error(status, index: index) }
    return Int(size)
  }

  /// Opens in place. libsrtp tells no SRTCP index that is 128 or more below the highest.
  /// - Parameter index: for the error alone.
  /// - Returns: bytes of the plain packet.
  func openRTCP(_ packet: UnsafeMutableRawBufferPointer, index: UInt64) throws(SRTPError) -> Int {
    var size = Int32(truncatingIfNeeded: packet.count)
    let status = srtp_unprotect_rtcp(session, packet.baseAddress, &size)
    guard status == srtp_err_status_ok else { throw Self.error(status, index: index) }
    return Int(size)
  }

  /// Makes a stream before its first packet, so that its rollover counter can be set.
  func add(ssrc: UInt32) throws(SRTPError) {
    let status = Self.withPolicy(keys, ssrc: srtp_ssrc_t(type: ssrc_specific, value: ssrc)) {
      srtp_add_stream(session, &$0)
    }
    guard status == srtp_err_status_ok else { throw .library(status: status.rawValue) }
  }

  func remove(ssrc: UInt32) {
    // This call alone takes the SSRC in network order.
    _ = srtp_remove_stream(session, ssrc.bigEndian)
  }

  /// Says under which rollover counter the next packet of `ssrc` is; 0 goes back to libsrtp's own estimate.
  func setRollover(_ rollover: UInt32, ssrc: UInt32) {
    _ = srtp_set_stream_roc(session, ssrc, rollover)
  }

  private static func error(_ status: srtp_err_status_t, index: UInt64) -> SRTPError {
    switch status {
    // NSS reports a wrong GCM tag as a failed decryption.
    case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: .authentication
    case srtp_err_status_replay_fail: .replayed(index: index)
    case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: .tooOld(index: index)
    case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformed
    default: .library(status: status.rawValue)
    }
  }

  private static func withPolicy(
    _ keys: SRTPKeys, ssrc: srtp_ssrc_t, _ body: (inout srtp_policy_t) -> srtp_err_status_t
  ) -> srtp_err_status_t {
    var policy = srtp_policy_t()
    // libsrtp numbers its profiles as DTLS does.
    let profile = srtp_profile_t(rawValue: UInt32(keys.profile.rawValue))
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile)
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile)
    policy.ssrc = ssrc
    policy.window_size = window
    var secret = keys.masterKey + keys.masterSalt
    return secret.withUnsafeMutableBufferPointer {
      policy.key = $0.baseAddress
      return body(&policy)
    }
  }
}
