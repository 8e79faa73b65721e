internal import CSystem
internal import Glibc
internal import Model
internal import Transport

/// Turns an outbox into as few system calls as it allows.
///
/// Datagrams of one path leave in order; runs of equal size (the last may be shorter) go as one GSO send.
/// Paths are gathered through a small table, because a subscriber's tracks come one after the other,
/// with others' between.
struct SendBatch: ~Copyable {
  /// The kernel's bounds: UDP_MAX_SEGMENTS, and the largest IP datagram less headers.
  private static let segmentLimit = 64
  private static let byteLimit = 65_000
  private static let messageLimit = 256
  private static let controlSize = 128

  private let family: Int32
  private let sockets: WorkerSockets
  /// By their number, and how many there are.
  private let descriptors: UnsafeMutablePointer<Int32>
  private let socketCount: Int
  /// Per path of the batch: first and last entry of its chain. Found by open addressing.
  private let buckets: UnsafeMutablePointer<Chain>
  private let bucketMask: Int
  /// Buckets in the order of their first datagram.
  private let order: UnsafeMutablePointer<Int32>
  private let next: UnsafeMutablePointer<Int32>
  private let vectors: UnsafeMutablePointer<iovec>
  private let names: UnsafeMutablePointer<sockaddr_in6>
  private let controls: UnsafeMutableRawPointer
  private let messages: UnsafeMutablePointer<rs_mmsghdr>
  private let datagramCounts: UnsafeMutablePointer<Int32>
  private(set) var statistics = SendStatistics()
  private var segmentation = true

  private struct Chain {
    var path = NetworkPath(
      remote: SocketAddress(high: 0, low: 0, port: 0), local: SocketAddress(high: 0, low: 0, port: 0))
    var head: Int32 = -1
    var tail: Int32 = -1
    /// The socket by which it leaves; -1: we don't have its local address.
    var socket: Int32 = 0
  }

  /// - Parameters:
  ///   - datagrams: the most that an outbox holds.
  ///   - sockets: by which they leave, each path by the one that has its local address.
  init(datagrams: Int, sockets: WorkerSockets) {
    self.sockets = sockets
    family = sockets.family
    socketCount = sockets.all.count
    descriptors = .allocate(capacity: socketCount)
    for (index, descriptor) in sockets.descriptors.enumerated() {
      (descriptors + index).initialize(to: descriptor)
    }
    var size = 16
    while size < datagrams * 2 { size *= 2 }
    bucketMask = size - 1
    buckets = .allocate(capacity: size)
    buckets.initialize(repeating: Chain(), count: size)
    order = .allocate(capacity: datagrams)
    next = .allocate(capacity: datagrams)
    vectors = .allocate(capacity: datagrams)
    names = .allocate(capacity: Self.messageLimit)
    controls = .allocate(byteCount: Self.messageLimit * Self.controlSize, alignment: 16)
    messages = .allocate(capacity: Self.messageLimit)
    datagramCounts = .allocate(capacity: Self.messageLimit)
    names.initialize(repeating: sockaddr_in6(), count: Self.messageLimit)
    vectors.initialize(repeating: iovec(), count: datagrams)
    messages.initialize(repeating: rs_mmsghdr(header: msghdr(), length: 0), count: Self.messageLimit)
  }

  deinit {
    descriptors.deallocate()
    buckets.deallocate()
    order.deallocate()
    next.deallocate()
    vectors.deallocate()
    names.deallocate()
    controls.deallocate()
    messages.deallocate()
    datagramCounts.deallocate()
  }

  /// Sends everything and empties the outbox. What the socket's buffer does not take is dropped and counted:
  /// waiting would delay every other peer of the worker.
  mutating func send(_ outbox: inout Outbox) {
    let paths = gather(outbox)
    for socket in 0..<socketCount { send(outbox, paths: paths, by: socket) }
    for position in 0..<paths { buckets[Int(order[position])] = Chain() }
    outbox.removeAll()
  }

  /// Sends what leaves by that socket.
  private mutating func send(_ outbox: borrowing Outbox, paths: Int, by socket: Int) {
    let descriptor = descriptors[socket]
    var messageCount = 0
    var vectorCount = 0
    for position in 0..<paths {
      let chain = buckets[Int(order[position])]
      guard Int(chain.socket) == socket else { continue }
      var entry = chain.head
      while entry >= 0 {
        let first = entry
        let start = vectorCount
        let size = outbox[Int(first)].size
        var total = 0
        // A run: as long as the segment before it was of full size.
        while entry >= 0 {
          let candidate = outbox[Int(entry)]
          guard
            vectorCount == start
              || (segmentation && candidate.size <= size && vectorCount &- start < Self.segmentLimit
                && total &+ candidate.size <= Self.byteLimit)
          else { break }
          let bytes = outbox.bytes(candidate)
          vectors[vectorCount] = iovec(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress!), iov_len: bytes.count)
          vectorCount &+= 1
          total &+= candidate.size
          entry = next[Int(entry)]
          if candidate.size < size { break }
        }
        write(
          messageCount, path: chain.path, vectors: start..<vectorCount, segment: size)
        datagramCounts[messageCount] = Int32(vectorCount &- start)
        messageCount &+= 1
        if messageCount == Self.messageLimit {
          submit(messageCount, descriptor)
          messageCount = 0
          vectorCount = 0
        }
      }
    }
    submit(messageCount, descriptor)
  }

  /// Chains the entries by path.
  /// - Returns: how many paths there are.
  private mutating func gather(_ outbox: borrowing Outbox) -> Int {
    var paths = 0
    for index in 0..<outbox.count {
      let path = outbox[index].path
      var bucket = Self.hash(path) & bucketMask
      while buckets[bucket].head >= 0 && buckets[bucket].path != path { bucket = (bucket &+ 1) & bucketMask }
      next[index] = -1
      if buckets[bucket].head < 0 {
        let socket = socketCount == 1 ? 0 : socket(for: path.local)
        buckets[bucket] = Chain(path: path, head: Int32(index), tail: Int32(index), socket: socket)
        order[paths] = Int32(bucket)
        paths &+= 1
      } else {
        next[Int(buckets[bucket].tail)] = Int32(index)
        buckets[bucket].tail = Int32(index)
      }
      if socketCount > 1, buckets[bucket].socket < 0 { statistics.droppedUnreachable &+= 1 }
    }
    return paths
  }

  /// - Returns: -1 for an address that none of them has.
  private func socket(for local: SocketAddress) -> Int32 {
    Int32(sockets.all.firstIndex { $0.value.carries(local) } ?? -1)
  }

  /// Paths in here were validated, so they can't be chosen to collide.
  private static func hash(_ path: NetworkPath) -> Int {
    var hash = path.remote.high ^ path.remote.low &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ UInt64(path.remote.port)) &* 0xBF58_476D_1CE4_E5B9
    return Int(truncatingIfNeeded: (hash ^ hash >> 29) & 0x7FFF_FFFF)
  }

  private func write(
    _ index: Int, path: NetworkPath, vectors range: Range<Int>, segment: Int
  ) {
    let (address, length) = path.remote.systemAddress(family: family)
    names[index] = address
    let control = controls + index * Self.controlSize
    var header = msghdr()
    header.msg_name = UnsafeMutableRawPointer(names + index)
    header.msg_namelen = length
    header.msg_iov = vectors + range.lowerBound
    header.msg_iovlen = range.count
    header.msg_control = control
    header.msg_controllen = Self.controlSize
    memset(control, 0, Self.controlSize)
    var used = 0
    let current = rs_cmsg_first(&header)!
    if family == AF_INET6 {
      current.pointee.cmsg_level = Int32(IPPROTO_IPV6)
      current.pointee.cmsg_type = Int32(RS_IPV6_PKTINFO)
      current.pointee.cmsg_len = rs_cmsg_length(MemoryLayout<rs_in6_pktinfo>.size)
      let info = rs_in6_pktinfo(address: path.local.in6, interface: path.local.scope)
      rs_cmsg_data(current)!.storeBytes(of: info, as: rs_in6_pktinfo.self)
      used = rs_cmsg_space(MemoryLayout<rs_in6_pktinfo>.size)
    } else {
      current.pointee.cmsg_level = Int32(IPPROTO_IP)
      current.pointee.cmsg_type = Int32(RS_IP_PKTINFO)
      current.pointee.cmsg_len = rs_cmsg_length(MemoryLayout<rs_in_pktinfo>.size)
      var info = rs_in_pktinfo()
      info.specific_destination.s_addr = path.local.ipv4.bigEndian
      rs_cmsg_data(current)!.storeBytes(of: info, as: rs_in_pktinfo.self)
      used = rs_cmsg_space(MemoryLayout<rs_in_pktinfo>.size)
    }
    if range.count > 1 {
      let second = UnsafeMutableRawPointer(current).advanced(by: used).assumingMemoryBound(to: cmsghdr.self)
      second.pointee.cmsg_level = Int32(IPPROTO_UDP)
      second.pointee.cmsg_type = Int32(RS_UDP_SEGMENT)
      second.pointee.cmsg_len = rs_cmsg_length(MemoryLayout<UInt16>.size)
      rs_cmsg_data(second)!.storeBytes(of: UInt16(segment), as: UInt16.self)
      used += rs_cmsg_space(MemoryLayout<UInt16>.size)
    }
    header.msg_controllen = used
    messages[index] = rs_mmsghdr(header: header, length: 0)
  }

  private mutating func submit(_ count: Int, _ descriptor: Int32) {
    var start = 0
    while start < count {
      let sent = rs_sendmmsg(
        descriptor, messages + start, UInt32(count &- start), Int32(MSG_DONTWAIT))
      statistics.calls &+= 1
      if sent > 0 {
        for index in start..<start &+ Int(sent) {
          let datagrams = UInt64(datagramCounts[index])
          statistics.datagrams &+= datagrams
          if datagrams > 1 { statistics.segmented &+= datagrams }
        }
        start &+= Int(sent)
      } else if errno == EINTR {
        continue
      } else {
        // The first message was refused; the others may be fine.
        let code = errno
        if code == EIO || code == EINVAL, datagramCounts[start] > 1 {
          // No segmentation on this way out: a small MTU (EINVAL), or a driver without checksums (EIO), with
          // which no other send would fare better.
          if code == EIO { segmentation = false }
          statistics.segmentationRefused &+= 1
          sendSingly(start, descriptor)
        } else if code == EAGAIN || code == ENOBUFS {
          statistics.droppedBufferFull &+= UInt64(datagramCounts[start])
        } else {
          statistics.droppedUnreachable &+= UInt64(datagramCounts[start])
        }
        start &+= 1
      }
    }
  }
}

extension SendBatch {
  /// Repeats a message whose segmentation was refused, datagram by datagram.
  private mutating func sendSingly(_ index: Int, _ descriptor: Int32) {
    var header = messages[index].header
    // The path's control message comes first; the segment size behind it goes.
    header.msg_controllen = rs_cmsg_space(
      family == AF_INET6 ? MemoryLayout<rs_in6_pktinfo>.size : MemoryLayout<rs_in_pktinfo>.size)
    let vectors = header.msg_iov!
    for vector in 0..<header.msg_iovlen {
      header.msg_iov = vectors + vector
      header.msg_iovlen = 1
      statistics.calls &+= 1
      if sendmsg(descriptor, &header, Int32(MSG_DONTWAIT)) >= 0 {
        statistics.datagrams &+= 1
      } else if errno == EAGAIN || errno == ENOBUFS {
        statistics.droppedBufferFull &+= 1
      } else {
        statistics.droppedUnreachable &+= 1
      }
    }
  }
}

/// What left, and what the kernel refused.
public struct SendStatistics: Sendable {
  public var calls: UInt64 = 0
  public var datagrams: UInt64 = 0
  /// Of `datagrams`, those that left in a GSO send of several.
  public var segmented: UInt64 = 0
  public var segmentationRefused: UInt64 = 0
  public var droppedBufferFull: UInt64 = 0
  public var droppedUnreachable: UInt64 = 0

  public init() {}
}
