public import Model

/// Why the server could not start.
public enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// - Parameter errno: as `bind` or `listen` gave it.
  case cannotListen(SocketAddress, step: String, errno: Int32, message: String)
  /// - Parameter step: what the system, or libmicrohttpd, refused.
  case cannotStart(step: String, errno: Int32)

  public var description: String {
    switch self {
    case .cannotListen(let address, let step, _, let message): "\(address): \(step): \(message)"
    case .cannotStart(let step, let errno): "\(step): error \(errno)"
    }
  }
}
