/// An IP address and port. IPv4 is held in its IPv6-mapped form, as a dual-stack socket reports it.
public struct SocketAddress: BitwiseCopyable, Hashable, Sendable {
  /// The first and last eight bytes of the address, in network order read as a number.
  public var high: UInt64
  public var low: UInt64
  public var port: UInt16
  /// The interface of a link-local IPv6 address, else 0.
  public var scope: UInt32

  @inlinable public init(high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0) {
    self.high = high
    self.low = low
    self.port = port
    self.scope = scope
  }

  @inlinable public init(ipv4 a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16) {
    let address = UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
    self.init(high: 0, low: 0xFFFF_0000_0000 | address, port: port)
  }

  @inlinable public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }
  /// The four bytes of an IPv4 address as a number; meaningless for IPv6.
  @inlinable public var ipv4: UInt32 { UInt32(truncatingIfNeeded: low) }

  @inlinable public var isLoopback: Bool {
    isIPv4 ? ipv4 >> 24 == 127 : (high == 0 && low == 1)
  }
  @inlinable public var isLinkLocal: Bool {
    isIPv4 ? ipv4 >> 16 == 0xA9FE : high >> 54 == 0x3FA
  }
  @inlinable public var isUnspecified: Bool { isIPv4 ? ipv4 == 0 : (high == 0 && low == 0) }

  @inlinable public func with(port: UInt16) -> SocketAddress {
    SocketAddress(high: high, low: low, port: port, scope: scope)
  }
}

/// The two ends of a way that datagrams take: who is at the far end, and which of our addresses was asked.
/// Replies leave from that very address.
public struct NetworkPath: BitwiseCopyable, Hashable, Sendable {
  public var remote: SocketAddress
  public var local: SocketAddress

  @inlinable public init(remote: SocketAddress, local: SocketAddress) {
    self.remote = remote
    self.local = local
  }
}
