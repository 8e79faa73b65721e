import Foundation
import HTTPServer
import Model
import Rooms
import Signalling
import Testing

@testable import Gateway

/// `HiddenTests` is complete: it has every operation, and every kind of message and event in which a participant is named.
@Suite("Hidden participants: every operation, every message and event", .timeLimit(.minutes(2)))
struct HiddenTableTests {
  typealias Scene = HiddenTests.Scene

  /// Messages of a client and requests of REST, each with the operations of `HiddenTests` that perform it.
  static let rows: [String: [String]] = [
    "auth": ["is in", "comes again in its own place"], "resume": ["resumes"],
    "offer": ["offers a camera", "offers receivers"], "candidate": ["sends a candidate and a ping"],
    "subscribe": ["subscribes, says how it shows that, and unsubscribes"],
    "unsubscribe": ["subscribes, says how it shows that, and unsubscribes"],
    "view": ["subscribes, says how it shows that, and unsubscribes"],
    "explain": ["subscribes, says how it shows that, and unsubscribes"],
    "layers": ["says how large another's pictures are"],
    "mute": ["mutes another's track", "mutes its own track, which is muted by REST too, and leaves"],
    "update": ["changes its name", "changes its metadata", "changes its attributes"],
    "data": ["says something to all", "says something to one"], "leave": ["leaves"],
    "hand": ["raises its hand"], "admit": ["lets in who waits"],
    "ping": ["sends a candidate and a ping"], "session.event": ["says something to a session"],
    "POST /v1/rooms": ["has its room created again"],
    "PATCH /v1/rooms/{room}/participants/{identity}": [
      "is named by an administrator", "gets metadata", "gets attributes", "may publish no more, and again",
      "may subscribe no more, and again", "may say nothing more, and again",
      "may change itself no more, and again", "is restricted to a source",
    ],
    "DELETE /v1/rooms/{room}/participants/{identity}": ["is removed"],
    "POST /v1/rooms/{room}/participants/{identity}/tracks/{track}/mute": [
      "mutes its own track, which is muted by REST too, and leaves"
    ],
    "POST /v1/rooms/{room}/data": ["gets a message from REST"],
  ]
  /// Requests that follow each operation there.
  static let following: Set = [
    "PATCH /v1/rooms/{room}", "GET /v1/rooms", "GET /v1/rooms/{room}", "GET /v1/rooms/{room}/participants",
    "GET /v1/rooms/{room}/participants/{identity}", "GET /v1/rooms/{room}/participants/{identity}/flight",
    "GET /v1/rooms/{room}/explain",
    "GET /v1/rooms/{room}/events",
    "GET /v1/events",
  ]
  /// Of recordings, whose files are of tracks: a hidden participant has none. `RecordingsRESTTests` has these.
  static let ofRecordings: Set = [
    "POST /v1/rooms/{room}/recordings", "GET /v1/rooms/{room}/recordings",
    "GET /v1/rooms/{room}/recordings/{recording}", "DELETE /v1/rooms/{room}/recordings/{recording}",
  ]
  /// Of those who wait and who are invited, who are hidden no more than others: `WaitingKnowledgeTests` has these.
  static let ofTheDoor: Set = [
    "GET /v1/rooms/{room}/waiting", "POST /v1/rooms/{room}/participants/{identity}/admit",
    "POST /v1/rooms/{room}/invitations", "GET /v1/rooms/{room}/invitations",
    "DELETE /v1/rooms/{room}/invitations/{invitation}",
  ]
  /// Of pictures, of which a hidden participant publishes none, and of figures, which name it to who runs its room alone:
  /// `ThumbnailRESTTests` and `StatisticsRESTTests` have these.
  static let ofFigures: Set = [
    "GET /v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail", "GET /v1/statistics",
  ]
  /// The request that ends the room has a test of its own, below.
  static let closing = "DELETE /v1/rooms/{room}"

  @Test func `every request of REST and every message of a client is performed`() throws {
    let requests = RESTOperation.all.filter { $0.grant != .none }.map { "\($0.method.rawValue) \($0.path)" }
    let wanted = Set(ClientMessage.kinds.map { $0.type }).union(requests)
    #expect(
      Set(Self.rows.keys).union(Self.following).union(Self.ofRecordings).union(Self.ofTheDoor)
        .union(Self.ofFigures).union([Self.closing]) == wanted)
    // A socket that ends without a word is neither.
    let names = Set(Self.rows.values.joined()).union(["breaks off"])
    #expect(names == Set(HiddenTests.operations.map { $0.name }))
  }

  // MARK: - Compared with a visible participant

  /// Messages in which a participant other than the receiver can be named.
  static let naming: Set = ["joined", "event", "data", "speakers", "quality"]
  /// To those of a call who take part in a session, by whom they do that with: `SessionKnowledgeTests` has these.
  static let ofSessions: Set = ["session.event", "session.seq"]
  /// Of rooms that ask their hosts or keep messages: `WaitingKnowledgeTests` has these.
  static let ofAskingRooms: Set = ["waiting", "history"]
  /// Messages about their receiver alone, or about tracks by their ids; a hidden participant has no track.
  static let nameless: Set = [
    "resumed", "token", "answer", "slots", "offerWanted", "publish", "stream", "explain", "ok", "pong",
    "error",
    "draining",
    "closed",
  ]
  /// `HiddenPresenceTests` has these: they need samples of the media plane.
  static let sampled: Set = [
    "speakers", "quality", "participant.reconnecting", "participant.reconnected",
  ]

  /// The types of messages and events that name the participant.
  private func types(_ ghost: Guest, _ texts: [String]) throws -> Set<String> {
    var found: Set<String> = []
    for text in HiddenTests().names(ghost, texts) {
      let message = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
      found.insert(try #require(message["type"] as? String))
      if let event = message["event"] as? NSDictionary {
        found.insert(try #require(event["type"] as? String))
      }
    }
    return found
  }

  @Test func `the same operations of a visible participant reach others by every kind of message and event`()
    async throws
  {
    let messages = Set(ServerMessage.kinds.map { $0.type })
    #expect(
      messages == Self.naming.union(Self.nameless).union(Self.ofSessions).union(Self.ofAskingRooms))
    let rooms: Set<RoomEvent.Kind> = [
      .participantWaiting, .waitingEnded, .roomStarted, .roomUpdated, .roomFinished, .roomRecording,
      .recordingEnded, .thumbnailTaken,
      .callStarted, .callAnswered, .callEnded, .sessionStarted, .sessionEnded,
    ]
    let events = Set(RoomEvent.Kind.allCases).subtracting(rooms).map(\.rawValue)
    var found: Set<String> = []
    for (_, perform) in HiddenTests.operations {
      let scene = try await Scene(isHidden: false)
      try await perform(scene)
      let late = try await scene.house.enter("late")
      if !HiddenTests().names(scene.ghost, [late.joined]).isEmpty { found.insert("joined") }
      #expect(await scene.house.ask(.patch, "/v1/rooms/demo", #"{"metadata":"m"}"#).status == 200)
      found.formUnion(try types(scene.ghost, await scene.witness.heard(until: "room.updated")))
    }
    #expect(found == Self.naming.union(events).subtracting(Self.sampled))
  }

  // MARK: - Operations with an end of their own

  @Test(arguments: HiddenTests.operations.indices)
  func `a participant that resumes learns nothing of a hidden one, whatever happened meanwhile`(index: Int)
    async throws
  {
    let (name, perform) = HiddenTests.operations[index]
    let scene = try await Scene()
    scene.witness.socket.hangUp()
    await scene.witness.ended()
    try await perform(scene)
    let back = await scene.house.resume(scene.witness)
    back.socket.say(#"{"type":"ping"}"#)
    let heard = await back.heard(until: "pong")
    #expect(heard.first?.contains(#""type":"resumed""#) == true, "\(name)")
    #expect(HiddenTests().names(scene.ghost, heard) == [], "\(name)")
  }

  @Test func `a room that is closed does not reveal its hidden participants`() async throws {
    let scene = try await Scene()
    let life = try #require(await scene.house.ask(.get, "/v1/rooms/demo")["id"] as? String)
    #expect(await scene.house.ask(.delete, "/v1/rooms/demo").status == 204)
    let heard = await scene.witness.heard(until: "closed")
    #expect(heard.last?.contains(#""reason":"roomClosed""#) == true)
    #expect(HiddenTests().names(scene.ghost, heard) == [])
    #expect(try await scene.ghost.next("closed")["reason"] as? String == "roomClosed")
    // Neither does its log, nor the next room of that name.
    let late = try await scene.house.enter("late")
    #expect(HiddenTests().names(scene.ghost, [late.joined]) == [])
    for path in ["/v1/rooms/demo/events?roomId=\(life)", "/v1/rooms/demo/events", "/v1/events"] {
      let events = await scene.house.ask(.get, path)
      #expect(events.status == 200 && !events.items.isEmpty, "\(path)")
      #expect(HiddenTests().names(scene.ghost, [events.text]) == [], "\(path)")
    }
  }
}
