internal import Crypto

/// Why a handshake came to nothing; counted by this name, for the operator. Each ends its transport.
public enum HandshakeFailure: UInt8, Sendable, CaseIterable {
  /// The certificate is none of those that the description names.
  case wrongFingerprint
  /// The far end gave up, and said so.
  case alertReceived
  case timedOut
  /// No protection of media in common.
  case noSRTPProfile
  /// Broken messages, or nothing in common.
  case refused

  init(_ error: DTLSError) {
    self =
      switch error {
      case .wrongFingerprint: .wrongFingerprint
      case .alertReceived: .alertReceived
      case .timedOut: .timedOut
      case .noSRTPProfile: .noSRTPProfile
      case .refused: .refused
      }
  }
}
