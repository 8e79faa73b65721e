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
    return info
  }

  static func events() -> [RoomEvent] {
    var room = WritingRoom("a room")
    let name = ParticipantName(id: ParticipantID(known: "PA_x"), identity: "x", name: nil)
    var events = RoomEvent.Kind.allCases.map { room.event($0) }
    events.append(room.event(.participantJoined, .whole(everything)))
    events.append(room.event(.trackMuted, .named(name), everything.tracks[0]))
    var left = room.event(.participantLeft, .whole(everything))
    left.reason = .serverShutdown
    events.append(left)
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
      #expect(throws: StateError.self) { _ = try RoomEvent.rewritten([4] + bytes.dropFirst()) }
      #expect(try RoomEvent.rewritten(bytes) == bytes)
    }
  }

  /// Another layout has another version, a reader of this one, and a schema of its own.
  @Test func `rows are as the third version of the schema has them, and those of the first two are read`()
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
    // The second has recordings at the end, the third calls behind these.
    let second = [2] + expected.dropFirst() + [0]
    for earlier in [expected, second] {
      let read = try RecordBytes.event(earlier, id: event.id, time: event.time, of: event.room.id)
      #expect(RecordBytes.bytes(of: read) == RecordBytes.bytes(of: event))
    }
    #expect(RecordBytes.bytes(of: event) == [3] + second.dropFirst() + [0])
  }
}
