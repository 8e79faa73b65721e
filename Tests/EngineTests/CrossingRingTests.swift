import Foundation
import Model
import Testing

@testable import Engine

@Suite("The ring between two workers", .timeLimit(.minutes(2)))
struct CrossingRingTests {
  struct Head: BitwiseCopyable {
    var number: UInt64
    var size: UInt64
  }

  /// A ring that is freed with its test.
  final class Ring: Sendable {
    let ring: CrossingRing
    init(_ size: Int, header: Int = MemoryLayout<Head>.size) {
      ring = CrossingRing(size: size, headerSize: header)
    }
    deinit { ring.deallocate() }

    func write(_ number: UInt64, size: Int) -> Bool {
      var head = Head(number: number, size: UInt64(size))
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: Int(number) &+ $0) }
      return bytes.withUnsafeBytes { payload in
        withUnsafeBytes(of: &head) { head in
          head.baseAddress.map { ring.write(header: $0, payload: payload) } ?? false
        }
      }
    }

    /// Takes the next record and checks every byte of it.
    func read() -> UInt64? {
      guard let record = ring.peek() else { return nil }
      let head = record.header.load(as: Head.self)
      #expect(record.payload.count == Int(head.size))
      for index in record.payload.indices
      where record.payload[index] != UInt8(truncatingIfNeeded: Int(head.number) &+ index) {
        Issue.record("record \(head.number) differs at \(index)")
        break
      }
      ring.advance(past: record)
      return head.number
    }
  }

  @Test func `records come out as they went in, an empty payload too`() {
    let ring = Ring(4_096)
    #expect(ring.ring.isEmpty && ring.read() == nil)
    for (number, size) in [0, 1, 7, 8, 9, 1_200].enumerated() {
      #expect(ring.write(UInt64(number), size: size))
    }
    #expect(!ring.ring.isEmpty)
    for number in 0..<6 as Range<UInt64> { #expect(ring.read() == number) }
    #expect(ring.ring.isEmpty && ring.read() == nil)
  }

  @Test func `what lies in it stays until it is given back`() throws {
    let ring = Ring(4_096)
    #expect(ring.write(1, size: 5))
    let first = try #require(ring.ring.peek())
    let again = try #require(ring.ring.peek())
    #expect(first.payload.baseAddress == again.payload.baseAddress)
  }

  @Test func `full refuses, room comes back in order`() {
    let ring = Ring(4_096)
    var written: UInt64 = 0
    while ring.write(written, size: 1_000) { written += 1 }
    // 8 bytes of length, 16 of header and 1,000 are a quarter of it.
    #expect(written == 4)
    #expect(!ring.write(99, size: 1_000))
    #expect(ring.read() == 0)
    #expect(ring.write(written, size: 900))
    for number in 1...written { #expect(ring.read() == number) }
    #expect(ring.read() == nil)
  }

  @Test func `a record larger than the ring is refused and harms nothing`() {
    let ring = Ring(4_096)
    #expect(!ring.write(1, size: 4_096))
    #expect(!ring.write(1, size: 1 << 20))
    #expect(ring.write(2, size: 4_000))
    #expect(ring.read() == 2)
  }

  @Test func `sizes that never divide the ring wrap for ever`() {
    let ring = Ring(4_096)
    var random = RandomSource.seeded(state: 3)
    var waiting: [UInt64] = []
    var next: UInt64 = 0
    var refused = 0
    for _ in 0..<50_000 {
      if random.next() % 2 == 0 {
        if ring.write(next, size: Int(random.next() % 1_500)) { waiting.append(next) } else { refused += 1 }
        next += 1
      } else {
        #expect(ring.read() == (waiting.isEmpty ? nil : waiting.removeFirst()))
      }
    }
    #expect(refused > 100)
  }

  @Test func `a header of any size is read no further than it goes`() {
    for size in 1...17 {
      let ring = CrossingRing(size: 4_096, headerSize: size)
      defer { ring.deallocate() }
      let header = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
      defer { header.deallocate() }
      for index in header.indices { header[index] = UInt8(index + 1) }
      guard let base = header.baseAddress else { return }
      #expect(ring.write(header: base, payload: UnsafeRawBufferPointer(header)))
      let record = ring.peek()
      #expect(record.map { Array($0.payload) } == Array(1...UInt8(size)))
      #expect(record?.header.load(fromByteOffset: size - 1, as: UInt8.self) == UInt8(size))
    }
  }

  @Test func `two threads pass records of random sizes`() async {
    let ring = Ring(16_384)
    let total: UInt64 = 30_000
    let writer = Thread {
      var random = RandomSource.seeded(state: 8)
      for number in 0..<total {
        let size = Int(random.next() % 1_400)
        while !ring.write(number, size: size) { Thread.sleep(forTimeInterval: 0.000_01) }
      }
    }
    writer.start()
    let inOrder = await Task.detached {
      for number in 0..<total {
        var read = ring.read()
        while read == nil {
          await Task.yield()
          read = ring.read()
        }
        if read != number { return false }
      }
      return true
    }.value
    #expect(inOrder)
    #expect(ring.ring.isEmpty)
  }
}
