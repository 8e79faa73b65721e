public import Model

/// The close codes of the native WebSocket door, beside those of RFC 6455 §7.4.1 (1000, 1001, 1002, 1003, 1007,
/// 1009, and 1013 for a client that reads too slowly).
public enum SignallingCloseCode: UInt16, Sendable, CaseIterable {
  case left = 4000
  case authTimeout = 4001
  /// The token is no good; `error` said why.
  case unauthorized = 4002
  /// The token is good, but not for this.
  case forbidden = 4003
  case badMessage = 4004
  /// Joining was refused; `error` said why.
  case joinRefused = 4005
  /// The session goes on over another socket.
  case replaced = 4006
  /// There is nothing to resume; `error` said so.
  case sessionGone = 4007
  case removed = 4010
  case connectionLost = 4011
  case duplicateIdentity = 4012
  case movedElsewhere = 4013
  case roomClosed = 4014
  case serverShutdown = 4016

  public init(_ reason: LeaveReason) {
    self =
      switch reason {
      case .left: .left
      case .removed: .removed
      case .connectionLost: .connectionLost
      case .duplicateIdentity: .duplicateIdentity
      case .movedElsewhere: .movedElsewhere
      case .roomClosed: .roomClosed
      case .serverShutdown: .serverShutdown
      }
  }
}
