/// Writes state as bytes: little-endian, in the order of the calls, without names.
///
/// The reader is the same version of the program or a newer one that knows the older layout by the version
/// number at the front; this is for handing a peer on, not for storage.
public struct StateWriter: ~Copyable {
  public private(set) var bytes: [UInt8] = []

  public init() {}

  public mutating func write<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }
  public mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
  public mutating func write(_ value: Double) { write(value.bitPattern) }
  public mutating func write(_ value: Instant) { write(value.nanoseconds) }
  public mutating func write(_ value: String) { write(Array(value.utf8)) }
  public mutating func write(_ value: [UInt8]) {
    write(UInt32(value.count))
    bytes.append(contentsOf: value)
  }
  public mutating func write(raw value: UnsafeRawBufferPointer) {
    write(UInt32(value.count))
    bytes.append(contentsOf: value)
  }
  public mutating func write(_ value: SocketAddress) {
    write(value.high)
    write(value.low)
    write(value.port)
    write(value.scope)
  }
  public mutating func write(_ value: NetworkPath) {
    write(value.remote)
    write(value.local)
  }
  public mutating func write(_ value: NetworkPath?) {
    write(value != nil)
    if let value { write(value) }
  }
}
