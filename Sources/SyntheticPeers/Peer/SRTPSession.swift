internal import CSRTP
package import Crypto
internal import Model

/// Both directions of a far end's media protection, by libsrtp alone: none of the server's own sealing is used.
package final class SRTPSession {
  package struct Failure: Error {
    package var status: UInt32
    /// libsrtp has opened this very index before.
    var isReplay: Bool { status == srtp_err_status_replay_fail.rawValue }
    var isOld: Bool { status == srtp_err_status_replay_old.rawValue }
  }

  /// What sealing can add to a packet.
  package static let room = 160

  private var sealing: srtp_t?
  private var opening: srtp_t?

  package init(_ association: DTLSAssociation) throws(Failure) {
    // Starts libsrtp, where nothing else has yet.
    _ = try? SRTPOpener(keys: association.remoteKeys, mappedLimit: 0)
    sealing = try Self.make(association.localKeys, ssrc_any_outbound)
    opening = try Self.make(association.remoteKeys, ssrc_any_inbound)
  }

  deinit {
    srtp_dealloc(sealing)
    srtp_dealloc(opening)
  }

  private static func make(_ keys: SRTPKeys, _ type: srtp_ssrc_type_t) throws(Failure) -> srtp_t? {
    var policy = srtp_policy_t()
    let profile = srtp_profile_t(rawValue: UInt32(keys.profile.rawValue))
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile)
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile)
    policy.ssrc = srtp_ssrc_t(type: type, value: 0)
    policy.window_size = 1_024
    var secret = keys.masterKey + keys.masterSalt
    var session: srtp_t?
    let status = secret.withUnsafeMutableBufferPointer {
      policy.key = $0.baseAddress
      return srtp_create(&session, &policy)
    }
    guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
    return session
  }

  package func sealRTP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    try run(packet, sealing, srtp_protect)
  }
  package func sealRTCP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    try run(packet, sealing, srtp_protect_rtcp)
  }

  /// Opens in place.
  package func openRTP(_ packet: inout [UInt8]) throws(Failure) { try open(&packet, srtp_unprotect) }
  package func openRTCP(_ packet: inout [UInt8]) throws(Failure) { try open(&packet, srtp_unprotect_rtcp) }

  private typealias Operation = (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) ->
    srtp_err_status_t

  private func run(_ packet: [UInt8], _ session: srtp_t?, _ operation: Operation) throws(Failure) -> [UInt8] {
    var size = Int32(packet.count)
    var status = srtp_err_status_fail
    let sealed = [UInt8](unsafeUninitializedCapacity: packet.count + Self.room) { buffer, count in
      for index in packet.indices { buffer[index] = packet[index] }
      status = operation(session, buffer.baseAddress, &size)
      count = Int(size)
    }
    guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
    return sealed
  }

  private func open(_ packet: inout [UInt8], _ operation: Operation) throws(Failure) {
    var size = Int32(packet.count)
    let status = packet.withUnsafeMutableBytes { operation(opening, $0.baseAddress, &size) }
    guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
    packet.removeLast(packet.count - Int(size))
  }
}
