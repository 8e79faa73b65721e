import ICE
import Model
import Testing

@Suite("ICE restart", .timeLimit(.minutes(2)))
struct RestartTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)
  let second = ICECredentials(ufrag: "a01secondsecond", password: "secondsecondsecondsecond")
  let third = ICECredentials(ufrag: "a01thirdthirdth", password: "thirdthirdthirdthirdthir")
  let peerSecond = ICECredentials(ufrag: "peer2", password: "peer2peer2peer2peer2peer")

  @Test func `old credentials serve until a pair under the new ones is selected, then they are gone`() throws
  {
    let peer = HandmadePeer()
    let (oldLocal, oldRemote) = (peer.local, peer.remote)
    try peer.validate(a, useCandidate: true)
    peer.agent.restart(local: second, remote: peerSecond)
    #expect(peer.agent.local == second)
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(), a) == .answered)
    // Consent goes on under the old ones.
    peer.clearSent()
    #expect(peer.run(for: .seconds(40)) { $0 == a } == [])

    (peer.local, peer.remote) = (second, peerSecond)
    peer.clearSent()
    #expect(peer.receive(peer.check(useCandidate: true), b) == .pending(b))
    (peer.local, peer.remote) = (oldLocal, oldRemote)
    #expect(peer.receive(peer.check(useCandidate: true), a) == .answered)
    (peer.local, peer.remote) = (second, peerSecond)
    // The older nomination came later, and yet the new credentials win.
    #expect(try peer.answerFirstCheck(on: b) == .selected(b))

    (peer.local, peer.remote) = (oldLocal, oldRemote)
    #expect(peer.receive(peer.check(), a) == .ignored(.unknownUfrag))
    #expect(!peer.isValidated(a))
    #expect(peer.agent.selected == b)
  }

  @Test func `a validated pair that isn't nominated leaves the old one in use`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.agent.restart(local: second, remote: peerSecond)
    (peer.local, peer.remote) = (second, peerSecond)
    peer.clearSent()
    #expect(try peer.validate(b) == .validated(b))
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(useCandidate: true), b) == .selected(b))
    #expect(!peer.isValidated(a))
  }

  @Test func `the same path under new credentials is a new pair that is verified again`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.agent.restart(local: second, remote: peerSecond)
    (peer.local, peer.remote) = (second, peerSecond)
    peer.clearSent()
    #expect(peer.receive(peer.check(useCandidate: true), a) == .pending(a))
    #expect(peer.checks(to: a).count == 1)
    #expect(try peer.answerFirstCheck(on: a) == .selected(a))
    #expect(peer.isValidated(a))
  }

  @Test func `an answer sealed with the new password doesn't prove a pair under the old`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let own = try #require(peer.checks(to: a).first)
    peer.agent.restart(local: second, remote: peerSecond)
    #expect(peer.receive(peer.answer(to: own, password: peerSecond.password), a) == .ignored(.badIntegrity))
    #expect(peer.receive(peer.answer(to: own), a) == .validated(a))
  }

  @Test func `credentials of a restart that was never used go with the next restart, those in use stay`()
    throws
  {
    let peer = HandmadePeer()
    let oldLocal = peer.local
    try peer.validate(a, useCandidate: true)
    peer.agent.restart(local: second, remote: peerSecond)
    peer.local = second
    #expect(peer.receive(peer.check(), b) == .pending(b))
    peer.agent.restart(local: third, remote: peerSecond)
    #expect(peer.receive(peer.check(), b) == .ignored(.unknownUfrag))
    #expect(!peer.hasValidCheck(b))
    peer.local = oldLocal
    #expect(peer.receive(peer.check(), a) == .answered)
    peer.local = third
    #expect(peer.receive(peer.check(), b) == .pending(b))
  }

  @Test func `nomination values begin again after a restart`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true, nomination: 9)
    peer.agent.restart(local: second, remote: peerSecond)
    (peer.local, peer.remote) = (second, peerSecond)
    peer.clearSent()
    #expect(try peer.validate(b, useCandidate: true, nomination: 1) == .selected(b))
  }

  @Test func `each restart lets a client that answers no checks in once more, and only once`() {
    let peer = HandmadePeer(verify: .onChange)
    peer.receive(peer.check(useCandidate: true), a)
    let oldLocal = peer.local
    peer.agent.restart(local: second, remote: peerSecond)
    peer.local = second
    #expect(peer.receive(peer.check(), b) == .validated(b))
    peer.local = oldLocal
    #expect(peer.receive(peer.check(), HandmadePeer.path(7)) == .pending(HandmadePeer.path(7)))
    peer.local = second
    #expect(peer.receive(peer.check(), HandmadePeer.path(8)) == .pending(HandmadePeer.path(8)))
  }
}
