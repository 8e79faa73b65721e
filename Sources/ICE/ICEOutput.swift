public import Model

/// Datagrams that an agent wants sent, in order.
///
/// It is one block of memory, made once and reused: the owner sends what is in it, then calls `removeAll`.
/// What doesn't fit is dropped and counted; every message here is one that is repeated when lost.
public struct ICEOutput: ~Copyable, @unchecked Sendable {
  // Unchecked because of the pointer alone: the value is its only owner.

  public static let capacity = 16
  /// Bytes of the longest datagram: a check with two fragments of 256 characters has 604.
  public static let slotSize = 640

  private let memory: UnsafeMutableRawBufferPointer
  private var sizes: InlineArray<16, Int> = InlineArray(repeating: 0)
  private var paths: [NetworkPath]
  /// Datagrams inside.
  public private(set) var count = 0
  /// Datagrams that didn't fit, since the beginning.
  public private(set) var dropped: UInt64 = 0
  /// Paths that were given up since `removeAll` because no check of ours was answered there.
  public internal(set) var abandoned = 0

  public init() {
    memory = .allocate(byteCount: Self.capacity * Self.slotSize, alignment: 16)
    let nowhere = SocketAddress(high: 0, low: 0, port: 0)
    paths = Array(repeating: NetworkPath(remote: nowhere, local: nowhere), count: Self.capacity)
  }

  deinit { memory.deallocate() }

  public mutating func removeAll() {
    count = 0
    abandoned = 0
  }

  /// - Parameter index: 0 up to `count`.
  /// - Returns: valid until the next change of this value.
  public func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    precondition(index >= 0 && index < count)
    let start = index * Self.slotSize
    return UnsafeRawBufferPointer(rebasing: memory[start..<start + sizes[index]])
  }

  /// Where the datagram goes, and the address of ours that it leaves from.
  public func path(_ index: Int) -> NetworkPath {
    precondition(index >= 0 && index < count)
    return paths[index]
  }

  /// The memory for one more datagram; nil, and counted, if there is none.
  mutating func slot() -> UnsafeMutableRawBufferPointer? {
    guard count < Self.capacity else {
      dropped &+= 1
      return nil
    }
    let start = count * Self.slotSize
    return UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Self.slotSize])
  }

  /// Takes the datagram that was written into `slot`.
  mutating func commit(_ size: Int, _ path: NetworkPath) {
    sizes[count] = size
    paths[count] = path
    count += 1
  }
}
