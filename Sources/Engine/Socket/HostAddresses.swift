internal import CSystem
internal import Glibc
public import Model

/// The addresses under which this host can be reached, as its interfaces have them.
public enum HostAddresses {
  /// - Parameters:
  ///   - port: put into each address.
  ///   - bound: of these alone, where there are any: single addresses, loopback ones too, and 0.0.0.0 or :: for all of a
  ///     family.
  ///   - includesLoopback: adds 127.0.0.1 for browsers on the same host.
  /// - Returns: addresses of interfaces that are up, without link-local ones, IPv4 first, in the order of the
  ///   system.
  public static func list(
    port: UInt16, boundTo bound: [SocketAddress] = [], includesLoopback: Bool, includesIPv6: Bool = true
  ) -> [SocketAddress] {
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
      let isNamed = bound.contains { $0.high == address.high && $0.low == address.low }
      let isIncluded =
        bound.isEmpty || isNamed || bound.contains { $0.isUnspecified && $0.isIPv4 == address.isIPv4 }
      guard isIncluded else { continue }
      if address.isLoopback && !isNamed && !(includesLoopback && address.isIPv4) { continue }
      if !found.contains(address) { found.append(address) }
    }
    return found.filter(\.isIPv4) + found.filter { !$0.isIPv4 }
  }
}
