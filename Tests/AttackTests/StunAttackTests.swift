import Crypto
import ICE
import Model
import Simulation
import SyntheticPeers
import Testing

@Suite("Attack: STUN", .timeLimit(.minutes(5)))
struct StunAttackTests {
  private final class Answers {
    var count = 0
    var checks: [[UInt8]] = []
  }

  /// Counts what the server answers an address, and keeps its own checks there.
  private func listen(_ range: AttackRange, at address: SocketAddress) -> Answers {
    let answers = Answers()
    range.passes = { datagram in
      guard !datagram.toServer, datagram.path.remote == address else { return true }
      if datagram.isAnswer { answers.count += 1 }
      if datagram.isCheck { answers.checks.append(datagram.bytes) }
      return true
    }
    return answers
  }

  @Test func `STUN with wrong integrity`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let answers = listen(range, at: attacker.address)
    let (server, far) = (attacker.member.local, attacker.member.remote)
    range.inject(ForgedSTUN.check(to: server, from: far, serial: 1), from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)

    let stranger = range.address(onWorker: 0, host: 200)
    let target = range.publisher
    try withstand(range, times: 120, raising: ["stun.badIntegrity": 80, "stun.badFingerprint": 40]) { index in
      let serial = UInt64(index + 10)
      var bytes = ForgedSTUN.check(
        to: target.local, from: target.remote, serial: serial, password: "not the password at all",
        nominates: true, hasIntegrity: index % 3 != 1)
      if index % 3 == 2 { bytes[bytes.count - 1] ^= 1 }
      range.inject(bytes, from: index % 2 == 0 ? stranger : attacker.address)
    }
    #expect(range.strays.isEmpty)
  }

  @Test func `answers with wrong integrity`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    var checks: [[UInt8]] = []
    range.passes = { datagram in
      guard !datagram.toServer, datagram.isCheck, datagram.path.remote == attacker.address else {
        return true
      }
      checks.append(datagram.bytes)
      return false
    }
    for _ in 0..<100 where checks.isEmpty { range.run(for: .milliseconds(100)) }
    let check = try #require(checks.first)
    let forged = try #require(ForgedSTUN.answer(to: check, password: "not the password at all"))
    try withstand(range, times: 100, raising: ["stun.badIntegrity": 100]) { _ in
      range.inject(forged, from: attacker.address)
    }
    // The right one is still awaited, once; afterwards it is one of nothing.
    let right = try #require(ForgedSTUN.answer(to: check, password: attacker.member.remote.password))
    let before = range.reasons()
    range.inject(right, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(range.risen(since: before) == [:])
    range.inject(right, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(range.risen(since: before) == ["stun.notExpected": 1])
  }

  @Test func `STUN spraying with names that no peer has`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let answers = listen(range, at: attacker.address)
    range.inject(
      ForgedSTUN.check(to: attacker.member.local, from: attacker.member.remote, serial: 1),
      from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)
    let addresses = [0, 1].flatMap { range.addresses(onWorker: $0, host: 201, count: 200) }
    var random = RandomSource.seeded(state: 99)
    try withstand(range, times: 400, raising: ["unknownFragment": 400]) { index in
      let made = ICECredentials.generate(homeWorker: index % 2, random: &random)
      range.inject(
        ForgedSTUN.check(to: made, from: attacker.member.remote, serial: UInt64(index)),
        from: addresses[index % addresses.count])
    }
    #expect(range.strays.isEmpty)
  }

  @Test func `STUN spraying with a name that was overheard`() throws {
    let range = try AttackRange()
    let target = range.publisher
    let own = range.addresses(onWorker: 0, host: 201, count: 200)
    let others = range.addresses(onWorker: 1, host: 202, count: 200)
    let answers = listen(range, at: target.address)
    range.inject(ForgedSTUN.check(to: target.local, from: target.remote, serial: 1), from: target.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)
    func spray(_ index: Int, from addresses: [SocketAddress]) {
      range.inject(
        ForgedSTUN.check(
          to: target.local, from: target.remote, serial: UInt64(index + 2), password: "guessed, and wrong"),
        from: addresses[index % addresses.count])
    }
    try withstand(range, times: 200, raising: ["stun.badIntegrity": 200], settle: .milliseconds(600)) {
      spray($0, from: own)
    }
    // The other worker asks the peer's home for eight addresses at a time.
    let again = try AttackRange()
    let victim = again.publisher
    try withstand(
      again, times: 200, raising: ["stun.badIntegrity": 8, "checksOfOnePeer": 192], settle: .milliseconds(600)
    ) { index in
      again.inject(
        ForgedSTUN.check(
          to: victim.local, from: victim.remote, serial: UInt64(index + 2), password: "guessed, and wrong"),
        from: others[index % others.count])
    }
    #expect(range.strays.isEmpty && again.strays.isEmpty)
  }

  @Test func `amplification by valid checks from a victim's address`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let sizes = range.sizes()
    let answers = listen(range, at: attacker.address)
    let check = ForgedSTUN.check(
      to: attacker.member.local, from: attacker.member.remote, serial: 1, nominates: true)
    range.inject(check, from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)
    let victim = SocketAddress(ipv4: 198, 51, 100, 66, port: 53)
    let before = range.reasons()
    // All at one instant: twenty-five are answered, as long as three times the bytes suffice.
    for _ in 0..<100 { range.inject(check, from: victim) }
    range.run(for: .seconds(2))
    let risen = range.risen(since: before)
    #expect(risen == ["stun.rateLimited": 75])
    let gaps = range.gaps()
    #expect(gaps == [])
    range.expectTables(sizes)
    let got = try #require(range.strays[victim])
    #expect(got.isSTUNAlone && got.bytes <= 3 * 100 * check.count)
    #expect(range.risen(since: before) == ["stun.rateLimited": 75, "abandonedPaths": 1])

    // A single one, and what the server says of its own accord.
    let other = SocketAddress(ipv4: 198, 51, 100, 67, port: 53)
    range.inject(check, from: other)
    range.run(for: .seconds(100))
    let single = try #require(range.strays[other])
    #expect(single.isSTUNAlone && single.bytes <= 3 * check.count)
    guard Figures.isApart else { return }
    let growth = range.growth(after: 100, and: Figures.repeats) { _ in
      range.inject(check, from: victim)
      range.run(for: .milliseconds(1))
    } settling: {
      range.run(for: .seconds(100))
    }
    #expect(growth <= 1_048_576)
  }

  @Test func `amplification by refusals`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let (server, far) = (attacker.member.local, attacker.member.remote)
    let victim = SocketAddress(ipv4: 198, 51, 100, 66, port: 53)
    let conflict = ForgedSTUN.check(to: server, from: far, serial: 1, controlling: false)
    let answers = listen(range, at: attacker.address)
    range.inject(ForgedSTUN.check(to: server, from: far, serial: 2), from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)
    // Ten at once, ten a second.
    try withstand(
      range, times: 100, raising: ["stun.rateLimited": 90], pause: .zero
    ) { _ in
      range.inject(conflict, from: victim)
    } verifying: {
      let got = try #require(range.strays[victim])
      #expect(got.isSTUNAlone && got.datagrams == 10 && got.bytes <= 3 * 10 * conflict.count)
    }
  }

  @Test func `candidate flood`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    let answers = listen(range, at: attacker.address)
    let sizes = range.sizes()
    let (server, far) = (attacker.member.local, attacker.member.remote)
    range.inject(ForgedSTUN.check(to: server, from: far, serial: 1), from: attacker.address)
    range.run(for: .milliseconds(5))
    #expect(answers.count == 1)
    let addresses = range.addresses(onWorker: 0, host: 203, count: 100)
    let before = range.reasons()
    // Seven pairs beside the one in use; each newcomer takes the oldest one's place.
    try withstand(
      range, times: 100, raising: ["abandonedPaths": 93], growing: ["paths", "pairs"]
    ) { index in
      range.inject(
        ForgedSTUN.check(to: server, from: far, serial: UInt64(index + 2), nominates: true),
        from: addresses[index % addresses.count])
    } verifying: {
      let left = range.sizes()
      #expect(left["pairs"] == sizes["pairs"]! + 7 && left["paths"] == sizes["paths"]! + 7)
      range.expectTables(sizes)
      #expect(range.risen(since: before) == ["abandonedPaths": 100])
    }
    range.expectTables(sizes)
    #expect(range.strays.values.allSatisfy { $0.isSTUNAlone })
    #expect(attacker.member.closed == nil)
  }
}
