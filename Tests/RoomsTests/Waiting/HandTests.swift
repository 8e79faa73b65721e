import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Raised hands", .timeLimit(.minutes(1)))
struct HandTests {
  private func refusal(_ reply: RoomReply) -> RequestError? {
    if case .refused(let error) = reply { error } else { nil }
  }

  @Test func `a hand needs no grant, is seen by all and by who comes later, and is lowered`() throws {
    let run = StateRun()
    let ada = try run.join("ada") { ($0.canPublish, $0.canPublishData) = (false, false) }
    #expect(refusal(ada.ask(.hand(true, of: nil))) == nil)
    #expect(run.kinds().last == "participant.updated")
    let since = try #require(ada.member?.info.handRaised)
    #expect(since == run.state.wallTime)
    let bob = try run.join("bob")
    #expect(run.joined[bob.id]?.participants.first?.handRaised == since)
    // Said again it is no event, and its time stays.
    let count = run.events.count
    run.now = run.now + .seconds(1)
    #expect(refusal(ada.ask(.hand(true, of: nil))) == nil)
    #expect(run.events.count == count && ada.member?.floor.handRaised == since)
    #expect(refusal(ada.ask(.hand(false, of: ada.id.text))) == nil)
    #expect(ada.member?.floor.handRaised == nil && run.events.count == count + 1)
  }

  @Test func `hosts lower another's hand, and no one raises it`() throws {
    let run = StateRun()
    let (ada, bob) = (try run.join("ada"), try run.join("bob"))
    let host = try run.join("host") { $0.roomAdmin = true }
    let ghost = try run.join("ghost") { $0.hidden = true }
    ada.ask(.hand(true, of: nil))
    #expect(refusal(bob.ask(.hand(false, of: ada.id.text))) == .notAllowed("this (roomAdmin)"))
    #expect(refusal(host.ask(.hand(true, of: bob.id.text))) == .notAllowed("raising another's hand"))
    #expect(refusal(host.ask(.hand(false, of: "PA_nobody"))) == .unknownParticipant)
    #expect(refusal(host.ask(.hand(false, of: ghost.id.text))) == .unknownParticipant, "it is hidden")
    #expect(refusal(host.ask(.hand(false, of: ada.id.text))) == nil && ada.member?.floor.handRaised == nil)
    bob.ask(.hand(true, of: nil))
    var patch = ParticipantPatch()
    patch.lowersHand = true
    run.handle(.administration(.changeParticipant("bob", patch)))
    #expect(bob.member?.floor.handRaised == nil && run.kinds().last == "participant.updated")
    #expect(refusal(ghost.ask(.hand(true, of: nil))) != nil)
    #expect(run.events.allSatisfy { $0.participant?.identity != "ghost" })
  }

  @Test func `hands go up and down at a pace at which they can be read out`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    var changes = 0
    while changes < 100, refusal(ada.ask(.hand(changes % 2 == 0, of: nil))) == nil { changes += 1 }
    #expect((8...10).contains(changes), "\(changes)")
    run.now = run.now + .seconds(1)
    #expect(refusal(ada.ask(.hand(changes % 2 == 0, of: nil))) == nil)
  }

  @Test func `a hand outlives the room's going on from bytes, and goes with its participant`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    ada.ask(.hand(true, of: nil))
    let since = ada.member?.floor.handRaised
    try run.rebuild()
    #expect(since != nil && ada.member?.floor.handRaised == since)
    let again = try run.join("ada")
    #expect(again.member?.floor.handRaised == nil)
  }
}
