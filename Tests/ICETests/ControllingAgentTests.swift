import Crypto
import ICE
import Model
import Testing
import Wire

@Suite("The controlling agent", .timeLimit(.minutes(2)))
struct ControllingAgentTests {
  static let mine = SocketAddress(ipv4: 192, 0, 2, 1, port: 1000)
  static let second = SocketAddress(ipv4: 192, 0, 2, 2, port: 1000)
  static let theirs = SocketAddress(ipv4: 203, 0, 113, 1, port: 7882)
  static let high = ICEPriority.candidate(.host, localPreference: 9)
  static let low = ICEPriority.candidate(.relayed, localPreference: 9)

  /// Two full agents that can reach each other directly, each made to be controlling.
  final class Two {
    var now = Instant(nanoseconds: 0)
    var first: ControllingAgent
    var other: ControllingAgent
    var random = RandomSource.seeded(state: 4)
    var output = ICEOutput()
    var datagrams = 0

    init(_ seed: UInt64) {
      random = .seeded(state: seed)
      let a = ICECredentials.generate(homeWorker: 0, random: &random)
      let b = ICECredentials.generate(homeWorker: 0, random: &random)
      first = ControllingAgent(local: a, remote: b, now: now, random: &random)
      other = ControllingAgent(local: b, remote: a, now: now, random: &random)
      first.addLocal(mine)
      other.addLocal(theirs)
      first.addRemote(theirs, priority: high)
      other.addRemote(mine, priority: high)
    }

    func run(for span: Duration) {
      let end = now + span
      while min(first.deadline, other.deadline) <= end {
        now = max(now, min(first.deadline, other.deadline))
        _ = first.poll(now: now, random: &random, output: &output)
        _ = other.poll(now: now, random: &random, output: &output)
        exchange()
      }
      now = end
    }

    private func exchange() {
      while output.count > 0 {
        let batch = (0..<output.count).map { (output.path($0), Array(output.bytes($0))) }
        output.removeAll()
        for (path, bytes) in batch {
          datagrams += 1
          let back = NetworkPath(remote: path.local, local: path.remote)
          _ = bytes.withUnsafeBytes {
            path.remote == theirs
              ? other.receive($0, path: back, now: now, random: &random, output: &output)
              : first.receive($0, path: back, now: now, random: &random, output: &output)
          }
        }
      }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `two controlling agents settle their roles by the tie-breaker, and select the same path`(seed: UInt64)
  {
    let two = Two(seed)
    two.run(for: .seconds(3))
    #expect(Set([two.first.role, two.other.role]) == [.controlling, .controlled])
    #expect(two.first.selected == NetworkPath(remote: Self.theirs, local: Self.mine))
    #expect(two.other.selected == NetworkPath(remote: Self.mine, local: Self.theirs))
    two.run(for: .seconds(100))
    #expect(two.first.selected != nil && two.other.selected != nil)
    #expect(two.datagrams < 200)
  }

  /// One agent whose datagrams are looked at.
  final class One {
    var now = Instant(nanoseconds: 0)
    var agent: ControllingAgent
    let peer = HandmadePeer()
    var random = RandomSource.seeded(state: 4)
    var output = ICEOutput()
    private(set) var sent: [(at: Instant, path: NetworkPath, bytes: [UInt8])] = []

    init(_ configuration: ControllingAgent.Configuration = .init(), knowsRemote: Bool = true) {
      agent = ControllingAgent(
        local: peer.local, remote: knowsRemote ? peer.remote : nil, configuration: configuration, now: now,
        random: &random)
    }

    @discardableResult
    func run(for span: Duration) -> [ICEPoll] {
      let end = now + span
      var events: [ICEPoll] = []
      while agent.deadline <= end {
        now = max(now, agent.deadline)
        let poll = agent.poll(now: now, random: &random, output: &output)
        if case .idle = poll {} else { events.append(poll) }
        drain()
      }
      now = end
      return events
    }

    @discardableResult
    func receive(_ bytes: [UInt8], _ path: NetworkPath) -> STUNOutcome {
      let outcome = bytes.withUnsafeBytes {
        agent.receive($0, path: path, now: now, random: &random, output: &output)
      }
      drain()
      return outcome
    }

    @discardableResult
    func answerLast(on path: NetworkPath) throws -> STUNOutcome {
      let check = try #require(
        sent.last { $0.path == path && peer.parse($0.bytes)?.messageClass == .request })
      return receive(peer.answer(to: check.bytes), path)
    }

    func last(on path: NetworkPath) -> STUNMessage? {
      sent.last { $0.path == path }.flatMap { peer.parse($0.bytes) }
    }

    private func drain() {
      for index in 0..<output.count { sent.append((now, output.path(index), Array(output.bytes(index)))) }
      output.removeAll()
    }
  }

  private func path(_ local: SocketAddress, _ port: UInt16) -> NetworkPath {
    NetworkPath(remote: Self.theirs.with(port: port), local: local)
  }

  @Test func `new checks leave fifty milliseconds apart, the best pair first`() {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addLocal(Self.second)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.low)
    one.agent.addRemote(Self.theirs.with(port: 2), priority: Self.high)
    one.run(for: .milliseconds(160))
    #expect(one.sent.map { $0.at.nanoseconds / 1_000_000 } == [0, 50, 100, 150])
    #expect(
      one.sent.map(\.path) == [
        path(Self.mine, 2), path(Self.second, 2), path(Self.mine, 1), path(Self.second, 1),
      ])
  }

  @Test func `nothing is sent before the far end's credentials are known`() {
    let one = One(knowsRemote: false)
    one.agent.addLocal(Self.mine)
    one.agent.addRemote(Self.theirs, priority: Self.high)
    #expect(one.run(for: .seconds(60)) == [])
    #expect(one.sent.isEmpty)
    one.agent.setRemote(one.peer.remote)
    one.run(for: .milliseconds(1))
    #expect(one.sent.count == 1)
  }

  @Test func `an unanswered check is repeated seven times with a doubling wait`() {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addRemote(Self.theirs, priority: Self.high)
    #expect(one.run(for: .seconds(100)) == [.failed])
    #expect(one.sent.map { $0.at.nanoseconds / 1_000_000 } == [0, 500, 1500, 3500, 7500, 15500, 31500])
  }

  @Test func `the better of two pairs is waited for a while, then the one that works is nominated`() throws {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.low)
    one.agent.addRemote(Self.theirs.with(port: 2), priority: Self.high)
    one.run(for: .milliseconds(60))
    #expect(try one.answerLast(on: path(Self.mine, 1)) == .validated(path(Self.mine, 1)))
    one.run(for: .milliseconds(299))
    #expect(one.last(on: path(Self.mine, 1))?.useCandidate == false)
    one.run(for: .milliseconds(1))
    #expect(one.last(on: path(Self.mine, 1))?.useCandidate == true)
    #expect(one.agent.selected == nil)
    #expect(try one.answerLast(on: path(Self.mine, 1)) == .selected(path(Self.mine, 1)))
  }

  @Test func `the best pair is nominated at once when it works`() throws {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.low)
    one.agent.addRemote(Self.theirs.with(port: 2), priority: Self.high)
    one.run(for: .milliseconds(60))
    try one.answerLast(on: path(Self.mine, 2))
    one.run(for: .milliseconds(50))
    #expect(one.last(on: path(Self.mine, 2))?.useCandidate == true)
  }

  @Test func `another path can be nominated later, with a higher value`() throws {
    var configuration = ControllingAgent.Configuration()
    configuration.sendsNominationValue = true
    let one = One(configuration)
    one.agent.addLocal(Self.mine)
    one.agent.addLocal(Self.second)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.high)
    one.run(for: .milliseconds(60))
    try one.answerLast(on: path(Self.second, 1))
    try one.answerLast(on: path(Self.mine, 1))
    one.run(for: .milliseconds(60))
    #expect(one.last(on: path(Self.mine, 1))?.nomination == 1)
    #expect(try one.answerLast(on: path(Self.mine, 1)) == .selected(path(Self.mine, 1)))
    let isKnown = one.agent.nominate(path(Self.second, 1))
    #expect(isKnown)
    let isStrange = one.agent.nominate(path(Self.second, 9))
    #expect(!isStrange)
    one.run(for: .milliseconds(60))
    #expect(one.agent.selected == path(Self.mine, 1))
    #expect(one.last(on: path(Self.second, 1))?.nomination == 2)
    #expect(try one.answerLast(on: path(Self.second, 1)) == .selected(path(Self.second, 1)))
  }

  @Test func `a candidate that was not announced is found by its check, and checked before all others`()
    throws
  {
    let one = One()
    one.agent.addLocal(Self.mine)
    for port in 10..<20 { one.agent.addRemote(Self.theirs.with(port: UInt16(port)), priority: Self.high) }
    one.run(for: .milliseconds(10))
    let strange = path(Self.mine, 5)
    #expect(one.receive(one.peer.check(controlling: false), strange) == .pending(strange))
    one.run(for: .milliseconds(50))
    #expect(one.sent.last?.path == strange)
    #expect(try one.answerLast(on: strange) == .validated(strange))
  }

  @Test func `answers count only from the address checked and sealed with the far end's password`() throws {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.high)
    one.run(for: .milliseconds(10))
    let check = try #require(one.sent.first?.bytes)
    #expect(one.receive(one.peer.answer(to: check), path(Self.mine, 2)) == .ignored(.wrongAddress))
    let forged = one.peer.answer(to: check, password: "wrong")
    #expect(one.receive(forged, path(Self.mine, 1)) == .ignored(.badIntegrity))
    #expect(one.receive(one.peer.check(password: "wrong"), path(Self.mine, 1)) == .ignored(.badIntegrity))
    #expect(one.sent.count == 1)
    #expect(one.receive(one.peer.answer(to: check), path(Self.mine, 1)) == .validated(path(Self.mine, 1)))
    #expect(one.receive(one.peer.answer(to: check), path(Self.mine, 1)) == .ignored(.notExpected))
  }

  @Test func `addresses of different families are never paired, and a hundred pairs are the most`() {
    let one = One()
    one.agent.addLocal(SocketAddress(high: 0x2001_0DB8 << 32, low: 1, port: 1))
    one.agent.addRemote(Self.theirs, priority: Self.high)
    one.run(for: .seconds(1))
    #expect(one.sent.isEmpty)
    for host in 0..<40 {
      one.agent.addLocal(SocketAddress(ipv4: 10, 0, 0, UInt8(host), port: 1))
      one.agent.addRemote(Self.theirs.with(port: UInt16(host + 1)), priority: Self.low)
    }
    one.run(for: .seconds(20))
    #expect(Set(one.sent.map(\.path)).count == 100)
  }

  @Test func `a client without its address goes on with another that works`() throws {
    let one = One()
    one.agent.addLocal(Self.mine)
    one.agent.addLocal(Self.second)
    one.agent.addRemote(Self.theirs.with(port: 1), priority: Self.high)
    one.run(for: .milliseconds(60))
    try one.answerLast(on: path(Self.mine, 1))
    try one.answerLast(on: path(Self.second, 1))
    one.run(for: .milliseconds(60))
    try one.answerLast(on: path(Self.mine, 1))
    #expect(one.agent.selected == path(Self.mine, 1))
    one.agent.localAddressChanged(from: Self.mine, to: Self.second)
    #expect(one.agent.selected == nil)
    one.run(for: .milliseconds(60))
    #expect(try one.answerLast(on: path(Self.second, 1)) == .selected(path(Self.second, 1)))
  }
}
