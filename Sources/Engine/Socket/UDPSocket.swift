internal import CSystem
internal import Glibc
package import Model

/// A UDP socket: one worker's, a member of the group that shares the public port (`SO_REUSEPORT`), or one that has its
/// port for itself.
///
/// A dual-stack IPv6 socket where the host has IPv6, else an IPv4 one. Never blocks.
package struct UDPSocket: ~Copyable {
  package let descriptor: Int32
  let family: Int32
  /// As bound; differs from the wish where that was 0.
  package let port: UInt16
  /// What the kernel granted, in bytes; it may be less than what was asked for.
  let receiveBuffer: Int
  let sendBuffer: Int

  /// - Parameters:
  ///   - port: 0 lets the kernel choose.
  ///   - receiveBuffer, sendBuffer: bytes; taken beyond the system's limit where we may.
  ///   - sharesPort: whether others may bind the port, too. With port 0 the kernel may then choose one that another
  ///     socket of the same user shares already.
  package init(port: UInt16, receiveBuffer: Int, sendBuffer: Int, sharesPort: Bool = false)
    throws(SocketError)
  {
    var family = AF_INET6
    var descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Self.flags, 0)
    if descriptor < 0 {
      family = AF_INET
      descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Self.flags, 0)
    }
    guard descriptor >= 0 else { throw SocketError("socket") }
    do throws(SocketError) {
      let bound = try Self.prepare(descriptor, family: family, port: port, sharesPort: sharesPort)
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
  }

  /// `SO_REUSEPORT` would let a second server of the same user join the group and take half of its datagrams;
  /// a socket without it is refused while anybody has the port.
  static func requireFree(port: UInt16) throws(SocketError) {
    var family = AF_INET6
    var descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | flags, 0)
    if descriptor < 0 {
      family = AF_INET
      descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | flags, 0)
    }
    guard descriptor >= 0 else { throw SocketError("socket") }
    defer { close(descriptor) }
    if family == AF_INET6 {
      try set(descriptor, Int32(IPPROTO_IPV6), Int32(RS_IPV6_V6ONLY), 0, "IPV6_V6ONLY")
    }
    try bindToAny(descriptor, family: family, port: port)
  }

  deinit { close(descriptor) }

  /// Sends one datagram, for whoever sends few.
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

  private static func prepare(
    _ descriptor: Int32, family: Int32, port: UInt16, sharesPort: Bool
  ) throws(SocketError) -> UInt16 {
    if sharesPort { try set(descriptor, SOL_SOCKET, Int32(RS_SO_REUSEPORT), 1, "SO_REUSEPORT") }
    try set(descriptor, SOL_SOCKET, Int32(RS_SO_TIMESTAMPNS), 1, "SO_TIMESTAMPNS")
    if family == AF_INET6 {
      try set(descriptor, Int32(IPPROTO_IPV6), Int32(RS_IPV6_V6ONLY), 0, "IPV6_V6ONLY")
      try set(descriptor, Int32(IPPROTO_IPV6), Int32(RS_IPV6_RECVPKTINFO), 1, "IPV6_RECVPKTINFO")
    } else {
      try set(descriptor, Int32(IPPROTO_IP), Int32(RS_IP_PKTINFO), 1, "IP_PKTINFO")
    }
    // IP_PMTUDISC_DONT: datagrams stay below 1,500 bytes by our own rule, and a forged "fragmentation
    // needed" must not silence the socket.
    try set(descriptor, Int32(IPPROTO_IP), Int32(RS_IP_MTU_DISCOVER), 0, "IP_MTU_DISCOVER")

    try bindToAny(descriptor, family: family, port: port)
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let named = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard named == 0 else { throw SocketError("getsockname") }
    return SocketAddress(&address, length: Int(size))?.port ?? port
  }

  private static func bindToAny(_ descriptor: Int32, family: Int32, port: UInt16) throws(SocketError) {
    let any = SocketAddress(high: 0, low: family == AF_INET ? 0xFFFF_0000_0000 : 0, port: port)
    var (address, length) = any.systemAddress(family: family)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard bound == 0 else { throw SocketError("bind to UDP port \(port)") }
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
