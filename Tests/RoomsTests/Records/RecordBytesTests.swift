import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("Events, participants and tracks as rows", .timeLimit(.minutes(1)))
struct RecordBytesTests {
  static var everything: ParticipantInfo {
    var info = ParticipantInfo.test("e\u{301}ve", metadata: "m\u{0}\u{1F600}")
    info.name = "Eve"
    info.attributes = ["k": "v", "": "empty", "e\u{301}": "1"]
    info.permissions.canPublish = true
    info.permissions.canPublishSources = [.camera, .screenShare]
    info.tracks = [
      TrackInfo(
        id: TrackID(known: "TR_1"), kind: .video, source: .screenShare, name: "n", mutedByPublisher: true,
        isEncrypted: true)
    ]
    info.handRaised = WallTime(milliseconds: 1_700_000_000_123)
    return info
  }

  static let waiting = EventWaiting(
    waiter: Waiter(
      id: WaitingID(known: "WT_0123456789ab"), identity: "g\u{1}", name: "Gus",
      since: WallTime(milliseconds: 1), until: WallTime(milliseconds: 600_001)), reason: .duplicateIdentity)

  static func events() -> [RoomEvent] {
    var room = WritingRoom("a room")
    let name = ParticipantName(id: ParticipantID(known: "PA_x"), identity: "x", name: nil)
    var events = RoomEvent.Kind.allCases.map { room.event($0) }
    events.append(room.event(.participantJoined, .whole(everything)))
    events.append(room.event(.trackMuted, .named(name), everything.tracks[0]))
    var left = room.event(.participantLeft, .whole(everything))
    left.reason = .serverShutdown
    events.append(left)
    var ended = room.event(.waitingEnded)
    ended.waiting = waiting
    events.append(ended)
    var locked = room.event(.roomUpdated)
    (locked.room.isLocked, locked.room.admission) = (true, true)
    events.append(locked)
    return events
  }

  @Test func `an event is read as it was written`() throws {
    for event in Self.events() {
      let read = try RecordBytes.event(
        RecordBytes.bytes(of: event), id: event.id, time: event.time, of: event.room.id)
      #expect(
        read.id == event.id && read.kind == event.kind && read.room == event.room && read.time == event.time)
      #expect(
        read.participant == event.participant && read.track == event.track && read.reason == event.reason)
      #expect(read.waiting == event.waiting)
    }
  }

  @Test func `what an event is said to take is no less than what its row has`() {
    for event in Self.events() {
      #expect(event.storedBytes >= RecordBytes.bytes(of: event).count && event.storedBytes < 1_000)
    }
  }

  @Test func `a room's metadata is kept with the event that changed it, and with no other`() throws {
    var room = WritingRoom("r")
    for kind in RoomEvent.Kind.allCases {
      let bare = room.event(kind)
      let event = RoomEvent(
        id: bare.id, time: bare.time, room: RoomInfo(id: room.info.id, name: "r", metadata: "long"),
        kind: kind)
      let read = try RecordBytes.event(
        RecordBytes.bytes(of: event), id: event.id, time: event.time, of: event.room.id)
      #expect(read.room.metadata == (kind == .roomUpdated ? "long" : nil))
    }
  }

  @Test func `a participant is kept without its tracks, which have rows of their own`() throws {
    let read = try RecordBytes.participant(RecordBytes.bytes(of: Self.everything))
    var expected = Self.everything
    let track = expected.tracks[0]
    expected.tracks = []
    #expect(read == expected)
    #expect(try RecordBytes.track(RecordBytes.bytes(of: track)) == track)
  }

  @Test func `a row that is cut anywhere, or goes on, or is of another version is refused`() throws {
    for event in Self.events() {
      let bytes = RecordBytes.bytes(of: event)
      for count in 0..<bytes.count {
        #expect(throws: StateError.self) { _ = try RoomEvent.rewritten(Array(bytes.prefix(count))) }
      }
      #expect(throws: StateError.self) { _ = try RoomEvent.rewritten(bytes + [0]) }
      #expect(throws: StateError.self) { _ = try RoomEvent.rewritten([5] + bytes.dropFirst()) }
      #expect(try RoomEvent.rewritten(bytes) == bytes)
    }
  }

  /// Another layout has another version, a reader of this one, and a schema of its own.
  @Test func `rows are as the tenth version of the schema has them, and those of earlier ones are read`()
    throws
  {
    var room = WritingRoom("r", id: "RM_1")
    let name = ParticipantName(id: ParticipantID(known: "PA_x"), identity: "x", name: "X")
    let track = TrackInfo(id: TrackID(known: "TR_1"), kind: .audio, source: .microphone, name: nil)
    let event = room.event(.trackPublished, .named(name), track)
    var expected: [UInt8] = [1, 1, 0, 0, 0] + "r".utf8 + [15, 0, 0, 0] + "track.published".utf8 + [0, 1]
    expected += [4, 0, 0, 0] + "PA_x".utf8 + [1, 0, 0, 0] + "x".utf8 + [1, 1, 0, 0, 0] + "X".utf8
    expected += [1, 4, 0, 0, 0] + "TR_1".utf8 + [MediaKind.audio.rawValue, 10, 0, 0, 0] + "microphone".utf8
    expected += [0, 0, 0, 0, 0]
    // The second has recordings at the end, the third calls behind these, the fourth who waits.
    let second = [2] + expected.dropFirst() + [0]
    let third = [3] + second.dropFirst() + [0]
    for earlier in [expected, second, third] {
      let read = try RecordBytes.event(earlier, id: event.id, time: event.time, of: event.room.id)
      #expect(RecordBytes.bytes(of: read) == RecordBytes.bytes(of: event))
    }
    #expect(RecordBytes.bytes(of: event) == [4] + third.dropFirst() + [0])
  }

  @Test func `a participant's row of before has no hand, and is read`() throws {
    var info = Self.everything
    (info.tracks, info.handRaised) = ([], nil)
    let bytes = RecordBytes.bytes(of: info)
    #expect(bytes.last == 0, "it isn't raised")
    #expect(try RecordBytes.participant([1] + bytes.dropFirst().dropLast()) == info)
  }

  // MARK: - Invitations

  static let invitation: Invitation = {
    var grants = Grants.join("a room")
    grants.canPublishSources = [.microphone]
    var invitation = Invitation(
      id: InvitationID(known: "IV_x"), room: "a room", life: RoomID(naming: "RM_x"),
      terms: Invitation.Terms(
        code: Array(repeating: 7, count: 32), grants: grants, isAdmitted: true, uses: 9, apiKey: "key",
        inviter: "host", inviterIssued: 17),
      created: 1_700_000_000, expires: 1_700_000_600)
    invitation.opened = 4
    return invitation
  }()

  @Test func `an invitation is read as it was written`() throws {
    let bytes = RecordBytes.bytes(of: Self.invitation)
    #expect(try RecordBytes.invitation(bytes, id: "IV_x", life: RoomID(naming: "RM_x")) == Self.invitation)
    for count in 0..<bytes.count {
      #expect(throws: StateError.self) { _ = try Invitation.rewritten(Array(bytes.prefix(count))) }
    }
    #expect(throws: StateError.self) { _ = try Invitation.rewritten(bytes + [0]) }
    // As many openings as it can have at most: more would be no number of them.
    let much = bytes.dropLast(8) + [UInt8](repeating: 0x7F, count: 8)
    #expect(throws: StateError.self) { _ = try Invitation.rewritten(Array(much)) }
  }

  @Test func `what a room keeps of messages is read as it was written, and within its bounds`() throws {
    let terms = DataHistoryTerms(topics: ["chat", "e\u{301}"], max: 200, seconds: 86_400)
    #expect(try RecordBytes.dataHistory(RecordBytes.bytes(of: terms)) == terms)
    let many = DataHistoryTerms(topics: ["chat"], max: 201, seconds: 1)
    #expect(throws: StateError.self) { try RecordBytes.dataHistory(RecordBytes.bytes(of: many)) }
  }
}
