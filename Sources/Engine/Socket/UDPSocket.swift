internal import CSystem
internal import Glibc
package import Model

/// A UDP socket: one worker's, a member of the group that shares the public port (`SO_REUSEPORT`), or one that has its
/// port for itself.
///
/// An IPv6 socket where the host has IPv6, which speaks IPv4 in its mapped form (RFC 4291 §2.5.5.2), else an IPv4 one. Never
/// blocks.
package struct UDPSocket: ~Copyable {
  package let descriptor: Int32
  let family: Int32
  /// As bound; another than was asked for where that was 0.
  package let port: UInt16
  /// The one address that it has; nil: every address of the host.
  let address: SocketAddress?
  /// What the kernel granted, in bytes; it may be less than what was asked for.
  let receiveBuffer: Int
  let sendBuffer: Int

  /// - Parameters:
  ///   - port: 0 lets the kernel choose.
  ///   - address: to which it is bound, its port aside; 0.0.0.0 and :: stand for all of their family, nil for all of both.
  ///   - receiveBuffer, sendBuffer: bytes; taken beyond the system's limit where we may.
  ///   - sharesPort: whether others may bind the port, too. With port 0 the kernel may then choose one that another
  ///     socket of the same user shares already.
  package init(
    port: UInt16, address: SocketAddress? = nil, receiveBuffer: Int, sendBuffer: Int, sharesPort: Bool = false
  ) throws(SocketError) {
    let (descriptor, family) = try Self.open()
    do throws(SocketError) {
      try Self.prepare(descriptor, family: family, sharesPort: sharesPort)
      let bound = try Self.bind(descriptor, family: family, to: address, port: port)
      self.receiveBuffer = Self.grow(
        descriptor, forced: Int32(RS_SO_RCVBUFFORCE), plain: SO_RCVBUF, bytes: receiveBuffer)
      self.sendBuffer = Self.grow(
        descriptor, forced: Int32(RS_SO_SNDBUFFORCE), plain: SO_SNDBUF, bytes: sendBuffer)
      self.port = bound
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.family = family
    self.address = address
  }

  /// `SO_REUSEPORT` would let a second server of the same user join the group and take half of its datagrams;
  /// a socket without it is refused while anybody has the port.
  static func requireFree(port: UInt16, address: SocketAddress?) throws(SocketError) {
    let (descriptor, family) = try open()
    defer { close(descriptor) }
    _ = try bind(descriptor, family: family, to: address, port: port)
  }

  /// Whether datagrams leave by it that come from this address of ours.
  func carries(_ local: SocketAddress) -> Bool {
    guard let address else { return true }
    guard address.isIPv4 == local.isIPv4 else { return false }
    return address.isUnspecified || address.high == local.high && address.low == local.low
  }

  private static func open() throws(SocketError) -> (descriptor: Int32, family: Int32) {
    for family in [AF_INET6, AF_INET] {
      let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | flags, 0)
      if descriptor >= 0 { return (descriptor, family) }
    }
    throw SocketError("socket")
  }

  deinit { close(descriptor) }

  /// Sends one datagram, where few are sent.
  /// - Returns: false for what the kernel does not take now.
  @discardableResult
  package func send(_ bytes: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
    var (address, length) = remote.systemAddress(family: family)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, length) >= 0
      }
    }
  }

  private static var flags: Int32 {
    Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
  }

  private static func prepare(_ descriptor: Int32, family: Int32, sharesPort: Bool) throws(SocketError) {
    if sharesPort { try set(descriptor, SOL_SOCKET, Int32(RS_SO_REUSEPORT), 1, "SO_REUSEPORT") }
    try set(descriptor, SOL_SOCKET, Int32(RS_SO_TIMESTAMPNS), 1, "SO_TIMESTAMPNS")
    if family == AF_INET6 {
      try set(descriptor, Int32(IPPROTO_IPV6), Int32(RS_IPV6_RECVPKTINFO), 1, "IPV6_RECVPKTINFO")
    } else {
      try set(descriptor, Int32(IPPROTO_IP), Int32(RS_IP_PKTINFO), 1, "IP_PKTINFO")
    }
    // IP_PMTUDISC_DONT: datagrams stay below 1,500 bytes by our own rule, and a forged "fragmentation
    // needed" must not silence the socket.
    try set(descriptor, Int32(IPPROTO_IP), Int32(RS_IP_MTU_DISCOVER), 0, "IP_MTU_DISCOVER")
  }

  /// - Returns: the port.
  private static func bind(
    _ descriptor: Int32, family: Int32, to wanted: SocketAddress?, port: UInt16
  ) throws(SocketError) -> UInt16 {
    if family == AF_INET6 {
      let isOnlyIPv6: Int32 = wanted.map { $0.isIPv4 ? 0 : 1 } ?? 0
      try set(descriptor, Int32(IPPROTO_IPV6), Int32(RS_IPV6_V6ONLY), isOnlyIPv6, "IPV6_V6ONLY")
    } else if let wanted, !wanted.isIPv4 {
      throw SocketError("bind to \(wanted.host)", code: EAFNOSUPPORT)
    }
    let all = SocketAddress(high: 0, low: family == AF_INET ? 0xFFFF_0000_0000 : 0, port: port)
    var (name, length) = (wanted?.with(port: port) ?? all).systemAddress(family: family)
    let result = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) }
    }
    guard result == 0 else {
      throw SocketError("bind to \(wanted.map { $0.host + ", " } ?? "")UDP port \(port)")
    }
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let named = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard named == 0 else { throw SocketError("getsockname") }
    return SocketAddress(&address, length: Int(size))?.port ?? port
  }

  private static func set(
    _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32, _ name: String
  ) throws(SocketError) {
    var value = value
    guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
      throw SocketError("setsockopt \(name)")
    }
  }

  /// Asks beyond the system's limit first (needs CAP_NET_ADMIN), then within it.
  private static func grow(_ descriptor: Int32, forced: Int32, plain: Int32, bytes: Int) -> Int {
    var wanted = Int32(clamping: bytes)
    let size = socklen_t(MemoryLayout<Int32>.size)
    if setsockopt(descriptor, SOL_SOCKET, forced, &wanted, size) != 0 {
      setsockopt(descriptor, SOL_SOCKET, plain, &wanted, size)
    }
    var granted: Int32 = 0
    var length = size
    getsockopt(descriptor, SOL_SOCKET, plain, &granted, &length)
    // The kernel doubles the figure for its own bookkeeping (socket(7)).
    return Int(granted) / 2
  }
}
