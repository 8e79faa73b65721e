import ICE
import Model
import Testing

@Suite("The server's agent: a peer that moves without nominating again", .timeLimit(.minutes(2)))
struct PathChallengeTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)
  let c = HandmadePeer.path(3000)

  /// A peer in use on `a` whose check has just been proven on `b`.
  private func moved(selectedRoundTrip: Duration = .zero) throws -> HandmadePeer {
    let peer = HandmadePeer()
    peer.receive(peer.check(useCandidate: true), a)
    peer.now = peer.now + selectedRoundTrip
    try peer.answerFirstCheck(on: a)
    peer.run(for: .seconds(1)) { _ in true }
    #expect(try peer.validate(b) == .validated(b))
    #expect(peer.agent.selected == a)
    peer.clearSent()
    return peer
  }

  @Test func `it is followed within a tenth of a second, once three checks on the old path are unanswered`()
    throws
  {
    let peer = try moved()
    #expect(peer.run(for: .milliseconds(99)) == [])
    #expect(peer.checks(to: a).count == 3)
    #expect(peer.run(for: .milliseconds(1)) == [.selected(b)])
    #expect(peer.agent.selected == b)
    #expect(peer.run(for: .seconds(29)) { $0 == b } == [])
  }

  @Test(arguments: 0..<3)
  func `one answer on the old path leaves everything as it was`(answered: Int) throws {
    let peer = try moved()
    var seen = 0
    let events = peer.run(for: .seconds(20)) { path in
      guard path == a else { return true }
      defer { seen += 1 }
      return seen >= answered
    }
    #expect(events == [])
    #expect(peer.agent.selected == a)
  }

  @Test func `an answer to a check from before doesn't count`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.now = peer.agent.deadline
    peer.poll()
    let early = try #require(peer.checks(to: a).last)
    peer.now = peer.now + .milliseconds(10)
    try peer.validate(b)
    peer.now = peer.now + .milliseconds(10)
    #expect(peer.receive(peer.answer(to: early), a) == .consentRefreshed)
    #expect(peer.run(for: .milliseconds(100)) == [.selected(b)])
  }

  @Test func `an answer that comes by the new path doesn't speak for the old one`() throws {
    let peer = try moved()
    peer.poll()
    let own = try #require(peer.checks(to: a).first)
    #expect(peer.receive(peer.answer(to: own), b) == .ignored(.wrongAddress))
    #expect(peer.run(for: .milliseconds(100)) == [.selected(b)])
  }

  @Test func `the old path has four round trips to answer, two seconds at most`() throws {
    for (roundTrip, wait) in [(0, 100), (100, 400), (10_000, 2000)] as [(Int64, Int64)] {
      let peer = try moved(selectedRoundTrip: .milliseconds(roundTrip))
      let start = peer.now
      #expect(peer.run(for: .milliseconds(wait - 1)) == [])
      #expect(peer.run(for: .milliseconds(1)) == [.selected(b)])
      #expect(peer.now == start + .milliseconds(wait))
    }
  }

  @Test func `it may go back the same way, and on to a third`() throws {
    let peer = try moved()
    #expect(peer.run(for: .milliseconds(100)) == [.selected(b)])
    peer.receive(peer.check(), a)
    #expect(peer.run(for: .milliseconds(100)) == [.selected(a)])
    try peer.validate(c)
    #expect(peer.run(for: .milliseconds(100)) == [.selected(c)])
    #expect(peer.agent.selected == c)
  }

  @Test func `a check on the old path alone, repeated from before, doesn't turn the choice back`() throws {
    let peer = HandmadePeer()
    let nominating = peer.check(useCandidate: true)
    peer.receive(nominating, a)
    try peer.answerFirstCheck(on: a)
    try peer.validate(b)
    #expect(peer.run(for: .milliseconds(100)) { $0 == b } == [.selected(b)])
    peer.receive(nominating, a)
    #expect(peer.run(for: .seconds(3)) { $0 == b } == [])
    #expect(peer.agent.selected == b)
  }

  @Test func `a nomination settles it at once`() throws {
    let peer = try moved()
    peer.poll()
    #expect(peer.receive(peer.check(useCandidate: true), b) == .selected(b))
    #expect(peer.run(for: .seconds(1)) { _ in true } == [])
    // Neither is the choice undone by the nomination of before.
    #expect(peer.receive(peer.check(), a) == .answered)
    #expect(peer.run(for: .seconds(1)) { $0 == b } == [])
    #expect(peer.agent.selected == b)
  }

  @Test func `a check from an unproven path asks nothing`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.run(for: .milliseconds(100))
    peer.clearSent()
    #expect(peer.receive(peer.check(), b) == .pending(b))
    #expect(peer.run(for: .seconds(3)) == [])
    #expect(peer.checks(to: a).isEmpty)
    #expect(peer.agent.selected == a)
  }

  @Test func `a storm of checks on another path asks for three at a time`() throws {
    let peer = try moved()
    for _ in 0..<200 {
      peer.receive(peer.check(), b)
      peer.run(for: .milliseconds(1)) { _ in false }
    }
    #expect(peer.checks(to: a).count == 3)
  }

  // MARK: Media from the new address

  @Test func `a peer that sends media from there is followed at once, and stays if the old path is silent`()
    throws
  {
    let peer = try moved()
    #expect(peer.media(b))
    #expect(peer.agent.selected == b)
    #expect(!peer.media(b))
    #expect(peer.run(for: .seconds(29)) { $0 == b } == [])
    #expect(peer.agent.selected == b)
    // Of the old path it was asked whether that was right; then it is kept like any other.
    let asked = peer.checks(to: a).count
    #expect(asked >= 3 && asked < 12)
  }

  @Test func `media moves nothing without a valid check from there, nor from a third address`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    #expect(!peer.media(b))
    peer.receive(peer.check(), b)
    #expect(!peer.media(b), "a check alone proves no address")
    try peer.validate(c)
    #expect(peer.agent.selected == a)
    #expect(!peer.media(b))
    #expect(peer.media(c))
  }

  @Test(arguments: 0..<3)
  func `an answer on the old path takes it back, and that trick works once`(answered: Int) throws {
    let peer = try moved()
    #expect(peer.media(b))
    var seen = 0
    let answering = { (path: NetworkPath) in
      guard path == self.a else { return true }
      defer { seen += 1 }
      return seen >= answered
    }
    peer.run(for: .milliseconds(99), answering: answering)
    #expect(peer.agent.selected == a)
    // Checks and media from there go on: the peer answers where it is, so nothing moves.
    for _ in 0..<20 {
      peer.receive(peer.check(), b)
      #expect(!peer.media(b))
      peer.run(for: .milliseconds(200)) { _ in true }
      #expect(peer.agent.selected == a)
    }
    // Silence is still believed.
    peer.receive(peer.check(), b)
    #expect(peer.run(for: .milliseconds(100)) { $0 == b } == [.selected(b)])
    // And having been right, it is followed again.
    try peer.validate(c)
    #expect(peer.run(for: .milliseconds(100)) { $0 == c } == [.selected(c)])
    peer.receive(peer.check(), b)
    #expect(peer.media(b))
  }

  @Test func `an answer to a check from before takes nothing back`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.now = peer.agent.deadline
    peer.poll()
    let early = try #require(peer.checks(to: a).last)
    peer.now = peer.now + .milliseconds(10)
    try peer.validate(b)
    #expect(peer.media(b))
    peer.now = peer.now + .milliseconds(10)
    #expect(peer.receive(peer.answer(to: early), a) == .consentRefreshed)
    #expect(peer.agent.selected == b)
  }

  @Test func `a move that is taken back selects the old path again, and its nomination with it`() throws {
    let peer = try moved()
    #expect(peer.media(b))
    peer.poll()
    let own = try #require(peer.checks(to: a).first)
    #expect(peer.receive(peer.answer(to: own), a) == .selected(a))
    // Neither path's old nomination turns the choice again.
    #expect(peer.receive(peer.check(), b) == .answered)
    #expect(peer.receive(peer.check(), a) == .answered)
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(useCandidate: true), b) == .selected(b))
  }

  @Test func `a nomination elsewhere ends it, whatever the old path answers then`() throws {
    let peer = try moved()
    #expect(peer.media(b))
    peer.poll()
    let own = try #require(peer.checks(to: a).first)
    try peer.validate(c, useCandidate: true)
    #expect(peer.agent.selected == c)
    #expect(peer.receive(peer.answer(to: own), a) == .consentRefreshed)
    #expect(peer.agent.selected == c)
  }

  @Test func `followed or doubted, it is rebuilt from its state as it was`() throws {
    let peer = try moved()
    #expect(peer.media(b))
    try peer.rebuild()
    peer.poll()
    try peer.rebuild()
    try peer.answerFirstCheck(on: a)
    #expect(peer.agent.selected == a)
    try peer.rebuild()
    peer.receive(peer.check(), b)
    #expect(!peer.media(b))
  }

  @Test func `it goes on after being rebuilt from its state at every step`() throws {
    let peer = try moved()
    try peer.rebuild()
    for _ in 0..<3 {
      peer.now = peer.agent.deadline
      #expect(peer.poll() == [])
      try peer.rebuild()
    }
    peer.now = peer.agent.deadline
    #expect(peer.poll() == [.selected(b)])
    try peer.rebuild()
    #expect(peer.agent.selected == b)
  }
}
