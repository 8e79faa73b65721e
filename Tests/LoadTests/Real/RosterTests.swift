import AccessTokens
import Model
import Signalling
import Testing

@testable import Load

@Suite("Whose track plays in a slot", .timeLimit(.minutes(1)))
struct RosterTests {
  private func participant(_ identity: String, _ tracks: [String]) -> Written<ParticipantBody> {
    .value(
      ParticipantBody(
        id: "PA_x", identity: identity,
        tracks: tracks.map { TrackBody(id: $0, kind: .video, source: .camera) }))
  }

  private func event(_ type: RoomEventKind, _ track: String, of identity: String) -> EventBody {
    EventBody(
      id: 1, time: "", room: "r", roomId: "RM_x", type: type,
      participant: .named(PublisherBody(id: "PA_x", identity: identity, name: nil)),
      track: TrackBody(id: track, kind: .video, source: .camera))
  }

  @Test func `who is there, who comes and who goes`() {
    var roster = Roster()
    roster.note([participant("load-3", ["TR_a", "TR_b"]), participant("ann", ["TR_c"])])
    roster.note([Slot(mid: "1", track: "TR_b"), Slot(mid: "2", track: "TR_c"), Slot(mid: "3", track: nil)])
    #expect(roster.owner(of: "1") == .publisher(3) && roster.owner(of: "2") == .other)
    #expect(roster.owner(of: "3") == nil && roster.owner(of: "4") == nil)
    roster.note([Slot(mid: "3", track: "TR_d")])
    #expect(roster.owner(of: "3") == nil)
    roster.note(event(.trackPublished, "TR_d", of: "load-12"))
    #expect(roster.owner(of: "3") == .publisher(12))
    roster.note(event(.trackUnpublished, "TR_d", of: "load-12"))
    roster.note([Slot(mid: "1", track: nil)])
    #expect(roster.owner(of: "3") == nil && roster.owner(of: "1") == nil)
  }

  @Test(arguments: ["load-", "load-x", "load-99999999999999999999", "reload-1", ""])
  func `an identity of another form is somebody else's`(identity: String) {
    var roster = Roster()
    roster.note([participant(identity, ["TR_a"])])
    roster.note([Slot(mid: "1", track: "TR_a")])
    #expect(roster.owner(of: "1") == .other)
  }

  @Test func `identities may be called otherwise`() {
    var roster = Roster(identities: "b")
    roster.note([participant("b-7", ["TR_a"]), participant("load-7", ["TR_b"])])
    roster.note([Slot(mid: "1", track: "TR_a"), Slot(mid: "2", track: "TR_b")])
    #expect(roster.owner(of: "1") == .publisher(7) && roster.owner(of: "2") == .other)
  }

  @Test func `another event about a track says nothing of whose it is`() {
    var roster = Roster()
    roster.note([Slot(mid: "1", track: "TR_a")])
    roster.note(event(.trackMuted, "TR_a", of: "load-1"))
    #expect(roster.owner(of: "1") == nil)
  }
}
