import Model
import Testing

@testable import Transport

@Suite("A first flight before its path is proven", .timeLimit(.minutes(2)))
struct HeldFlightTests {
  let now = Instant(nanoseconds: 5)

  func path(_ port: UInt16) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, 1, port: port), local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
  }
  func hold(_ held: inout HeldFlight, _ size: Int, _ port: UInt16 = 1, at now: Instant) -> Bool {
    [UInt8](repeating: UInt8(size % 256), count: size).withUnsafeBytes {
      held.hold($0, path: path(port), now: now)
    }
  }

  @Test func `four datagrams, six thousand bytes, and no more`() {
    var many = HeldFlight()
    for _ in 0..<4 { #expect(hold(&many, 10, at: now)) }
    #expect(!hold(&many, 10, at: now))
    var large = HeldFlight()
    #expect(hold(&large, 4_000, at: now))
    #expect(!hold(&large, 2_001, at: now))
    #expect(hold(&large, 2_000, at: now))
  }

  @Test func `each path gets its own, in order, and makes room`() {
    var held = HeldFlight()
    for (size, port) in [(1, 1), (2, 2), (3, 1), (4, 1)] as [(Int, UInt16)] {
      #expect(hold(&held, size, port, at: now))
    }
    let first = held.take(path(1))
    #expect(first.map(\.count) == [1, 3, 4])
    #expect(held.deadline != .never)
    for _ in 0..<3 { #expect(hold(&held, 1_999, at: now)) }
    #expect(!hold(&held, 1, at: now))
    let other = held.take(path(2))
    #expect(other == [[2, 2]])
    let again = held.take(path(2))
    #expect(again == [])
  }

  @Test func `the time counts from the first`() {
    var held = HeldFlight()
    #expect(held.deadline == .never)
    #expect(hold(&held, 1, at: now))
    #expect(hold(&held, 1, at: now + .seconds(2)))
    #expect(held.deadline == now + .seconds(3))
    held.discard()
    #expect(held.deadline == .never)
    #expect(hold(&held, 1, at: now + .seconds(9)))
    #expect(held.deadline == now + .seconds(12))
  }
}
