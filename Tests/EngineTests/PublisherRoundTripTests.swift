import Model
import Simulation
import Testing

@testable import Engine

/// Who gets nothing reports on nothing: checks of the path say how long the way to it is, by which lost packets are asked for again.
@Suite("The round trip of one who gets nothing", .timeLimit(.minutes(2)))
struct PublisherRoundTripTests {
  @Test func `a publisher's path is measured, and one that hears others has what its reports say`() throws {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 1), publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), publishes: false)
    room.run(for: .seconds(12))
    let found = room.explain(MediaQuestion(peers: room.keys, tracks: [])).peers
    #expect(found.count == 2)
    // The cable takes a millisecond each way.
    for peer in found { #expect(peer.roundTrip < .milliseconds(20), "\(peer.peer): \(peer.roundTrip)") }
  }
}
