import Model
import Simulation
import SyntheticPeers
import Testing

@Suite("Attack: ICE restarts", .timeLimit(.minutes(5)))
struct RestartAttackTests {
  @Test func `ICE restart storm`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    // Of restarts in a row the last one's fragment serves as well as the new one.
    range.restartICEUnheard(attacker.member)
    try range.restartICE(attacker.member)
    range.run(for: .seconds(1))
    #expect(range.done().restarts == 2)
    try attacker.publish(.audio)

    var restarts: UInt64 = 2
    // Ten at a time, before a single one can be used; then the last is.
    try withstand(range, times: 10, raising: [:], settle: .seconds(1), repeats: Figures.slowRepeats) { _ in
      for _ in 0..<9 { range.restartICEUnheard(attacker.member) }
      try range.restartICE(attacker.member)
      restarts += 10
      range.run(for: .milliseconds(100))
    }
    #expect(range.done().restarts == restarts)
    #expect(attacker.member.closed == nil && attacker.member.peer.isConnected)
    try attacker.publish(.audio)
  }

  @Test func `ICE restarts that are never used`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let used = (attacker.member.local, attacker.member.remote)
    let isDeaf = range.now
    // Its far end's checks under new names don't come; those under the name in use still count.
    range.passes = { datagram in
      !(datagram.path.remote == attacker.address && datagram.isSTUN && range.now > isDeaf)
    }
    let sizes = range.sizes()
    for _ in 0..<20 { try range.restartICE(attacker.member) }
    range.run(for: .milliseconds(50))
    let before = range.reasons()
    var isAnswered = false
    range.passes = { datagram in
      if datagram.path.remote == attacker.address, !datagram.toServer, datagram.isAnswer { isAnswered = true }
      return true
    }
    attacker.member.peer.close()
    range.inject(ForgedSTUN.check(to: used.0, from: used.1, serial: 1), from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(isAnswered && range.risen(since: before) == [:])
    let left = range.sizes()
    // The one in use, the last and the new one.
    #expect(left["fragments"] == sizes["fragments"]! + 2)
    let gaps = range.gaps()
    #expect(gaps == [])
  }

  @Test func `old credentials after a restart`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let old = (attacker.member.local, attacker.member.remote)
    var answers = 0
    range.passes = { datagram in
      if datagram.path.remote == attacker.address, !datagram.toServer, datagram.isAnswer { answers += 1 }
      return true
    }
    range.inject(ForgedSTUN.check(to: old.0, from: old.1, serial: 1), from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers == 1)
    try range.restartICE(attacker.member)
    range.run(for: .seconds(1))
    answers = 0
    let stranger = range.address(onWorker: 0, host: 200)
    try withstand(range, times: 200, raising: ["stun.unknownUfrag": 200], settle: .milliseconds(5)) { index in
      range.inject(
        ForgedSTUN.check(to: old.0, from: old.1, serial: UInt64(index + 2), nominates: true),
        from: index % 2 == 0 ? stranger : attacker.address)
    }
    #expect(range.strays.isEmpty)
    // Under the new ones it is heard.
    answers = 0
    range.inject(
      ForgedSTUN.check(to: attacker.member.local, from: attacker.member.remote, serial: 1),
      from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers >= 1)
    try attacker.publish(.audio)
  }
}
