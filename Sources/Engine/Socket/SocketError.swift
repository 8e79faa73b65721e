internal import CSystem
internal import Glibc

/// Why a media socket could not be set up: the call, and what the system said.
public struct SocketError: Error, CustomStringConvertible, Sendable {
  public let call: String
  public let code: Int32

  init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  public var description: String {
    let reason = String(cString: strerror(code))
    switch code {
    case EADDRINUSE:
      return "\(call): \(reason); another program has this UDP port, choose another by media.port"
    case EADDRNOTAVAIL:
      return "\(call): \(reason); this host has no such address, see media.addresses"
    case EACCES: return "\(call): \(reason); ports below 1024 need CAP_NET_BIND_SERVICE"
    default: return "\(call): \(reason)"
    }
  }
}
