internal import CSystem
internal import Glibc
public import Model

/// The addresses under which this host can be reached, as its interfaces have them.
public enum HostAddresses {
  /// - Parameters:
  ///   - port: put into each address.
  ///   - includesLoopback: adds 127.0.0.1 for browsers on the same host.
  /// - Returns: addresses of interfaces that are up, without link-local ones, IPv4 first, in the order of the
  ///   system.
  public static func list(port: UInt16, includesLoopback: Bool, includesIPv6: Bool = true) -> [SocketAddress]
  {
    var head: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&head) == 0 else { return [] }
    defer { freeifaddrs(head) }
    var found: [SocketAddress] = []
    var next = head
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard let storage = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0 else { continue }
      let size: Int
      switch Int32(storage.pointee.sa_family) {
      case AF_INET: size = MemoryLayout<sockaddr_in>.size
      case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
      default: continue
      }
      guard let address = SocketAddress(UnsafeRawPointer(storage), length: size)?.with(port: port),
        !address.isLinkLocal, !address.isUnspecified, address.isIPv4 || includesIPv6
      else { continue }
      if address.isLoopback && !(includesLoopback && address.isIPv4) { continue }
      if !found.contains(address) { found.append(address) }
    }
    return found.filter(\.isIPv4) + found.filter { !$0.isIPv4 }
  }
}
