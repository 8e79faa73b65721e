import ICE
import Model
import Testing

@Suite("State as a value", .timeLimit(.minutes(2)))
struct StateTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)

  @Test func `an agent read from its state goes on in the middle of everything`() throws {
    let peer = HandmadePeer()
    try peer.rebuild()
    peer.receive(peer.check(useCandidate: true), a)
    try peer.rebuild()
    // The open check, the waiting nomination.
    #expect(try peer.answerFirstCheck(on: a) == .selected(a))
    try peer.rebuild()
    #expect(peer.agent.selected == a)
    peer.run(for: .seconds(7))
    try peer.rebuild()
    // The open consent check.
    #expect(peer.receive(peer.answer(to: try #require(peer.checks(to: a).last)), a) == .consentRefreshed)
    let renewed = peer.now
    try peer.rebuild()
    peer.receive(peer.check(useCandidate: true), b)
    try peer.rebuild()
    #expect(peer.hasValidCheck(b))
    peer.now = renewed + .seconds(30)
    #expect(peer.poll() == [.expired(a)])
  }

  @Test func `what was counted against an address is still counted afterwards`() throws {
    let peer = HandmadePeer()
    let request = peer.check()
    peer.receive(request, a)
    for _ in 0..<20 {
      peer.run(for: .milliseconds(500))
      try peer.rebuild()
    }
    #expect(peer.sent.reduce(0) { $0 + $1.bytes.count } <= 3 * request.count)
    #expect(peer.checks(to: a).count == 2)
  }

  @Test func `both credentials of a restart survive, and trust is not given twice`() throws {
    let peer = HandmadePeer(verify: .onChange)
    let old = peer.local
    peer.receive(peer.check(useCandidate: true), a)
    let new = ICECredentials(ufrag: "a01newnewnewnew", password: "newnewnewnewnewnewnewnew")
    peer.agent.restart(local: new, remote: peer.remote)
    try peer.rebuild()
    #expect(peer.agent.local == new)
    #expect(peer.receive(peer.check(), a) == .answered)
    #expect(peer.receive(peer.check(), b) == .pending(b))
    peer.local = new
    #expect(peer.receive(peer.check(), a) == .validated(a))
    try peer.rebuild()
    #expect(peer.receive(peer.check(), b) == .pending(b))
    peer.local = old
    #expect(peer.receive(peer.check(useCandidate: true), a) == .answered)
  }

  @Test func `a nomination seen before is known afterwards`() throws {
    let peer = HandmadePeer()
    try peer.validate(a)
    let first = peer.check(useCandidate: true)
    peer.receive(first, a)
    try peer.validate(b, useCandidate: true)
    try peer.rebuild()
    #expect(peer.receive(first, a) == .answered)
    #expect(peer.agent.selected == b)
  }

  @Test func `state cut anywhere, or of another version, is refused`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.agent.restart(local: peer.local, remote: peer.remote)
    let state = peer.state()
    for size in 0..<state.count {
      var reader = StateReader(Array(state.prefix(size)))
      var isRefused = false
      do { _ = try ServerAgent(from: &reader) } catch { isRefused = true }
      #expect(isRefused, "\(size) bytes")
    }
    var reader = StateReader([99] + state.dropFirst())
    #expect(throws: StateError.version(99, of: "server agent", known: 3...4, offset: 0)) {
      _ = try ServerAgent(from: &reader)
    }
  }

  @Test func `damaged state is refused or leads to an agent that doesn't trap`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.receive(peer.check(), b)
    let state = peer.state()
    var random = RandomSource.seeded(state: 21)
    var output = ICEOutput()
    for _ in 0..<2_000 {
      var damaged = state
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var reader = StateReader(damaged)
      guard var agent = try? ServerAgent(from: &reader) else { continue }
      _ = agent.poll(now: peer.now, random: &random, output: &output)
      for path in [a, b] {
        _ = peer.check(useCandidate: true).withUnsafeBytes {
          agent.receive($0, path: path, now: peer.now, random: &random, output: &output)
        }
      }
      output.removeAll()
    }
  }
}
