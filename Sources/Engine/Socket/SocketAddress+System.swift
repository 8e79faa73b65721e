internal import CSystem
internal import Glibc
package import Model

extension SocketAddress {
  /// From what the kernel wrote beside a datagram; nil for a family that we don't speak.
  package init?(_ storage: UnsafeRawPointer, length: Int) {
    guard length >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(storage.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET6:
      guard length >= MemoryLayout<sockaddr_in6>.size else { return nil }
      let address = storage.loadUnaligned(as: sockaddr_in6.self)
      self.init(address.sin6_addr, port: UInt16(bigEndian: address.sin6_port), scope: address.sin6_scope_id)
    case AF_INET:
      guard length >= MemoryLayout<sockaddr_in>.size else { return nil }
      let address = storage.loadUnaligned(as: sockaddr_in.self)
      self.init(
        high: 0, low: 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: address.sin_addr.s_addr)),
        port: UInt16(bigEndian: address.sin_port))
    default: return nil
    }
  }

  init(_ address: in6_addr, port: UInt16, scope: UInt32) {
    let (high, low) = withUnsafeBytes(of: address) {
      (
        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self.init(high: high, low: low, port: port, scope: scope)
    // Only link-local addresses need their interface; for others it would make one peer look like two.
    if !isLinkLocal || isIPv4 { self.scope = 0 }
  }

  var in6: in6_addr {
    var address = in6_addr()
    withUnsafeMutableBytes(of: &address) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return address
  }

  /// As a socket of `family` takes it: IPv6 sockets get IPv4 in its mapped form.
  func systemAddress(family: Int32) -> (storage: sockaddr_in6, length: socklen_t) {
    var storage = sockaddr_in6()
    if family == AF_INET {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = ipv4.bigEndian
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in.self) }
      return (storage, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    storage.sin6_family = sa_family_t(AF_INET6)
    storage.sin6_port = port.bigEndian
    storage.sin6_addr = in6
    storage.sin6_scope_id = scope
    return (storage, socklen_t(MemoryLayout<sockaddr_in6>.size))
  }
}
