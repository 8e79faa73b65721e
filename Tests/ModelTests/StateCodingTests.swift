import Model
import Testing

@Suite("State as bytes", .timeLimit(.minutes(2)))
struct StateCodingTests {
  @Test func `what was written is read in the same order`() throws {
    let path = NetworkPath(
      remote: SocketAddress(high: 1, low: 2, port: 3, scope: 4),
      local: SocketAddress(ipv4: 192, 0, 2, 1, port: 9))
    var writer = StateWriter()
    writer.write(Int64.min)
    writer.write(UInt16(0xABCD))
    writer.write(true)
    writer.write(-0.0)
    writer.write(Instant.never)
    writer.write("žluťoučký")
    writer.write([UInt8]())
    writer.write(path)
    var reader = StateReader(writer.bytes)
    #expect(try reader.integer(Int64.self) == .min)
    #expect(try reader.integer(UInt16.self) == 0xABCD)
    #expect(try reader.bool())
    #expect(try reader.double().sign == .minus)
    #expect(try reader.instant() == .never)
    #expect(try reader.string(limit: 64) == "žluťoučký")
    #expect(try reader.array(limit: 0) == [])
    #expect(try reader.path() == path)
    try reader.finish()
  }

  @Test func `numbers are little-endian whatever the machine`() {
    var writer = StateWriter()
    writer.write(UInt32(0x0102_0304))
    #expect(writer.bytes == [4, 3, 2, 1])
  }

  @Test func `a field beyond the end names where it would have been`() {
    var reader = StateReader([1, 2, 3])
    #expect(throws: StateError.truncated(offset: 0, wanted: 4, size: 3)) { try reader.integer(UInt32.self) }
    // A refused read takes nothing.
    #expect(throws: Never.self) { try reader.integer(UInt16.self) }
    #expect(throws: StateError.truncated(offset: 2, wanted: 2, size: 3)) { try reader.integer(UInt16.self) }
  }

  @Test func `lengths are checked against the limit before anything is taken`() {
    var long = StateReader([0xFF, 0xFF, 0xFF, 0xFF, 0])
    #expect(throws: StateError.invalid(field: "length 4294967295 over 10", offset: 0)) {
      try long.array(limit: 10)
    }
    var short = StateReader([5, 0, 0, 0, 1, 2])
    #expect(throws: StateError.truncated(offset: 4, wanted: 5, size: 6)) { try short.array(limit: 10) }
    var count = StateReader([11, 0, 0, 0])
    #expect(throws: StateError.invalid(field: "count 11 over 10", offset: 0)) { try count.count(limit: 10) }
  }

  @Test func `a bool is 0 or 1, and text is UTF-8`() {
    var bool = StateReader([2])
    #expect(throws: StateError.invalid(field: "bool", offset: 0)) { try bool.bool() }
    var text = StateReader([2, 0, 0, 0, 0xC3, 0x28])
    #expect(throws: StateError.invalid(field: "UTF-8", offset: 0)) { try text.string(limit: 9) }
  }

  @Test func `bytes left over are refused`() {
    let reader = StateReader([1])
    do throws(StateError) {
      try reader.finish()
      Issue.record("accepted")
    } catch {
      #expect(error == .trailingBytes(count: 1))
    }
  }
}
