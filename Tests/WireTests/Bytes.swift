/// Calls `body` with bytes that end exactly where the array does, so that the address sanitizer sees overreads.
func withBytes<R, E: Error>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
{
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
  defer { buffer.deallocate() }
  buffer.copyBytes(from: bytes)
  return try body(UnsafeRawBufferPointer(buffer))
}

/// Gives `body` a buffer of `capacity` bytes and returns the first ones, as many as it says; nil if it says nil.
func written(capacity: Int = 1_200, _ body: (UnsafeMutableRawBufferPointer) -> Int?) -> [UInt8]? {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
  defer { buffer.deallocate() }
  buffer.initializeMemory(as: UInt8.self, repeating: 0xEE)
  return body(buffer).map { Array(buffer[..<$0]) }
}
