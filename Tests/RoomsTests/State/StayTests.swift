import AccessTokens
import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("Stays, as those who oversee a room name them", .timeLimit(.minutes(1)))
struct StayTests {
  private func enter(_ run: StateRun, from known: String? = nil, as stay: String?) throws -> StateClient {
    var newcomer = Newcomer(identity: "bob", grants: .join("r"))
    newcomer.stay = known
    let client = try run.join(newcomer)
    if let stay { name(stay, client, run) }
    return client
  }

  /// - Parameter session: the number of the client's; nil: its last.
  private func name(_ stay: String, _ client: StateClient, _ run: StateRun, session: UInt32? = nil) {
    guard let number = session ?? client.member?.session else { return }
    run.handle(.stay(client.id, stay, by: .session(number)))
  }

  private func close(_ stay: String, _ run: StateRun, _ reason: LeaveReason = .movedElsewhere) {
    run.handle(.administration(.disconnect("bob", stay: stay, reason)))
  }

  /// How a client's session ended.
  private func end(_ client: StateClient) -> LeaveReason? {
    if case .closed(let reason)? = client.notices.last { reason } else { nil }
  }

  @Test func `who is there by a stay goes with that, and by no other's end`() throws {
    let run = StateRun()
    let bob = try enter(run, as: "one")
    close("another", run)
    #expect(run.member("bob") != nil)
    close("one", run)
    #expect(run.member("bob") == nil && end(bob) == .movedElsewhere && run.sessions == 0)
  }

  @Test func `one that takes the place of another's stay is not closed with that, which reads that it moved`()
    throws
  {
    let run = StateRun()
    let phone = try enter(run, as: "one")
    let tablet = try enter(run, from: "two", as: "two")
    #expect(end(phone) == .movedElsewhere)
    close("one", run)
    #expect(run.member("bob")?.id == tablet.id && end(tablet) == nil)
    // The same stay once more is one that is replaced, as everywhere.
    let again = try enter(run, from: "two", as: "two")
    #expect(end(tablet) == .duplicateIdentity && run.member("bob")?.id == again.id)
  }

  @Test func `a stay that is over before it is known ends as it is, and no other does`() throws {
    let run = StateRun()
    let bob = try enter(run, as: nil)
    close("one", run, .left)
    close("two", run)
    #expect(run.member("bob") != nil)
    try run.rebuild()
    name("one", bob, run)
    #expect(run.member("bob") == nil && end(bob) == .left)
    let next = try enter(run, as: nil)
    close("two", run)
    name("three", next, run)
    #expect(run.member("bob")?.id == next.id && run.member("bob")?.stay.ended.isEmpty == true)
  }

  @Test func `of stays that are over meanwhile so many are kept`() throws {
    let run = StateRun()
    _ = try enter(run, as: nil)
    for number in 0..<100 { close("\(number)", run) }
    #expect(run.member("bob")?.stay.ended.map(\.id) == (92..<100).map { "\($0)" })
  }

  @Test func `media is said by the stay, also as its participant goes`() throws {
    let run = StateRun()
    let phone = try enter(run, as: "one")
    _ = try phone.offer([.audio])
    var events = PeerEvents(peer: try #require(run.added.last))
    events.connected = .aeadAES128GCM
    run.handle(.media(events))
    _ = try enter(run, as: nil)
    #expect(run.media == ["bob one connected", "bob one gone"])
    run.handle(.close(.roomClosed))
    #expect(run.media.last == "bob - gone")
  }

  @Test func `a session that another has followed says nothing of its participant's stay`() throws {
    let run = StateRun()
    _ = try run.whip("bob")
    let first = try enter(run, as: "one")
    let second = try enter(run, as: "two")
    #expect(first.id == second.id)
    name("one", first, run, session: 1)
    #expect(run.member("bob")?.stay.id == "two")
  }

  @Test func `what has no socket ends with its stay where another attaches, which stays`() throws {
    let run = StateRun()
    let cam = try run.whip("bob", [.video])
    run.handle(.stay(cam.answer.participant, "one", by: .standalone(cam.answer.id)))
    let tablet = try enter(run, as: "two")
    #expect(run.transport(cam) == nil && run.member("bob")?.id == tablet.id)
    close("one", run)
    #expect(run.member("bob")?.stay.id == "two" && run.member("bob")?.session != nil)
    // Known as it comes, it takes the place of the whole.
    let phone = try enter(run, from: "three", as: "three")
    #expect(phone.id != tablet.id && end(tablet) == .movedElsewhere)
  }

  @Test func `a transport without a socket that comes by another stay takes the place of what is there`()
    throws
  {
    let run = StateRun()
    let page = try enter(run, as: "one")
    _ = try page.offer([.audio])
    // It isn't known as it comes.
    let cam = try run.whip("bob", [.video])
    run.handle(.stay(cam.answer.participant, "two", by: .standalone(cam.answer.id)))
    #expect(end(page) == .movedElsewhere && run.tracks("bob").map(\.kind) == [.video])
    close("one", run)
    #expect(run.transport(cam) != nil)
    // It is.
    var newcomer = Newcomer(identity: "bob", grants: .join("r"), opens: nil, isAttended: false)
    newcomer.stay = "three"
    let offer = StandaloneOffer(role: .publishes, sdp: try StandaloneEnd.offer(sending: [.audio]))
    run.sessions += 1
    guard
      case .standalone(let answer, let isNew) = run.handle(
        .open(StandaloneEntry(newcomer: newcomer, offer: offer), refused: nil))
    else {
      Issue.record("it isn't let in")
      return
    }
    #expect(isNew && answer.participant != cam.answer.participant && run.transport(cam) == nil)
    #expect(run.sessions == 1 && run.tracks("bob").map(\.kind) == [.audio])
  }
}
