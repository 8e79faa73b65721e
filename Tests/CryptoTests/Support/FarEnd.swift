import CSRTP
import Crypto
import Model

/// A far end that is libsrtp alone, for any SSRC in one direction.
final class FarEnd {
  enum Direction { case seals, opens }
  struct Failure: Error { var status: UInt32 }

  private var session: srtp_t?

  init(_ direction: Direction, keys: SRTPKeys) throws {
    // Starts libsrtp, where no other test has yet.
    _ = try SRTPOpener(keys: keys, mappedLimit: 0)
    var policy = srtp_policy_t()
    let profile = srtp_profile_t(rawValue: UInt32(keys.profile.rawValue))
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile)
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile)
    policy.ssrc = srtp_ssrc_t(
      type: direction == .seals ? ssrc_any_outbound : ssrc_any_inbound, value: 0)
    policy.window_size = 1_024
    var secret = keys.masterKey + keys.masterSalt
    let status = secret.withUnsafeMutableBufferPointer {
      policy.key = $0.baseAddress
      return srtp_create(&session, &policy)
    }
    guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
  }

  deinit { srtp_dealloc(session) }

  func sealRTP(_ packet: [UInt8]) throws -> [UInt8] { try run(packet, srtp_protect) }
  func sealRTCP(_ packet: [UInt8]) throws -> [UInt8] { try run(packet, srtp_protect_rtcp) }
  func openRTP(_ packet: [UInt8]) throws -> [UInt8] { try run(packet, srtp_unprotect) }
  func openRTCP(_ packet: [UInt8]) throws -> [UInt8] { try run(packet, srtp_unprotect_rtcp) }

  private func run(
    _ packet: [UInt8],
    _ operation: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t
  ) throws -> [UInt8] {
    var buffer = packet + [UInt8](repeating: 0, count: 160)
    var size = Int32(packet.count)
    let status = buffer.withUnsafeMutableBytes { operation(session, $0.baseAddress, &size) }
    guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
    return Array(buffer[..<Int(size)])
  }
}
