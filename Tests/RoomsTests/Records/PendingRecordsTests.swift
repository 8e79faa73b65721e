import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("What a journal has still to write", .timeLimit(.minutes(1)))
struct PendingRecordsTests {
  @Test
  func `of events that wait the oldest are dropped beyond the bound, and what there is in rooms is not`() {
    var pending = PendingRecords(byteLimit: 100_000)
    var room = WritingRoom("r")
    pending.keep(RoomSettings(metadata: "m"), of: room.life)
    pending.record(room.event(.roomStarted), at: 1)
    for number in 0..<1_000 {
      let info = ParticipantInfo.test("i\(number)", metadata: String(repeating: "x", count: 500))
      pending.record(room.event(.participantJoined, .whole(info)), at: UInt64(number + 2))
    }
    #expect(pending.waitingBytes <= 100_000 && pending.waitingEvents > 50)
    #expect(pending.dropped == 1_001 - UInt64(pending.waitingEvents))
    let batch = pending.take()
    #expect(batch.participants.present.count == 1_000)
    #expect(batch.lives.present.first?.value.lastEvent == 1_001 && batch.lastPosition == 1_001)
    let events = batch.events.slice(0..<batch.events.count)
    #expect(events.last?.position == 1_001 && events.first?.event.id == 1_002 - events.count)
    #expect(pending.waitingEvents == 0 && pending.waitingBytes == 0)
  }

  @Test
  func `an invitation that ends before it is written leaves nothing, and one that is written is deleted`() {
    var pending = PendingRecords(byteLimit: 100_000)
    var invitation = RecordBytesTests.invitation
    invitation.opened = 0
    pending.keep(invitation)
    pending.forget(invitation.id)
    var batch = pending.take()
    #expect(batch.invitations.isEmpty)
    pending.keep(invitation)
    batch = pending.take()
    #expect(batch.invitations.present.map(\.key) == [invitation.id])
    invitation.opened = 1
    pending.keep(invitation)
    pending.forget(invitation.id)
    batch = pending.take()
    #expect(batch.invitations.present.isEmpty && batch.invitations.gone == [invitation.id])
  }

  @Test func `what could not be written waits again before what came after, each once`() {
    var pending = PendingRecords(byteLimit: 1_000_000)
    var room = WritingRoom("r")
    pending.keep(RoomSettings(metadata: "m"), of: room.life)
    pending.record(room.event(.roomStarted), at: 1)
    pending.record(room.event(.participantJoined, .whole(.test("ada"))), at: 2)
    let batch = pending.take()
    pending.record(room.event(.participantJoined, .whole(.test("bob"))), at: 3)
    pending.record(room.event(.participantLeft, .whole(.test("ada"))), at: 4)
    pending.giveBack(batch, mayBeDone: false)
    let again = pending.take()
    #expect(again.events.slice(0..<again.events.count).map(\.position) == [1, 2, 3, 4])
    #expect(again.participants.present.map(\.key.text) == ["PA_bob"])
    // The table has never heard of Ada.
    #expect(again.participants.gone.isEmpty)
    let life = again.lives.present.first?.value
    #expect(life?.lastEvent == 4 && life?.hasNewMetadata == true && life?.settings.metadata == "m")
    // Once it is written the metadata is as the table has it.
    pending.record(room.event(.participantLeft, .whole(.test("bob"))), at: 5)
    #expect(pending.take().lives.present.first?.value.hasNewMetadata == false)
  }

  @Test func `rooms that come and go while nothing is written leave their events alone`() {
    var pending = PendingRecords(byteLimit: 1_000_000)
    for number in 0..<100 {
      var room = WritingRoom("r\(number)")
      pending.keep(RoomSettings(), of: room.life)
      pending.record(room.event(.roomStarted), at: UInt64(number * 2 + 1))
      pending.record(room.event(.roomFinished), at: UInt64(number * 2 + 2))
    }
    let batch = pending.take()
    #expect(batch.lives.isEmpty && batch.events.count == 200)
  }

  @Test func `another room of the name takes it from the one before, whose end is its own`() {
    var pending = PendingRecords(byteLimit: 1_000_000)
    var first = WritingRoom("r", id: "RM_first")
    var second = WritingRoom("r", id: "RM_second")
    pending.keep(RoomSettings(), of: first.life)
    pending.record(first.event(.roomStarted), at: 1)
    _ = pending.take()
    pending.keep(RoomSettings(), of: second.life)
    pending.record(second.event(.roomStarted), at: 2)
    let rows = Dictionary(uniqueKeysWithValues: pending.take().lives.present)
    #expect(rows[first.info.id]?.stands == false && rows[second.info.id]?.stands == true)
    pending.record(first.event(.roomFinished), at: 3)
    #expect(pending.take().lives.gone == [first.info.id])
    // The name is the second's still.
    pending.giveUpName(of: second.info.id)
    #expect(pending.take().lives.present.map(\.value.stands) == [false])
  }

  @Test func `settings are written with the event that says so, and not before`() {
    var pending = PendingRecords(byteLimit: 1_000_000)
    var room = WritingRoom("r")
    pending.keep(RoomSettings(metadata: "first"), of: room.life)
    #expect(pending.said == 0 && pending.take().lives.isEmpty)
    pending.record(room.event(.roomStarted), at: 1)
    #expect(pending.take().lives.present.first?.value.settings.metadata == "first")
    pending.keep(RoomSettings(metadata: "second"), of: room.life)
    #expect(pending.take().lives.isEmpty)
    pending.record(room.event(.roomUpdated), at: 2)
    let row = pending.take().lives.present.first?.value
    #expect(row?.settings.metadata == "second" && row?.hasNewMetadata == true)
  }

  @Test func `a track stays until it is unpublished, as it was last`() {
    var pending = PendingRecords(byteLimit: 1_000_000)
    var room = WritingRoom("r")
    pending.keep(RoomSettings(), of: room.life)
    let ada = EventParticipant.named(
      ParticipantName(id: ParticipantID(known: "PA_ada"), identity: "ada", name: nil))
    var track = TrackInfo(id: TrackID(known: "TR_1"), kind: .audio, source: .microphone, name: nil)
    pending.record(room.event(.trackPublished, ada, track), at: 1)
    track.mutedByAdmin = true
    pending.record(room.event(.trackMuted, ada, track), at: 2)
    let row = pending.take().tracks.present.first?.value
    #expect(row?.info.mutedByAdmin == true && row?.since == 1)
    pending.record(room.event(.trackUnpublished, ada, track), at: 3)
    #expect(pending.take().tracks.gone.map(\.text) == ["TR_1"])
  }

  @Test func `events that are given up are remembered by room up to a bound, and by position in any case`() {
    var pending = PendingRecords(byteLimit: 1_000)
    for number in 0..<10_000 {
      pending.giveUp(GivenUpEvents(position: 0, rooms: [RoomID(naming: "RM_\(number)"): 5]))
    }
    pending.giveUp(GivenUpEvents(position: 7, rooms: [RoomID(naming: "RM_0"): 9]))
    pending.giveUp(GivenUpEvents(position: 6, rooms: [RoomID(naming: "RM_0"): 8]))
    let gone = pending.deletions
    #expect(gone.position == 7 && gone.rooms.count == 4_096)
    #expect(gone.rooms[RoomID(naming: "RM_0")]?.number == 9)
  }
}
