// Numbers in network order, at any alignment. Bounds are the caller's: a parser checks them once, then loads.

extension UnsafeRawPointer {
  @inlinable @inline(__always)
  public func loadBigEndian<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  @inlinable @inline(__always)
  public func byte(at offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}

extension UnsafeMutableRawPointer {
  @inlinable @inline(__always)
  public func storeBigEndian<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
  }

  @inlinable @inline(__always)
  public func store(byte: UInt8, at offset: Int) {
    storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }
}
