/// Why bytes are no state of ours.
public enum StateError: Error, Equatable, Sendable {
  case truncated(offset: Int, wanted: Int, size: Int)
  case invalid(field: String, offset: Int)
  /// A section has a version that this build doesn't read: beyond `known` a newer build wrote it, below it one that is too old.
  case version(Int, of: String, known: ClosedRange<Int>, offset: Int)
  case trailingBytes(count: Int)
}

/// Reads what `StateWriter` wrote; every read is checked.
public struct StateReader: ~Copyable {
  public let bytes: [UInt8]
  public private(set) var offset = 0

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(StateError) -> T {
    let start = try take(MemoryLayout<T>.size)
    return bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: T.self)) }
  }
  public mutating func bool() throws(StateError) -> Bool {
    let byte = try integer(UInt8.self)
    guard byte <= 1 else { throw .invalid(field: "bool", offset: offset - 1) }
    return byte == 1
  }
  public mutating func double() throws(StateError) -> Double { Double(bitPattern: try integer()) }
  public mutating func instant() throws(StateError) -> Instant { Instant(nanoseconds: try integer()) }
  /// - Parameter limit: the most bytes that this field can have.
  public mutating func array(limit: Int) throws(StateError) -> [UInt8] {
    let count = Int(try integer(UInt32.self))
    guard count <= limit else { throw .invalid(field: "length \(count) over \(limit)", offset: offset - 4) }
    let start = try take(count)
    return Array(bytes[start..<start + count])
  }
  public mutating func string(limit: Int) throws(StateError) -> String {
    let start = offset
    guard let text = String(validating: try array(limit: limit), as: UTF8.self) else {
      throw .invalid(field: "UTF-8", offset: start)
    }
    return text
  }
  /// A count that the caller is about to loop over.
  public mutating func count(limit: Int) throws(StateError) -> Int {
    let count = Int(try integer(UInt32.self))
    guard count <= limit else { throw .invalid(field: "count \(count) over \(limit)", offset: offset - 4) }
    return count
  }
  public mutating func address() throws(StateError) -> SocketAddress {
    SocketAddress(high: try integer(), low: try integer(), port: try integer(), scope: try integer())
  }
  public mutating func path() throws(StateError) -> NetworkPath {
    NetworkPath(remote: try address(), local: try address())
  }
  public mutating func optionalPath() throws(StateError) -> NetworkPath? { try bool() ? try path() : nil }
  /// The version at the front of a section of state, each of which counts its own.
  /// - Parameters:
  ///   - oldest: the first that this build reads.
  ///   - newest: the one that it writes.
  public mutating func version(
    _ section: String, from oldest: UInt8 = 1, upTo newest: UInt8
  ) throws(StateError) -> UInt8 {
    let version = try integer(UInt8.self)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.newerVersion) { return version }
    #endif
    guard version >= oldest, version <= newest else {
      throw .version(Int(version), of: section, known: Int(oldest)...Int(newest), offset: offset - 1)
    }
    return version
  }
  public var isAtEnd: Bool { offset == bytes.count }
  /// Throws unless everything was read.
  public consuming func finish() throws(StateError) {
    guard offset == bytes.count else { throw .trailingBytes(count: bytes.count - offset) }
  }

  private mutating func take(_ count: Int) throws(StateError) -> Int {
    guard count <= bytes.count - offset else {
      throw .truncated(offset: offset, wanted: count, size: bytes.count)
    }
    defer { offset += count }
    return offset
  }
}
