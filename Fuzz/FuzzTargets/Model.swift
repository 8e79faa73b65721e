import Model

/// What was read as an address and written again reads as the same address.
func fuzzSocketAddress(_ input: UnsafeRawBufferPointer) {
  guard let text = String(validating: input, as: UTF8.self),
    let address = SocketAddress(host: text, port: 7882)
  else { return }
  check(SocketAddress(host: address.host, port: 7882) == address, "an address survives being written")
}

/// A reader gives up at the end of the bytes, never beyond it. The first byte of each step says what to read.
func fuzzState(_ input: UnsafeRawBufferPointer) {
  var reader = StateReader(Array(input))
  do {
    while reader.offset < input.count {
      switch try reader.integer(UInt8.self) % 6 {
      case 0: _ = try reader.bool()
      case 1: _ = try reader.double()
      case 2: _ = try reader.string(limit: 64)
      case 3: _ = try reader.array(limit: 64)
      case 4: _ = try reader.count(limit: 1000)
      default: _ = try reader.path()
      }
      check(reader.offset <= input.count, "a reader stays inside")
    }
    try reader.finish()
  } catch {
    // Refusing is what most inputs deserve.
  }
}
