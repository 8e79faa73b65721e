public import Crypto
public import Model

/// Where a server listens, and what it allows its clients.
public struct HTTPServerConfiguration: Sendable {
  public struct Listener: Hashable, Sendable {
    /// Address and TCP port; port 0 lets the system choose. `::` takes IPv6 only.
    public var address: SocketAddress

    public init(_ address: SocketAddress) { self.address = address }
  }

  public var listeners: [Listener]
  public var limits: HTTPLimits
  /// All listeners speak TLS with it; nil: HTTP in clear.
  public var tls: TLSContext?

  public init(listeners: [Listener], limits: HTTPLimits = HTTPLimits(), tls: TLSContext? = nil) {
    self.listeners = listeners
    self.limits = limits
    self.tls = tls
  }
}
