internal import CSystem
internal import Glibc

/// One end of a link as the kernel's network stack sees it: what is routed there is read here, what is written here arrives there.
struct TunDevice: ~Copyable {
  struct Failure: Error {
    var text: String
  }

  /// The largest IP packet.
  private static let room = 65_536

  let name: String
  let descriptor: Int32
  private let buffer: UnsafeMutableRawBufferPointer

  /// Makes a device in the process's network namespace; it goes with the process, wherever it has been moved.
  init(name: String) throws(Failure) {
    guard (1..<Int(IFNAMSIZ)).contains(name.utf8.count), !name.contains("/") else {
      throw Failure(text: "\(name) can't be the name of a device")
    }
    let opened = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { throw Failure(text: "/dev/net/tun: \(Self.reason)") }
    guard rs_tun_attach(opened, name) == 0 else {
      let reason = Self.reason
      close(opened)
      throw Failure(text: "\(name): \(reason)")
    }
    self.name = name
    descriptor = opened
    buffer = .allocate(byteCount: Self.room, alignment: 16)
  }

  deinit {
    close(descriptor)
    buffer.deallocate()
  }

  private static var reason: String { String(cString: strerror(errno)) }

  /// The next packet; nil where none waits, or while the device is down.
  func read() -> [UInt8]? {
    let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// - Returns: false where the kernel doesn't take it, as while the device is down.
  func write(_ packet: [UInt8]) -> Bool {
    packet.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == packet.count
  }
}
