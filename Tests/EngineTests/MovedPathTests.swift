import Congestion
import ICE
import Model
import Negotiation
import Simulation
import SyntheticPeers
import Testing

/// What is known of the path to a peer that goes on from another address: by real ICE, and by what the peer says of what arrives.
@Suite("A path after a move", .timeLimit(.minutes(2)))
struct MovedPathTests {
  private static let publisher = SocketAddress(ipv4: 192, 0, 2, 10, port: 40_000)
  private static let viewer = SocketAddress(ipv4: 192, 0, 2, 11, port: 40_000)
  private static let moved = SocketAddress(ipv4: 198, 51, 100, 7, port: 1_024)

  /// - Parameter byNAT: a NAT on the way gives it another address, else it goes over to another of its own.
  @Test(arguments: [true, false])
  func `what was learnt of the path to a viewer counts no longer at another address`(byNAT: Bool) throws {
    let room = try SimulationRoom(policy: NegotiationPolicy(usesTransportFeedback: true))
    try room.join(at: Self.publisher, publishes: true)
    let viewer = try room.join(at: Self.viewer, publishes: false) { $0.dialect.tellsArrivals = true }
    room.run(for: .seconds(4))
    let before = try #require(room.target(of: 1))
    #expect(before > 2 * BandwidthEstimator.start, "probes have shown more")

    var hasMoved = false
    room.passes = { datagram in
      if !datagram.toServer, datagram.isMedia, datagram.path.local == Self.moved { hasMoved = true }
      return true
    }
    if byNAT {
      room.nat[Self.viewer] = Self.moved
    } else {
      viewer.addAddress(Self.moved)
      room.own(Self.moved, by: viewer)
      room.run(for: .milliseconds(300))
      viewer.prefer(Self.moved, to: SimulationRoom.serverAddress)
    }
    for _ in 0..<4_000 where !hasMoved { room.run(for: .milliseconds(5)) }
    #expect(hasMoved)
    let first = try #require(room.target(of: 1))
    let share = first / BandwidthEstimator.start
    #expect(share > 0.8 && share < 1.05, "\(first) of \(BandwidthEstimator.start)")

    room.run(for: .seconds(3))
    let after = try #require(room.target(of: 1))
    #expect(after > 2 * BandwidthEstimator.start, "and is found again by probes")
    #expect(room.journal.violations == [])
  }
}
