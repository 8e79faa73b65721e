import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("Records of sessions that are lost", .timeLimit(.minutes(1)))
struct LostFlightTests {
  private func scene() throws -> (run: StateRun, ada: StateClient, peer: PeerKey) {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.audio], receivers: 1)
    return (run, ada, try #require(run.added.first))
  }

  private func isClosed(_ run: StateRun, _ peer: PeerKey) -> Bool {
    run.commands.contains { if case .close(peer) = $0 { true } else { false } }
  }

  @Test func `whose socket stays away is recorded before its media is closed`() throws {
    let (run, ada, peer) = try scene()
    ada.ask(.absent)
    run.now = run.now + .seconds(15)
    run.handle(.alarm)
    #expect(ada.member == nil && isClosed(run, peer))
    #expect(run.lost.map(\.peer) == [peer] && run.lost.map(\.of) == [ada.id])
    #expect(run.lost.allSatisfy { !$0.isClosed })
  }

  @Test func `who leaves, is removed or comes again by another socket is no failure`() throws {
    for end in [LeaveReason.left, .removed, .duplicateIdentity] {
      let (run, ada, peer) = try scene()
      if end == .duplicateIdentity { _ = try run.join("ada") } else { ada.ask(.leave(end)) }
      #expect(ada.member == nil && isClosed(run, peer))
      #expect(run.lost.isEmpty, "\(end)")
    }
  }

  @Test(arguments: [PeerCloseReason.connectionLost, .neverConnected, .handshakeFailed])
  func `what has ended by itself came with its record`(reason: PeerCloseReason) throws {
    let (run, ada, peer) = try scene()
    var events = PeerEvents(peer: peer)
    events.closed = reason
    run.handle(.media(events))
    #expect(ada.member == nil && run.lost.isEmpty)
  }
}
