import Media
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport

@testable import Engine

/// What comes in one turn of a worker is served at its end, subscriber by subscriber.
@Suite("The turn of a worker", .timeLimit(.minutes(2)))
struct TurnTests {
  /// A publisher and subscribers, connected, and the publisher's media of that time still on the cable.
  private func room(subscribers: Int, workers: Int = 1, holding span: Duration) throws -> (
    room: SimulationRoom, held: [SimulationRoom.Datagram]
  ) {
    let room = try SimulationRoom(workers: workers)
    let publisher = room.address(onWorker: 0, host: 20)
    try room.join(at: publisher, publishes: true)
    for number in 0..<subscribers {
      let address = room.address(onWorker: number % workers, host: UInt8(30 + number))
      try room.join(at: address, publishes: false) {
        $0.audioReceivers = 1
        $0.videoReceivers = 1
      }
    }
    room.run(for: .seconds(2))
    var held: [SimulationRoom.Datagram] = []
    room.passes = { datagram in
      guard datagram.toServer, datagram.isMedia, datagram.path.remote == publisher else {
        return true
      }
      held.append(datagram)
      return false
    }
    room.run(for: span)
    room.passes = { _ in true }
    return (room, held)
  }

  @Test func `what comes in one turn leaves subscriber by subscriber`() throws {
    let (room, held) = try room(subscribers: 4, holding: .milliseconds(200))
    let before = room.seen.count
    room.release(held)
    room.run(for: .milliseconds(3))
    let sent = room.seen[before...].filter {
      !$0.toServer && $0.isMedia && !(192...223).contains($0.bytes[1])
    }
    #expect(sent.count >= 60)
    var changes = 0
    for (one, next) in zip(sent, sent.dropFirst()) where one.path.local != next.path.local { changes += 1 }
    // Two tracks and four subscribers, twice where a report comes between; packet by packet it would be each time.
    #expect(changes <= 16)
    #expect(room.journal.violations == [])
  }

  @Test(arguments: [1, 2]) func `a turn that brings more than may wait loses nothing`(workers: Int) throws {
    let (room, held) = try room(subscribers: 2, workers: workers, holding: .seconds(4))
    #expect(held.count > 4 * FreshPackets.limit)
    let before = (1...2).map { room.peers[$0].packetsReceived(of: 0) }
    room.release(held)
    room.run(for: .seconds(1))
    let media = held.filter { !(192...223).contains($0.bytes[1]) }.count
    for number in 1...2 { #expect(room.peers[number].packetsReceived(of: 0) - before[number - 1] >= media) }
    #expect(room.dropped(SessionDrop.tooLateToLeave) == 0 && room.dropped(.sealRefused) == 0)
    #expect(room.journal.violations == [])
  }

  @Test func `what a publisher sent before a subscriber left goes to the others`() throws {
    let (room, held) = try room(subscribers: 2, holding: .milliseconds(100))
    let before = room.peers[2].packetsReceived(of: 0)
    room.release(held)
    room.server.bridge.post(.close(room.keys[1]))
    room.run(for: .milliseconds(20))
    #expect(room.peers[2].packetsReceived(of: 0) > before)
    #expect(room.closeReason(room.peers[1]) == .requested && room.journal.violations == [])
  }
}
