import ICE
import Model
import Testing

@Suite("The server's agent: which pair is selected", .timeLimit(.minutes(2)))
struct NominationTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)
  let c = HandmadePeer.path(3000)

  @Test func `the latest USE-CANDIDATE wins, back and forth`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    #expect(try peer.validate(b, useCandidate: true) == .selected(b))
    #expect(peer.receive(peer.check(useCandidate: true), a) == .selected(a))
    #expect(peer.receive(peer.check(), b) == .answered)
    #expect(peer.agent.selected == a)
  }

  @Test func `a late duplicate of an old nomination doesn't turn the choice back`() throws {
    let peer = HandmadePeer()
    try peer.validate(a)
    let first = peer.check(useCandidate: true)
    #expect(peer.receive(first, a) == .selected(a))
    try peer.validate(b, useCandidate: true)
    #expect(peer.receive(first, a) == .answered)
    #expect(peer.agent.selected == b)
  }

  @Test func `of two nominations that wait for proof the later wins, whichever is proven first`() throws {
    for isLaterFirst in [true, false] {
      let peer = HandmadePeer()
      peer.receive(peer.check(useCandidate: true), a)
      peer.receive(peer.check(useCandidate: true), b)
      for path in isLaterFirst ? [b, a] : [a, b] { try peer.answerFirstCheck(on: path) }
      #expect(peer.agent.selected == b)
      #expect(peer.isValidated(a))
    }
  }

  @Test func `the higher nomination value wins, in whatever order they come`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true, nomination: 5)
    #expect(try peer.validate(b, useCandidate: true, nomination: 4) == .validated(b))
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(nomination: 6), b) == .selected(b))
    #expect(peer.receive(peer.check(useCandidate: true, nomination: 5), a) == .answered)
    #expect(peer.agent.selected == b)
  }

  @Test func `plain USE-CANDIDATE doesn't override a nomination with a value`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true, nomination: 1)
    #expect(try peer.validate(b, useCandidate: true) == .validated(b))
    #expect(peer.agent.selected == a)
  }

  @Test func `the largest nomination value leaves nothing above it, and traps nothing`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, nomination: .max)
    try peer.validate(b, nomination: .max)
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(nomination: 0), b) == .answered)
    #expect(peer.agent.selected == a)
  }

  @Test func `a value is taken again when the pair that held it is gone`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(useCandidate: true, nomination: 3), a)
    peer.run(for: .seconds(20))
    #expect(!peer.hasValidCheck(a))
    peer.run(for: .seconds(30))
    peer.clearSent()
    #expect(try peer.validate(b, useCandidate: true, nomination: 3) == .selected(b))
  }

  @Test func `a nomination outlives checks of ours that were all lost`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(useCandidate: true), a)
    peer.run(for: .seconds(20))
    #expect(!peer.hasValidCheck(a))
    peer.clearSent()
    #expect(peer.receive(peer.check(), a) == .pending(a))
    #expect(try peer.answerFirstCheck(on: a) == .selected(a))
  }

  @Test func `two addresses of ours with one of the peer's are two pairs`() throws {
    let peer = HandmadePeer()
    let other = NetworkPath(remote: a.remote, local: SocketAddress(ipv4: 10, 0, 0, 1, port: 7882))
    try peer.validate(a, useCandidate: true)
    #expect(!peer.isValidated(other))
    #expect(try peer.validate(other, useCandidate: true) == .selected(other))
    try peer.validate(c)
    #expect(peer.agent.selected == other)
  }
}
