internal import Engine
internal import Glibc
package import Model

/// From which address datagrams leave.
package enum LocalAddress {
  /// Of an open socket; of none, 127.0.0.1 without a port.
  package static func of(_ descriptor: Int32) -> SocketAddress {
    var storage = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    let found =
      status == 0 ? withUnsafeBytes(of: &storage) { SocketAddress($0.baseAddress!, length: Int(size)) } : nil
    return found ?? SocketAddress(ipv4: 127, 0, 0, 1, port: 0)
  }

  /// Towards a host: asks the system which address it would take, and sends nothing.
  /// - Returns: nil for a host that has no address, or none that can be reached.
  package static func towards(host: String, port: UInt16) -> SocketAddress? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, "\(port)", &hints, &list) == 0 else { return nil }
    defer { freeaddrinfo(list) }
    var entry = list
    while let info = entry?.pointee {
      let socket = Glibc.socket(info.ai_family, info.ai_socktype, 0)
      if socket >= 0 {
        defer { close(socket) }
        if connect(socket, info.ai_addr, info.ai_addrlen) == 0 { return of(socket) }
      }
      entry = info.ai_next
    }
    return nil
  }
}
