import Model
import Simulation
import SyntheticPeers
import Testing

@Suite("Attack: churn", .timeLimit(.minutes(5)))
struct ChurnAttackTests {
  @Test(arguments: [0, 1])
  func `join and leave churn`(worker: Int) throws {
    let range = try AttackRange()
    let address = range.address(onWorker: worker, host: 68)
    // A peer that comes and stays gets what it asks for.
    let visitor = try range.join(at: address, isHostile: true, watching: [range.publisher])
    range.run(for: .seconds(1))
    #expect(visitor.peer.isConnected && visitor.rtpReceived > 20)
    range.leave(visitor)
    try withstand(
      range, times: 10, raising: ["ended.requested": 10], besides: ["unknownPath", "sendWithoutPath"],
      repeats: Figures.slowRepeats
    ) { _ in
      let visitor = try range.join(at: address, isHostile: true, watching: [range.publisher])
      range.run(for: .milliseconds(30))
      range.leave(visitor)
    }
  }

  @Test func `participants that join and never connect`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    let visitor = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(50))
    #expect(visitor.peer.isConnected)
    range.leave(visitor)
    try withstand(
      range, times: 20, raising: ["ended.neverConnected": 20], settle: .seconds(31), repeats: 200
    ) { _ in
      let hostile = try range.join(at: address, isHostile: true)
      range.forget(hostile)
    }
  }
}
