internal import Glibc
internal import Model

/// Listening sockets are opened here rather than by libmicrohttpd, so that a failure has its `errno`, a port of
/// 0 its answer, and one limit holds for all listeners: a client over it is turned away before anything is made
/// for it.
enum Listening {
  /// - Returns: a non-blocking socket and the address that it really has.
  static func open(_ address: SocketAddress) throws(HTTPServerError) -> (descriptor: Int32, SocketAddress) {
    let family = address.isIPv4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw failure(address, "socket") }
    do throws(HTTPServerError) {
      prepare(descriptor)
      setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
      if !address.isIPv4 { setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
      guard withSystemAddress(address, { bind(descriptor, $0, $1) }) == 0 else {
        throw failure(address, "bind")
      }
      guard listen(descriptor, 512) == 0 else { throw failure(address, "listen") }
      guard let bound = localAddress(descriptor) else { throw failure(address, "getsockname") }
      return (descriptor, bound)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// - Returns: the next connection and its far end; nil with `errno` set when there is none.
  static func accept(_ listener: Int32) -> (descriptor: Int32, SocketAddress)? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let descriptor = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(listener, $0, &size) }
    }
    guard descriptor >= 0 else { return nil }
    prepare(descriptor)
    guard let remote = address(of: storage) else {
      Glibc.close(descriptor)
      return nil
    }
    return (descriptor, remote)
  }

  /// Small messages don't wait for each other (TCP_NODELAY).
  static func sendAtOnce(_ descriptor: Int32) { setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) }

  private static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  private static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32) {
    var one: Int32 = 1
    _ = setsockopt(descriptor, level, name, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func failure(_ address: SocketAddress, _ step: String) -> HTTPServerError {
    .cannotListen(address, step: step, errno: errno, message: String(cString: strerror(errno)))
  }

  private static func localAddress(_ descriptor: Int32) -> SocketAddress? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return result == 0 ? address(of: storage) : nil
  }

  private static func address(of storage: sockaddr_storage) -> SocketAddress? {
    withUnsafeBytes(of: storage) { bytes in
      let port = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      switch Int32(storage.ss_family) {
      case AF_INET:
        return SocketAddress(ipv4: bytes[4], bytes[5], bytes[6], bytes[7], port: port)
      case AF_INET6:
        return SocketAddress(
          high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
          low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)), port: port)
      default: return nil
      }
    }
  }

  static func withSystemAddress<T>(
    _ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
  ) -> T {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.storeBytes(of: UInt16(address.isIPv4 ? AF_INET : AF_INET6), as: UInt16.self)
      bytes.storeBytes(of: address.port.bigEndian, toByteOffset: 2, as: UInt16.self)
      if address.isIPv4 {
        bytes.storeBytes(of: address.ipv4.bigEndian, toByteOffset: 4, as: UInt32.self)
      } else {
        bytes.storeBytes(of: address.high.bigEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: address.scope, toByteOffset: 24, as: UInt32.self)
      }
    }
    let size = address.isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
    return withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }
}
