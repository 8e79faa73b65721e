import ICE
import Model
import Testing
import Wire

@Suite("The server's agent: forgery, floods and mistakes", .timeLimit(.minutes(2)))
struct ServerAgentAttackTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)

  @Test func `bad integrity, bad fingerprints and strange names get no reply and leave no state`() {
    let peer = HandmadePeer()
    let before = peer.state()
    var damaged = peer.check()
    damaged[damaged.count - 1] ^= 1
    let plain = [0, 1, 0, 0] + peer.check()[4..<20]
    let cases: [([UInt8], ICEDrop)] = [
      (peer.check(password: "not the password"), .badIntegrity),
      (peer.check(password: peer.remote.password), .badIntegrity),
      (damaged, .badFingerprint),
      (plain, .badFingerprint),
      (peer.check(ufrag: "a01ABCDEFGHIJKL"), .unknownUfrag),
      (peer.check(ufrag: String(peer.local.ufrag.dropLast())), .unknownUfrag),
      (peer.check(ufrag: peer.local.ufrag + "x"), .unknownUfrag),
      (Array(peer.check().dropLast(4)), .malformed),
    ]
    for (bytes, reason) in cases {
      #expect(peer.receive(bytes, a) == .ignored(reason))
    }
    #expect(peer.sent.isEmpty)
    #expect(peer.agent.drops[.badIntegrity] == 2)
    #expect(peer.agent.drops[.unknownUfrag] == 3)
    // Counters come last in the state, and are all that changed.
    let counters = ICEDrop.allCases.count * 8
    #expect(peer.state().dropLast(counters) == before.dropLast(counters))
  }

  @Test func `a request sealed without MESSAGE-INTEGRITY is dropped`() {
    let peer = HandmadePeer()
    var memory = [UInt8](repeating: 0, count: 200)
    let count = memory.withUnsafeMutableBytes {
      var writer = STUNWriter($0, .request, transaction: peer.nextTransaction())
      writer.appendUsername(Array(peer.local.ufrag.utf8), Array("peer".utf8))
      writer.appendFingerprint()
      return writer.count
    }
    #expect(peer.receive(Array(memory.prefix(count)), a) == .ignored(.badIntegrity))
    #expect(peer.sent.isEmpty)
  }

  @Test func `every single flipped bit of a check makes it void`() {
    let peer = HandmadePeer()
    let request = peer.check()
    for bit in 0..<(request.count * 8) {
      var changed = request
      changed[bit / 8] ^= 1 << (bit % 8)
      guard case .ignored = peer.receive(changed, a) else {
        Issue.record("bit \(bit) was accepted")
        continue
      }
    }
    #expect(peer.sent.isEmpty)
    #expect(peer.receive(request, a) == .pending(a))
  }

  @Test func `a check replayed from another address never becomes a path`() throws {
    let peer = HandmadePeer()
    let captured = peer.check(useCandidate: true)
    peer.receive(captured, a)
    try peer.answerFirstCheck(on: a)
    #expect(peer.agent.selected == a)

    // The victim doesn't know the password, and the attacker sees nothing of what goes to it.
    for _ in 0..<50 {
      peer.now = peer.now + .milliseconds(300)
      peer.receive(captured, b)
      peer.poll()
      #expect(!peer.isValidated(b))
      #expect(peer.agent.selected == a)
    }
  }

  @Test func `at most three times what came from it goes to an address that isn't proven`() {
    let peer = HandmadePeer()
    var received = 0
    var random = RandomSource.seeded(state: 8)
    for _ in 0..<300 {
      if Bool.random(using: &random) {
        let request = peer.check(useCandidate: Bool.random(using: &random))
        received += request.count
        peer.receive(request, a)
      }
      peer.now = peer.now + .milliseconds(Int64.random(in: 1...900, using: &random))
      peer.poll()
      let sent = peer.sent.reduce(0) { $0 + $1.bytes.count }
      #expect(sent <= 3 * received)
    }
    #expect(received > 0)
  }

  @Test func `one request pays for its answer and two checks, not for a third`() {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    peer.run(for: .seconds(20))
    #expect(peer.checks(to: a).count == 2)
    #expect(!peer.hasValidCheck(a))
  }

  @Test func `a storm of valid checks is answered up to a rate`() {
    let peer = HandmadePeer()
    let outcomes = (0..<200).map { _ in peer.receive(peer.check(), a) }
    #expect(outcomes.filter { $0 == .ignored(.rateLimited) }.count == 175)
    peer.now = peer.now + .milliseconds(20)
    #expect(peer.receive(peer.check(), a) == .answered)
    #expect(peer.receive(peer.check(), a) == .ignored(.rateLimited))
  }

  @Test func `addresses that never answer are counted when they are given up`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    for port in 1..<20 as Range<UInt16> { peer.receive(peer.check(), HandmadePeer.path(3_000 + port)) }
    // Seven have a place beside the selected one.
    #expect(peer.abandoned == 12)
    peer.run(for: .seconds(90)) { $0 == self.a }
    #expect(peer.abandoned == 19)
    let pairs = peer.agent.pairCount
    #expect(pairs == 1 && peer.isValidated(a))
  }

  @Test func `names that serve are the newest and the one in use`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    let first = peer.local.ufrag
    for number in 0..<3 {
      peer.agent.restart(
        local: ICECredentials(ufrag: "a01newnewnewn0\(number)", password: "newnewnewnewnewnewnewnew"),
        remote: peer.remote)
    }
    let served = peer.agent.servedFragments
    #expect(served == [first, "a01newnewnewn02"])
  }

  @Test func `an answer counts only from the address checked`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let right = peer.answer(to: try #require(peer.checks(to: a).first))
    #expect(peer.receive(right, b) == .ignored(.wrongAddress))
    let elsewhere = NetworkPath(remote: a.remote, local: HandmadePeer.server.with(port: 9))
    #expect(peer.receive(right, elsewhere) == .ignored(.wrongAddress))
    #expect(!peer.isValidated(a))
    #expect(peer.receive(right, a) == .validated(a))
  }

  @Test func `an answer with another transaction, or sealed wrongly, proves nothing`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let own = try #require(peer.checks(to: a).first)
    let invented = peer.seal(.success, peer.nextTransaction(), password: peer.remote.password) {
      $0.appendMapped(HandmadePeer.server)
    }
    #expect(peer.receive(invented, a) == .ignored(.notExpected))
    #expect(peer.receive(peer.answer(to: own, password: "wrong"), a) == .ignored(.badIntegrity))
    #expect(peer.receive(peer.answer(to: own, password: peer.local.password), a) == .ignored(.badIntegrity))
    // Our own check sent back to us is a request with a name that isn't ours.
    #expect(peer.receive(own, a) == .ignored(.unknownUfrag))
    #expect(!peer.isValidated(a))
  }

  @Test func `an error in answer to our check proves nothing, and ends nothing`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let own = try #require(peer.checks(to: a).first)
    let transaction = try #require(peer.parse(own)).transaction
    let refusal = peer.seal(.failure, transaction, password: peer.remote.password) {
      $0.appendError(487, "Role Conflict")
    }
    #expect(peer.receive(refusal, a) == .ignored(.checkRefused))
    #expect(peer.receive(peer.answer(to: own), a) == .validated(a))
  }

  @Test func `an answer with an attribute that must be understood is dropped`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let transaction = try #require(peer.checks(to: a).first.flatMap(peer.parse)).transaction
    let strange = peer.seal(.success, transaction, password: peer.remote.password) {
      $0.append(STUNAttributeType(rawValue: 0x7ABC))
    }
    #expect(peer.receive(strange, a) == .ignored(.unknownAttribute))
    #expect(!peer.isValidated(a))
  }

  @Test func `a ninth pair replaces the oldest that isn't proven`() throws {
    let peer = HandmadePeer()
    try peer.validate(HandmadePeer.path(1), useCandidate: true)
    for port in 2...8 {
      peer.now = peer.now + .milliseconds(1)
      peer.receive(peer.check(), HandmadePeer.path(UInt16(port)))
    }
    peer.now = peer.now + .milliseconds(1)
    #expect(peer.receive(peer.check(), HandmadePeer.path(9)) == .pending(HandmadePeer.path(9)))
    #expect(!peer.hasValidCheck(HandmadePeer.path(2)))
    #expect((3...9).allSatisfy { peer.hasValidCheck(HandmadePeer.path(UInt16($0))) })
    #expect(peer.agent.selected == HandmadePeer.path(1))
  }

  @Test func `eight proven pairs make room only for silence, and never the selected`() throws {
    let peer = HandmadePeer()
    for port in 1...8 { try peer.validate(HandmadePeer.path(UInt16(port)), useCandidate: port == 1) }
    let ninth = HandmadePeer.path(9)
    #expect(peer.receive(peer.check(), ninth) == .ignored(.tableFull))
    #expect(peer.agent.drops[.tableFull] == 1)
    peer.now = peer.now + .seconds(10)
    #expect(peer.receive(peer.check(), ninth) == .pending(ninth))
    #expect(peer.agent.selected == HandmadePeer.path(1))
    #expect((1...8).filter { peer.isValidated(HandmadePeer.path(UInt16($0))) }.count == 7)
  }

  @Test func `a flood of addresses never dislodges the selected pair`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    for port in 3000..<4000 {
      peer.receive(peer.check(useCandidate: true), HandmadePeer.path(UInt16(port)))
      peer.now = peer.now + .milliseconds(1)
      peer.poll()
      peer.clearSent()
    }
    #expect(peer.agent.selected == a)
    #expect(peer.state().count < 8_000)
  }

  @Test func `indications and other methods are counted, not answered`() {
    let peer = HandmadePeer()
    let indication = peer.seal(.indication, peer.nextTransaction(), password: "x") { _ in }
    #expect(peer.receive(indication, a) == .ignored(.indication))
    #expect(peer.sent.isEmpty)
    #expect(Set(ICEDrop.allCases.map(\.name)).count == ICEDrop.allCases.count)
  }

  @Test func `random changes to valid messages never trap and never validate`() throws {
    let peer = HandmadePeer()
    peer.receive(peer.check(), a)
    let own = try #require(peer.checks(to: a).first)
    var random = RandomSource.seeded(state: 3)
    for round in 0..<4_000 {
      var bytes = round % 2 == 0 ? peer.check(useCandidate: true) : peer.answer(to: own, password: "wrong")
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
      peer.receive(bytes, HandmadePeer.path(UInt16(round % 20)))
      peer.clearSent()
    }
    #expect((0..<20).allSatisfy { !peer.isValidated(HandmadePeer.path(UInt16($0))) })
  }
}
