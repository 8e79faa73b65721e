import COpenSSL
import Model

/// What stands between one SSL object and its owner: the datagram being read, the datagrams written, the
/// fingerprints expected. OpenSSL's callbacks find it by an unretained pointer; the handshake keeps it alive.
final class DTLSLink {
  enum Verdict { case none, accepted, refused }

  /// Datagrams that may wait to be taken; what is written beyond them is lost, as a network would lose it.
  static let outgoingLimit = 64

  let expected: [Fingerprint]
  let datagramSize: Int
  var verdict = Verdict.none
  /// Valid during one call into OpenSSL; nil once read.
  var incoming: UnsafeRawBufferPointer?
  private(set) var outgoing: [[UInt8]] = []

  init(expected: [Fingerprint], datagramSize: Int) {
    self.expected = expected
    self.datagramSize = datagramSize
  }

  func write(_ datagram: UnsafeRawBufferPointer) {
    guard outgoing.count < Self.outgoingLimit else { return }
    outgoing.append(Array(datagram))
  }

  /// Takes back what was written since there were so many.
  func takeBack(from count: Int) -> [[UInt8]] {
    defer { outgoing.removeLast(max(0, outgoing.count - count)) }
    return Array(outgoing.dropFirst(count))
  }

  func takeDatagram() -> [UInt8]? { outgoing.isEmpty ? nil : outgoing.removeFirst() }

  // MARK: OpenSSL's side

  /// A BIO that keeps the boundaries of datagrams, which a memory BIO loses: each write is one datagram, each
  /// read hands one over. Made once, never freed.
  private nonisolated(unsafe) static let method: OpaquePointer? = {
    let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
    guard let method = BIO_meth_new(type, "datagrams") else { return nil }
    BIO_meth_set_write(method, writeDatagram)
    BIO_meth_set_read(method, readDatagram)
    BIO_meth_set_ctrl(method, control)
    return method
  }()

  /// A BIO on this link, for both directions; it doesn't keep the link alive.
  func makeBIO() -> OpaquePointer? {
    guard let method = Self.method, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    return bio
  }
}

private let retryFlags = BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

private func link(of bio: OpaquePointer?) -> DTLSLink? {
  BIO_get_data(bio).map { Unmanaged<DTLSLink>.fromOpaque($0).takeUnretainedValue() }
}

private func writeDatagram(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
  guard let link = link(of: bio), let bytes, count > 0 else { return -1 }
  BIO_clear_flags(bio, retryFlags)
  link.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  return count
}

private func readDatagram(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32)
  -> Int32
{
  guard let link = link(of: bio), let bytes, count > 0 else { return -1 }
  BIO_clear_flags(bio, retryFlags)
  guard let datagram = link.incoming, let base = datagram.baseAddress else {
    BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
  }
  link.incoming = nil
  // Like a socket: what does not fit is cut off.
  let size = min(datagram.count, Int(count))
  UnsafeMutableRawPointer(bytes).copyMemory(from: base, byteCount: size)
  return Int32(size)
}

private func control(
  _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
  switch command {
  case BIO_CTRL_FLUSH: 1
  case BIO_CTRL_DGRAM_QUERY_MTU: link(of: bio)?.datagramSize ?? 0
  default: 0
  }
}
