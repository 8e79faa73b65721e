internal import CSystem
internal import Glibc
package import Model

/// Slots for one `recvmmsg`: bytes, sender, and the control messages that say when and where it came in.
package struct ReceiveBatch: ~Copyable {
  /// Firefox's first ClientHello has 1,408 bytes; nothing that we accept is over 2,048.
  static let slotSize = 2_048
  private static let controlSize = 128

  /// One received datagram.
  package struct Datagram {
    package var bytes: UnsafeMutableRawBufferPointer
    package var path: NetworkPath
    package var arrival: Instant
  }

  private let capacity: Int
  private let slots: UnsafeMutableRawPointer
  private let controls: UnsafeMutableRawPointer
  private let names: UnsafeMutablePointer<sockaddr_in6>
  private let vectors: UnsafeMutablePointer<iovec>
  private let messages: UnsafeMutablePointer<rs_mmsghdr>
  private(set) var count = 0

  package init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(byteCount: capacity * Self.slotSize, alignment: 64)
    controls = .allocate(byteCount: capacity * Self.controlSize, alignment: 16)
    names = .allocate(capacity: capacity)
    vectors = .allocate(capacity: capacity)
    messages = .allocate(capacity: capacity)
    names.initialize(repeating: sockaddr_in6(), count: capacity)
    for index in 0..<capacity {
      (vectors + index).initialize(
        to: iovec(iov_base: slots + index * Self.slotSize, iov_len: Self.slotSize))
      var header = msghdr()
      header.msg_name = UnsafeMutableRawPointer(names + index)
      header.msg_iov = vectors + index
      header.msg_iovlen = 1
      header.msg_control = controls + index * Self.controlSize
      (messages + index).initialize(to: rs_mmsghdr(header: header, length: 0))
    }
  }

  deinit {
    slots.deallocate()
    controls.deallocate()
    names.deallocate()
    vectors.deallocate()
    messages.deallocate()
  }

  /// Takes what waits on the socket, at most a batch.
  /// - Returns: datagrams taken; 0 when none waits. Errors of earlier sends that the kernel reports here
  ///   (ICMP) are taken as "none".
  package mutating func receive(_ descriptor: Int32) -> Int {
    for index in 0..<capacity {
      messages[index].header.msg_namelen = socklen_t(MemoryLayout<sockaddr_in6>.size)
      messages[index].header.msg_controllen = Self.controlSize
    }
    let received = rs_recvmmsg(descriptor, messages, UInt32(capacity), Int32(MSG_DONTWAIT), nil)
    count = max(Int(received), 0)
    return count
  }

  package var isFull: Bool { count == capacity }

  /// - Parameters:
  ///   - port: of our socket.
  ///   - clock: turns the kernel's wall-clock stamps into instants; sampled once a batch.
  /// - Returns: nil for a datagram cut by the slot's size, without sender or destination.
  package func datagram(_ index: Int, port: UInt16, clock: ClockSample) -> Datagram? {
    let message = messages + index
    guard message.pointee.header.msg_flags & Int32(MSG_TRUNC) == 0,
      let remote = SocketAddress(names + index, length: Int(message.pointee.header.msg_namelen))
    else { return nil }
    var local: SocketAddress?
    var arrival = clock.instant
    var control = rs_cmsg_first(&message.pointee.header)
    while let current = control {
      let data = UnsafeRawPointer(rs_cmsg_data(current)!)
      switch (current.pointee.cmsg_level, current.pointee.cmsg_type) {
      case (SOL_SOCKET, Int32(RS_SO_TIMESTAMPNS)):
        arrival = clock.instant(ofWallTime: data.loadUnaligned(as: timespec.self))
      case (Int32(IPPROTO_IPV6), Int32(RS_IPV6_PKTINFO)):
        let info = data.loadUnaligned(as: rs_in6_pktinfo.self)
        local = SocketAddress(info.address, port: port, scope: info.interface)
      case (Int32(IPPROTO_IP), Int32(RS_IP_PKTINFO)):
        let info = data.loadUnaligned(as: rs_in_pktinfo.self)
        local = SocketAddress(
          high: 0, low: 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: info.address.s_addr)), port: port)
      default: break
      }
      control = rs_cmsg_next(&message.pointee.header, current)
    }
    guard let local else { return nil }
    let bytes = UnsafeMutableRawBufferPointer(
      start: slots + index * Self.slotSize, count: Int(message.pointee.length))
    return Datagram(bytes: bytes, path: NetworkPath(remote: remote, local: local), arrival: arrival)
  }
}
