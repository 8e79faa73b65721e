import ICE
import Model
import Testing
import Wire

@Suite("The server's agent: checks and answers", .timeLimit(.minutes(2)))
struct ServerAgentTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)

  @Test func `a valid check is answered with the address it came from, and checked in return`() throws {
    let peer = HandmadePeer()
    let request = peer.check()
    #expect(peer.receive(request, a) == .pending(a))
    #expect(peer.sent.count == 2)
    let reply = try #require(peer.parse(peer.sent[0].bytes))
    #expect(reply.messageClass == .success)
    #expect(reply.transaction == peer.parse(request)?.transaction)
    #expect(reply.mappedAddress == a.remote)
    #expect(peer.sent[0].bytes.withUnsafeBytes { reply.hasValidFingerprint(in: $0) })
    let own = try #require(peer.parse(peer.sent[1].bytes))
    #expect(own.messageClass == .request)
    guard case .controlled = own.role else {
      Issue.record("the role is \(String(describing: own.role))")
      return
    }
    let username = try #require(own.username)
    #expect(
      String(decoding: peer.sent[1].bytes[username], as: UTF8.self) == "peer:" + peer.local.ufrag)
    #expect(peer.hasValidCheck(a))
    #expect(!peer.isValidated(a))
    #expect(peer.agent.selected == nil)
  }

  @Test func `the answer to our check validates, and nothing is selected before it is nominated`() throws {
    let peer = HandmadePeer()
    #expect(try peer.validate(a) == .validated(a))
    #expect(peer.isValidated(a))
    #expect(!peer.hasValidCheck(a))
    #expect(peer.agent.selected == nil)
    #expect(peer.receive(peer.check(useCandidate: true), a) == .selected(a))
    #expect(peer.agent.selected == a)
    #expect(peer.receive(peer.check(useCandidate: true), a) == .answered)
  }

  @Test func `a nomination that comes before the proof takes effect with it`() throws {
    let peer = HandmadePeer()
    #expect(peer.receive(peer.check(useCandidate: true), a) == .pending(a))
    #expect(peer.agent.selected == nil)
    let own = try #require(peer.checks(to: a).first)
    #expect(peer.receive(peer.answer(to: own), a) == .selected(a))
  }

  @Test func `our check is repeated with a doubling wait, seven times, and then the pair is gone`() {
    let peer = HandmadePeer()
    let start = peer.now
    peer.receive(peer.check(), a)
    var times: [Int64] = []
    while peer.hasValidCheck(a), peer.now < start + .seconds(20) {
      // The peer's bytes are what our own are paid with.
      peer.receive(peer.check(), a)
      let before = peer.checks(to: a).count
      peer.now = peer.agent.deadline
      peer.poll()
      if peer.checks(to: a).count > before { times.append((peer.now - start).wholeNanoseconds / 1_000_000) }
    }
    #expect(times == [200, 600, 1400, 3000, 6200, 12600])
    #expect(Set(peer.checks(to: a).map { peer.parse($0)!.transaction }).count == 1)
    #expect(peer.now - start == .milliseconds(15_800))
  }

  @Test func `a first answer that was lost is made up for by any later one`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    peer.run(for: .milliseconds(250))
    let own = peer.checks(to: a)
    #expect(own.count == 2)
    #expect(peer.receive(peer.answer(to: own[0]), a) == .validated(a))
    #expect(peer.receive(peer.answer(to: own[1]), a) == .ignored(.notExpected))
  }

  @Test func `checks that come before the peer's description wait for it`() throws {
    let peer = HandmadePeer(knowsRemote: false)
    #expect(peer.receive(peer.check(useCandidate: true), a) == .pending(a))
    #expect(peer.sent.count == 1)
    #expect(peer.run(for: .seconds(5)) == [])
    #expect(peer.sent.count == 1)
    peer.agent.setRemote(peer.remote)
    peer.poll()
    let own = try #require(peer.checks(to: a).first)
    #expect(peer.receive(peer.answer(to: own), a) == .selected(a))
  }

  @Test func `a peer that claims to be controlled is answered with a role conflict`() {
    let peer = HandmadePeer()
    #expect(peer.receive(peer.check(controlling: false), a) == .refused(code: 487))
    #expect(peer.sent.map { peer.parse($0.bytes)?.errorCode } == [487])
    #expect(!peer.hasValidCheck(a))
  }

  @Test func `an attribute that must be understood and isn't is named in a 420`() throws {
    let peer = HandmadePeer()
    let request = peer.seal(.request, peer.nextTransaction(), password: peer.local.password) {
      $0.appendUsername(Array(peer.local.ufrag.utf8), Array("peer".utf8))
      $0.append(STUNAttributeType(rawValue: 0x7ABC), 1 as UInt32)
    }
    #expect(peer.receive(request, a) == .refused(code: 420))
    let reply = try #require(peer.sent.first?.bytes)
    #expect(peer.parse(reply)?.errorCode == 420)
    #expect(reply.firstRange(of: [0, 0x0A, 0, 2, 0x7A, 0xBC]) != nil)
    #expect(!peer.hasValidCheck(a))
  }

  @Test func `refusals are limited`() {
    let peer = HandmadePeer()
    let outcomes = (0..<12).map { _ in peer.receive(peer.check(controlling: false), a) }
    #expect(outcomes.prefix(10).allSatisfy { $0 == .refused(code: 487) })
    #expect(outcomes.suffix(2).allSatisfy { $0 == .ignored(.rateLimited) })
  }

  @Test func `the first pair of a client that needs no proof is used at once, a second is verified`() throws {
    let peer = HandmadePeer(verify: .onChange)
    #expect(peer.receive(peer.check(), a) == .validated(a))
    #expect(peer.receive(peer.check(useCandidate: true), a) == .selected(a))
    #expect(peer.receive(peer.check(useCandidate: true), b) == .pending(b))
    #expect(peer.agent.selected == a)
    let own = try #require(peer.checks(to: b).first)
    #expect(peer.receive(peer.answer(to: own), b) == .selected(b))
  }

  @Test func `a peer that moves is followed within one round trip of its first check`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.clearSent()
    peer.receive(peer.check(useCandidate: true), b)
    // The check is in the same batch as the reply, so that the next message from there decides.
    #expect(peer.sent.count == 2)
    #expect(peer.receive(peer.answer(to: peer.sent[1].bytes), b) == .selected(b))
    #expect(peer.isValidated(a))
  }

  @Test func `an agent that no path leads to says so once, after thirty seconds`() {
    let peer = HandmadePeer()
    #expect(peer.agent.deadline == peer.now + .seconds(30))
    #expect(peer.run(for: .milliseconds(29_999)) == [])
    #expect(peer.run(for: .milliseconds(1)) == [.failed])
    #expect(peer.run(for: .seconds(60)) == [])
    #expect(peer.agent.deadline == .never)
  }

  @Test func `lastHeard moves with valid messages alone`() throws {
    let peer = HandmadePeer()
    let start = peer.now
    peer.now = start + .seconds(1)
    peer.receive(peer.check(password: "wrong"), a)
    #expect(peer.agent.lastHeard == start)
    try peer.validate(a)
    #expect(peer.agent.lastHeard == start + .seconds(1))
  }

  @Test func `the round trip is measured by our own check`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(useCandidate: true), a)
    let own = try #require(peer.checks(to: a).first)
    peer.now = peer.now + .milliseconds(37)
    peer.receive(peer.answer(to: own), a)
    #expect(peer.agent.roundTripTime == .milliseconds(37))
  }
}
