import CSystem
import Glibc
import Model
import Peer
import Testing
import Transport

@testable import Engine

/// A plain socket on the loopback, as any far end has one.
final class FarSocket {
  let descriptor: Int32
  let address: SocketAddress

  init(_ host: SocketAddress) throws {
    let family = host.isIPv4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue), 0)
    var (storage, length) = host.systemAddress(family: family)
    let bound = withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    _ = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    self.descriptor = descriptor
    address = SocketAddress(&storage, length: Int(size)) ?? host
    guard bound == 0, address.port != 0 else { throw SocketError("bind") }
    // No test waits for ever.
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var room: Int32 = 4 << 20
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, 4)
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8], to target: SocketAddress) -> Bool {
    var (storage, length) = target.systemAddress(family: address.isIPv4 ? AF_INET : AF_INET6)
    return withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, length) == bytes.count
      }
    }
  }

  /// The next datagram and where it came from; nil after two seconds without one.
  func receive(waits: Bool = true) -> (bytes: [UInt8], from: SocketAddress)? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var storage = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let count = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &buffer, buffer.count, waits ? 0 : Int32(MSG_DONTWAIT), $0, &size)
      }
    }
    guard count >= 0, let from = SocketAddress(&storage, length: Int(size)) else { return nil }
    return (Array(buffer[..<count]), from)
  }
}
