import ICE
import Model
import Testing
import Wire

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

  // MARK: - Our fragment of before, the peer's of since

  let peerThird = ICECredentials(ufrag: "peer3", password: "peer3peer3peer3peer3peer")
  let c = HandmadePeer.path(3000)

  /// Chromium begins to check from its new port while our answer is on its way, and goes on with the fragment that it had of us.
  /// - Returns: the credentials of before.
  @discardableResult
  private func crossed(
    _ peer: HandmadePeer, nomination: UInt32? = nil
  ) throws -> (local: ICECredentials, remote: ICECredentials) {
    let old = (peer.local, peer.remote)
    try peer.validate(a, useCandidate: true, nomination: nomination)
    peer.remote = peerSecond
    // Its request with its new credentials isn't here yet.
    #expect(peer.receive(peer.check(useCandidate: true), b) == .pending(b))
    peer.agent.restart(local: second, remote: peerSecond)
    peer.clearSent()
    return old
  }

  @Test func `a peer that goes on with our old fragment and its new one is checked by these, and followed`()
    throws
  {
    let peer = HandmadePeer()
    let old = try crossed(peer)
    #expect(peer.receive(peer.check(useCandidate: true), b) == .pending(b))
    let own = try #require(peer.checks(to: b).first)
    let username = try #require(peer.parse(own)?.username)
    #expect(String(decoding: own[username], as: UTF8.self) == "\(peerSecond.ufrag):\(old.local.ufrag)")
    try peer.rebuild()
    // Sealed with the peer's old password the answer proves nothing.
    #expect(peer.receive(peer.answer(to: own, password: old.remote.password), b) == .ignored(.badIntegrity))
    #expect(peer.receive(peer.answer(to: own), b) == .selected(b))
    #expect(!peer.isValidated(a))
    // Consent goes on under them.
    peer.clearSent()
    #expect(peer.run(for: .seconds(40)) { $0 == b } == [])
    #expect(peer.agent.selected == b)
  }

  @Test func `what comes under the peer's old fragment is nothing once it is checked by the new one`() throws
  {
    let peer = HandmadePeer()
    let old = try crossed(peer)
    #expect(try peer.validate(b, useCandidate: true) == .selected(b))
    peer.remote = old.remote
    #expect(peer.receive(peer.check(useCandidate: true, nomination: 9), a) == .ignored(.unknownUfrag))
    #expect(!peer.hasValidCheck(a) && peer.agent.selected == b)
  }

  @Test func `from there the peer may go to ours of the restart, and back`() throws {
    let peer = HandmadePeer()
    let old = try crossed(peer)
    #expect(try peer.validate(b, useCandidate: true) == .selected(b))
    peer.local = second
    peer.clearSent()
    #expect(try peer.validate(c, useCandidate: true) == .selected(c))
    try peer.rebuild()
    peer.local = old.local
    #expect(peer.receive(peer.check(useCandidate: true), b) == .selected(b))
  }

  @Test(arguments: [false, true])
  func `another restart leaves what is used in use, and is followed from either of ours`(isOfLast: Bool)
    throws
  {
    let peer = HandmadePeer()
    let old = try crossed(peer)
    #expect(try peer.validate(b, useCandidate: true) == .selected(b))
    peer.agent.restart(local: third, remote: peerThird)
    try peer.rebuild()
    #expect(peer.agent.servedFragments == [old.local.ufrag, second.ufrag, third.ufrag])
    peer.clearSent()
    #expect(peer.run(for: .seconds(40)) { $0 == b } == [])
    (peer.local, peer.remote) = (isOfLast ? second : third, peerThird)
    peer.clearSent()
    #expect(try peer.validate(c, useCandidate: true) == .selected(c))
    #expect(!peer.isValidated(b))
    let served = isOfLast ? [second.ufrag, third.ufrag] : [third.ufrag]
    #expect(peer.agent.servedFragments == served)
  }

  @Test func `values of nominations begin again with the peer's restart, and go on from there`() throws {
    let peer = HandmadePeer()
    let old = try crossed(peer, nomination: 9)
    #expect(try peer.validate(b, useCandidate: true, nomination: 1) == .selected(b))
    peer.clearSent()
    #expect(try peer.validate(c, useCandidate: true, nomination: 3) == .selected(c))
    // Late ones turn nothing back, whichever of our fragments they came under.
    #expect(peer.receive(peer.check(useCandidate: true, nomination: 2), b) == .answered)
    peer.local = second
    peer.clearSent()
    #expect(try peer.validate(b, useCandidate: true, nomination: 2) == .validated(b))
    // And not behind another restart.
    peer.agent.restart(local: third, remote: peerThird)
    peer.local = old.local
    #expect(peer.receive(peer.check(useCandidate: true, nomination: 2), b) == .answered)
    #expect(peer.agent.selected == c)
  }

  @Test func `credentials that are crossed let no one in without an answer to our check`() throws {
    let peer = HandmadePeer(verify: .onChange)
    peer.receive(peer.check(useCandidate: true), a)
    let oldLocal = peer.local
    peer.agent.restart(local: second, remote: peerSecond)
    peer.remote = peerSecond
    #expect(peer.receive(peer.check(), b) == .pending(b))
    peer.local = second
    #expect(peer.receive(peer.check(), c) == .validated(c))
    peer.local = oldLocal
    #expect(peer.receive(peer.check(), HandmadePeer.path(7)) == .pending(HandmadePeer.path(7)))
  }

  @Test func `who has none of the passwords isn't heard under crossed credentials either`() throws {
    let peer = HandmadePeer()
    try crossed(peer)
    let forged = peer.check(useCandidate: true, password: "guessedguessedguessedgue")
    #expect(peer.receive(forged, c) == .ignored(.badIntegrity))
    peer.remote = ICECredentials(ufrag: "stranger", password: "strangerstrangerstranger")
    #expect(peer.receive(peer.check(useCandidate: true), c) == .ignored(.unknownUfrag))
    #expect(!peer.hasValidCheck(c))
  }
}
