import Glibc
import Testing

@testable import HTTPServer

/// What waits for a TLS client, and what it takes in memory.
@Suite("Bytes that a socket hasn't taken", .timeLimit(.minutes(1)))
struct ByteQueueTests {
  /// A queue that writes to one end of a pair, and what is read at the other.
  private func with(_ body: (_ writing: Int32, _ reading: Int32) throws -> Void) throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    var size: Int32 = 4_096
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    try body(ends[0], ends[1])
  }

  @Test func `one who takes some each time and never all has no more than its share of memory`() throws {
    try with { writing, reading in
      var queue = ByteQueue()
      let more = [UInt8](repeating: 7, count: 16_384)
      var buffer = [UInt8](repeating: 0, count: 16_384)
      var (taken, wasEmpty) = (0, false)
      for _ in 0..<10_000 {
        while queue.count < 65_536 { more.withUnsafeBytes { queue.append($0) } }
        let isGood = queue.send(to: writing)
        #expect(isGood)
        let count = recv(reading, &buffer, 1_024, Int32(MSG_DONTWAIT))
        taken += max(count, 0)
        if queue.isEmpty { wasEmpty = true }
      }
      #expect(taken > 1_000_000 && !wasEmpty)
      #expect(queue.capacity <= 524_288, "\(queue.capacity) bytes for the \(queue.count) that wait")
    }
  }

  @Test func `all of it comes, in order, whatever is taken at once`() throws {
    try with { writing, reading in
      var queue = ByteQueue()
      var random = SystemRandomNumberGenerator()
      var (sent, received): ([UInt8], [UInt8]) = ([], [])
      var buffer = [UInt8](repeating: 0, count: 40_000)
      for _ in 0..<400 {
        let more = (0..<Int.random(in: 0...9_000)).map { _ in UInt8.random(in: 0...255, using: &random) }
        if queue.count < 120_000 {
          more.withUnsafeBytes { queue.append($0) }
          sent += more
        }
        let isGood = queue.send(to: writing)
        #expect(isGood)
        let count = recv(reading, &buffer, Int.random(in: 1...5_000), Int32(MSG_DONTWAIT))
        received += buffer[..<max(count, 0)]
      }
      while !queue.isEmpty || received.count < sent.count {
        let isGood = queue.send(to: writing)
        try #require(isGood)
        let count = recv(reading, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        received += buffer[..<max(count, 0)]
      }
      #expect(received == sent && queue.count == 0)
    }
  }
}
