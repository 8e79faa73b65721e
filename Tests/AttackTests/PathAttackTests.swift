import ICE
import Model
import Simulation
import SyntheticPeers
import Testing

/// A participant's own checks, sealed with its own keys, under addresses of others.
@Suite("Attack: paths of others", .timeLimit(.minutes(5)))
struct PathAttackTests {
  @Test(arguments: [0, 1]) func `forged checks from a victim's address take no path`(worker: Int) throws {
    let range = try AttackRange()
    let attacker = try Attacker(range, worker: worker)
    let victims = [range.publisher.address, range.bystander.address]
    var serial: UInt64 = 100
    // Ten a second for each of them, with and without a nomination.
    for round in 0..<60 {
      for victim in victims {
        serial += 1
        range.inject(
          ForgedSTUN.check(
            to: attacker.member.local, from: attacker.member.remote, serial: serial,
            nominates: round % 2 == 0), from: victim)
      }
      range.run(for: .milliseconds(100))
    }
    #expect(range.gaps() == [])
    range.leave(attacker.member)
    range.run(for: .seconds(2))
    #expect(range.gaps() == [])
    #expect(range.publisher.closed == nil && range.bystander.closed == nil)
  }

  @Test(arguments: [0, 1]) func `the victim's consent outlives the forged checks`(worker: Int) throws {
    let range = try AttackRange()
    let attacker = try Attacker(range, worker: worker)
    // Longer than consent lasts without an answer.
    for round in 0..<80 {
      range.inject(
        ForgedSTUN.check(
          to: attacker.member.local, from: attacker.member.remote, serial: UInt64(round) + 500),
        from: range.bystander.address)
      range.run(for: .milliseconds(500))
    }
    #expect(range.bystander.closed == nil)
    #expect(range.gaps() == [])
  }

  @Test(arguments: [false, true])
  func `a participant that joins again from the same address has media at once`(
    movesWorker: Bool
  ) throws {
    let range = try AttackRange()
    let address = range.address(onWorker: movesWorker ? 1 : 0, host: 80)
    let first = try range.join(at: address, publishes: false, isHostile: true, watching: [range.publisher])
    range.run(for: .seconds(1))
    #expect(first.rtpReceived > 0)
    // It vanishes without a word; its peer lives on for half a minute.
    range.forget(first)
    let second = try range.join(at: address, publishes: false, isHostile: true, watching: [range.publisher])
    range.run(for: .seconds(1))
    #expect(second.peer.isConnected && second.rtpReceived > 20)
    // The first ends at last, and takes nothing along.
    range.run(for: .seconds(45))
    let before = second.rtpReceived
    range.run(for: .seconds(1))
    #expect(second.closed == nil && second.rtpReceived > before + 20)
    #expect(range.gaps() == [])
  }
}
