internal import CMicroHTTPD
internal import Glibc

/// How much the system keeps for a client that doesn't read, which by itself grows to megabytes.
enum SendBuffer {
  /// Bytes; Linux counts twice as many, with its own records of them.
  private static let usual: Int32 = 65_536
  /// For last words: as much as it allows by default (`net.core.wmem_max`).
  private static let most: Int32 = 212_992

  static func bound(_ descriptor: Int32) { set(descriptor, usual) }

  /// Makes room behind what waits.
  static func stretch(_ descriptor: Int32) { set(descriptor, most) }

  private static func set(_ descriptor: Int32, _ size: Int32) {
    var size = size
    _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }
}
