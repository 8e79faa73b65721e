import CSystem
import Glibc
import Model
import Peer
import Testing
import Transport

@testable import Engine

/// What leaves in one call.
extension SocketTests {
  @Test func `runs of one size to one path leave as one send, in order, whatever is mixed`() throws {
    let near = try Near()
    let ends = try (0..<5).map { _ in try FarSocket(Self.loopback(1)) }
    var random = RandomSource.seeded(state: 4)
    var expected = Array(repeating: [[UInt8]](), count: 5)
    for round in 0..<6 {
      for number in 0..<170 {
        let end = Int(random.next() % 5)
        // Mostly full packets, some smaller, some larger than those before.
        let size = [1_100, 1_100, 1_100, 1_100, 300, 1_300][Int(random.next() % 6)]
        let bytes = [UInt8(round), UInt8(number)] + Array(repeating: UInt8(size / 10 % 251), count: size - 2)
        expected[end].append(bytes)
        near.queue(
          bytes,
          NetworkPath(remote: ends[end].address, local: Self.loopback(1, port: near.port)))
      }
      near.send()
    }
    for (end, datagrams) in zip(ends, expected) {
      for datagram in datagrams {
        let got = end.receive()
        if got?.bytes != datagram {
          Issue.record("a datagram is missing, changed or out of order")
          return
        }
      }
      #expect(end.receive(waits: false) == nil)
    }
    let statistics = near.statistics
    #expect(statistics.datagrams == 6 * 170)
    #expect(statistics.calls == 6)
    #expect(statistics.segmented > 300)
    #expect(statistics.droppedBufferFull == 0 && statistics.droppedUnreachable == 0)
  }

  @Test func `paths that differ in the asked address alone are not mixed`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    for number in 0..<10 as Range<UInt8> {
      near.queue(
        [number, 0, 0],
        NetworkPath(remote: far.address, local: Self.loopback(1 + number % 2, port: near.port)))
    }
    near.send()
    var numbers: [UInt8: [UInt8]] = [:]
    for _ in 0..<10 {
      let got = try #require(far.receive())
      numbers[UInt8(got.from.ipv4 & 0xFF), default: []].append(got.bytes[0])
    }
    #expect(numbers == [1: [0, 2, 4, 6, 8], 2: [1, 3, 5, 7, 9]])
  }

  @Test func `more than a hundred segments are several sends`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    let path = NetworkPath(remote: far.address, local: Self.loopback(1, port: near.port))
    for number in 0..<150 as Range<UInt8> { near.queue(Array(repeating: number, count: 1_200), path) }
    near.send()
    for number in 0..<150 as Range<UInt8> { #expect(far.receive()?.bytes.first == number) }
    let statistics = near.statistics
    #expect(statistics.segmented == 150 && statistics.calls == 1)
  }

  @Test func `more paths than a call takes are several calls`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    for number in 0..<600 {
      near.queue(
        [UInt8(number % 256)],
        NetworkPath(
          remote: far.address,
          local: SocketAddress(
            ipv4: 127, 0, UInt8(1 + number / 200), UInt8(1 + number % 200), port: near.port)))
    }
    near.send()
    for number in 0..<600 { #expect(far.receive()?.bytes == [UInt8(number % 256)]) }
    #expect(near.statistics.calls == 3)
  }

  @Test func `what can't be sent is counted and holds up nothing`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    let good = NetworkPath(remote: far.address, local: Self.loopback(1, port: near.port))
    // An address of ours that we don't have.
    let bad = NetworkPath(remote: far.address, local: SocketAddress(ipv4: 203, 0, 113, 9, port: near.port))
    near.queue([1], good)
    for _ in 0..<3 { near.queue([2], bad) }
    near.queue([3], good)
    near.send()
    #expect(far.receive()?.bytes == [1])
    #expect(far.receive()?.bytes == [3])
    #expect(near.statistics.datagrams == 2)
    #expect(near.statistics.droppedUnreachable == 3)
    // The outbox is empty and works.
    near.queue([4], good)
    near.send()
    #expect(far.receive()?.bytes == [4])
  }
}
