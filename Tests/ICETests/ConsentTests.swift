import Model
import Testing
import Wire

@testable import ICE

@Suite("Consent, RFC 7675", .timeLimit(.minutes(2)))
struct ConsentTests {
  let a = HandmadePeer.path(1000)
  let b = HandmadePeer.path(2000)

  @Test func `checks on the selected pair are four to six seconds apart, each with a new transaction`() throws
  {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.clearSent()
    var last = peer.now
    var spans: Set<Int64> = []
    for _ in 0..<200 {
      peer.now = peer.agent.deadline
      #expect(peer.poll() == [])
      let span = (peer.now - last).wholeNanoseconds
      #expect((4_000_000_000...6_000_000_000).contains(span))
      spans.insert(span)
      last = peer.now
      let own = try #require(peer.checks(to: a).last)
      #expect(peer.receive(peer.answer(to: own), a) == .consentRefreshed)
    }
    #expect(spans.count > 190)
    #expect(Set(peer.checks(to: a).map { peer.parse($0)!.transaction }).count == 200)
  }

  @Test func `consent that has ended does not come back with a late answer`() {
    let start = Instant(nanoseconds: 1_000_000_000)
    let expiry = start + .seconds(30)
    var random = RandomSource.seeded(state: 1)
    for (at, isExpired) in [(expiry + .nanoseconds(-1), false), (expiry, true), (expiry + .seconds(1), true)]
    {
      var consent = Consent(grantedAt: start, nextCheck: start)
      let transaction = random.transaction()
      consent.sent(transaction, at: start + .seconds(5), interval: 5_000_000_000, random: &random)
      _ = consent.answered(transaction, at: at)
      #expect(consent.isExpired(at: expiry + .seconds(2)) == isExpired)
      consent.grant(at: at)
      #expect(consent.isExpired(at: expiry + .seconds(2)) == isExpired)
    }
  }

  @Test func `while the last check is unanswered they come twice as often`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.clearSent()
    peer.now = peer.agent.deadline
    peer.poll()
    peer.now = peer.agent.deadline
    peer.poll()
    let span = (peer.agent.deadline - peer.now).wholeNanoseconds
    #expect((2_000_000_000...3_000_000_000).contains(span))
    #expect(peer.receive(peer.answer(to: try #require(peer.checks(to: a).last)), a) == .consentRefreshed)
    peer.now = peer.agent.deadline
    peer.poll()
    #expect((peer.agent.deadline - peer.now).wholeNanoseconds >= 4_000_000_000)
  }

  @Test func `thirty seconds without an answer end it, to the nanosecond`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    let granted = peer.now
    #expect(peer.run(for: .nanoseconds(29_999_999_999)) == [])
    #expect(peer.isValidated(a))
    #expect(peer.agent.selected == a)
    peer.now = granted + .seconds(30)
    #expect(peer.poll() == [.expired(a)])
    #expect(peer.poll() == [])
    #expect(peer.agent.selected == nil)
    #expect(!peer.isValidated(a))
    #expect(!peer.hasValidCheck(a))
    #expect(peer.run(for: .seconds(100)) == [])
    #expect(peer.agent.deadline == .never)
  }

  @Test func `an answer one nanosecond before the end renews, one at the end doesn't`() throws {
    for (delay, renews) in [(29_999_999_999, true), (30_000_000_000, false)] as [(Int64, Bool)] {
      let peer = HandmadePeer()
      try peer.validate(a, useCandidate: true)
      let granted = peer.now
      peer.run(for: .seconds(29))
      let own = try #require(peer.checks(to: a).last)
      peer.now = granted.advanced(byNanoseconds: delay)
      #expect(peer.receive(peer.answer(to: own), a) == (renews ? .consentRefreshed : .ignored(.notExpected)))
      peer.now = granted + .seconds(30)
      #expect(peer.poll() == (renews ? [] : [.expired(a)]))
    }
  }

  @Test func `the answer to any check still open counts, and only once`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.clearSent()
    peer.run(for: .seconds(20))
    let own = peer.checks(to: a)
    #expect(own.count >= 3)
    let answer = peer.answer(to: own[0])
    #expect(peer.receive(answer, a) == .consentRefreshed)
    #expect(peer.receive(answer, a) == .ignored(.notExpected))
    #expect(peer.run(for: .seconds(29)) == [])
    #expect(peer.isValidated(a))
  }

  @Test func `requests of the peer are no consent, where the peer can answer`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    var events: [ICEPoll] = []
    for _ in 0..<30 {
      events += peer.run(for: .seconds(1))
      peer.receive(peer.check(), a)
    }
    #expect(events == [.expired(a)])
  }

  @Test func `requests are consent for a client that was taken without proof, until it answers once`() throws
  {
    let peer = HandmadePeer(verify: .onChange)
    peer.receive(peer.check(useCandidate: true), a)
    for _ in 0..<60 {
      #expect(peer.run(for: .seconds(1)) == [])
      peer.receive(peer.check(useCandidate: true), a)
    }
    #expect(peer.agent.selected == a)
    let own = try #require(peer.checks(to: a).last)
    #expect(peer.receive(peer.answer(to: own), a) == .consentRefreshed)
    var events: [ICEPoll] = []
    for _ in 0..<31 {
      events += peer.run(for: .seconds(1))
      peer.receive(peer.check(), a)
    }
    #expect(events == [.expired(a)])
  }

  @Test func `a pair that isn't selected is checked less often and goes without a word`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    try peer.validate(b)
    peer.clearSent()
    #expect(peer.run(for: .milliseconds(29_900)) { $0 == a } == [])
    #expect((2...5).contains(peer.checks(to: b).count))
    #expect(peer.checks(to: a).count >= 4)
    #expect(peer.isValidated(b))
    #expect(peer.run(for: .milliseconds(100)) { $0 == a } == [])
    #expect(!peer.isValidated(b))
    #expect(peer.agent.selected == a)
  }

  @Test func `after the end the nomination is remembered for a while, the proof isn't`() throws {
    for (silence, isRemembered) in [(29, true), (31, false)] {
      let peer = HandmadePeer()
      try peer.validate(a, useCandidate: true)
      #expect(peer.run(for: .seconds(30)) == [.expired(a)])
      peer.run(for: .seconds(silence))
      peer.clearSent()
      #expect(peer.receive(peer.check(), a) == .pending(a))
      #expect(!peer.isValidated(a))
      #expect(try peer.answerFirstCheck(on: a) == (isRemembered ? .selected(a) : .validated(a)))
    }
  }

  @Test func `an address whose proof has expired gets at most three times what comes from it`()
    throws
  {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    peer.run(for: .seconds(31))
    peer.clearSent()
    let request = peer.check()
    peer.receive(request, a)
    peer.run(for: .seconds(20))
    #expect(peer.checks(to: a).count == 2)
    #expect(peer.sent.reduce(0) { $0 + $1.bytes.count } <= 3 * request.count)
  }

  @Test func `after the end a new valid check is verified like any other`() throws {
    let peer = HandmadePeer()
    try peer.validate(a, useCandidate: true)
    #expect(peer.run(for: .seconds(30)) == [.expired(a)])
    peer.clearSent()
    #expect(peer.receive(peer.check(useCandidate: true), a) == .pending(a))
    #expect(peer.agent.selected == nil)
    #expect(try peer.answerFirstCheck(on: a) == .selected(a))
  }
}
