import AccessTokens
import Foundation
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("What the server says and what the schema says", .timeLimit(.minutes(2)))
struct SchemaTests {
  static let track = TrackBody(id: "TR_1", kind: "video", source: .screenShareAudio, name: "t", muted: true)
  static let permissions: Permissions = {
    var permissions = Permissions()
    permissions.canPublishSources = [.camera]
    return permissions
  }()
  static let participant = ParticipantBody(
    id: "PA_1", identity: #"<img onerror="x">"#, name: "Ada", metadata: "{}", attributes: ["a": "b"],
    permissions: PermissionsBody(permissions),
    tracks: [track, TrackBody(id: "TR_2", kind: "audio", source: .microphone)])

  /// Every message with every field and every value that it can have.
  static let messages: [ServerMessage] =
    [
      .joined(
        JoinedBody(
          participant: participant, room: RoomBody(id: "RM_1", name: "r", metadata: "m"),
          participants: [participant, ParticipantBody(id: "PA_2", identity: "i")], lastEvent: 0),
        resumeToken: String(repeating: "r", count: 32),
        iceServers: [
          ICEServerBody(urls: ["stun:a"]), ICEServerBody(urls: ["turn:b"], username: "u", credential: "c"),
        ], pingInterval: 20),
      .answer(SessionAnswer(sdp: "v=0")),
      .answer(
        SessionAnswer(
          sdp: "v=0", tracks: [.init(mid: "0", track: "TR_1")],
          slots: [Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")],
          declined: [.init(mid: "3", code: "codec")])),
      .slots([Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")]),
      .offerWanted(audio: 0, video: 32, reason: .slots),
      .offerWanted(audio: 0, video: 0, reason: .iceRestart),
      .speakers([]), .speakers([SpeakerBody(participant: "PA_1", level: 1)]),
      .data(DataBody(from: nil, payload: "")), .data(DataBody(from: "PA_1", payload: "aGk=", topic: "t")),
      .resumed(
        ResumedBody(lastEvent: 0), resumeToken: String(repeating: "r", count: 32), answer: nil),
      .resumed(
        ResumedBody(
          lastEvent: 9, slots: [Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")],
          tracks: [.init(mid: "0", track: "TR_1")]),
        resumeToken: String(repeating: "r", count: 32),
        answer: ResumedAnswer(id: RequestID(4), answer: SessionAnswer(sdp: "v=0"))),
      .token("e30.e30.e30"),
      .pong, .draining(deadline: "2026-05-04T12:01:00.000Z"),
    ]
    + ConnectionQuality.allCases.map { .quality([QualityBody(participant: "PA_1", quality: $0.rawValue)]) }
    + RoomEvent.Kind.allCases.map {
      .event(EventBody(id: 1, time: "t", room: "r", roomId: "RM_1", type: $0.rawValue))
    }
    + LeaveReason.allCases.map {
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: "participant.left",
          participant: .whole(participant), reason: $0, metadata: "m"))
    }
    + ["Ada", nil].map {
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: "track.muted",
          participant: .named(PublisherBody(id: "PA_1", identity: "i", name: $0)), track: track))
    }
    + [StreamBody(track: "TR_1", state: "active")].map { .stream($0) }
    + StreamState.PauseReason.allCases.map {
      .stream(StreamBody(track: "TR_1", state: "paused", reason: $0.rawValue))
    }
    + StreamState.WaitReason.allCases.map {
      .stream(StreamBody(track: "TR_1", state: "waiting", reason: $0.rawValue))
    }
    + SignallingErrorCode.allCases.map { .error($0, message: "m") }
    + LeaveReason.allCases.map { .closed($0) }

  /// Fails to compile when a message is new, so that it isn't forgotten above.
  static func name(_ message: ServerMessage) -> String {
    switch message {
    case .joined: "joined"
    case .resumed: "resumed"
    case .token: "token"
    case .answer: "answer"
    case .slots: "slots"
    case .offerWanted: "offerWanted"
    case .event: "event"
    case .speakers: "speakers"
    case .quality: "quality"
    case .stream: "stream"
    case .data: "data"
    case .ok: "ok"
    case .pong: "pong"
    case .error: "error"
    case .draining: "draining"
    case .closed: "closed"
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `every message that the server can say is one of the schema's, field by field`() throws {
    let texts =
      Self.messages.map { $0.json() }
      + Self.messages.map { $0.json(id: RequestID(7)) }
      .filter { text in
        ["joined", "resumed", "answer", "pong", "error"].contains { text.contains(#""type":"\#($0)""#) }
      }
      + [ServerMessage.ok.json(id: RequestID(1)), ServerMessage.ok.json(id: RequestID(.max))]
    #expect(Set(Self.messages.map(Self.name)).union(["ok"]).count == 16)
    let (status, output) = try check(texts.map { "ServerMessage \($0)" })
    #expect(status == 0, "\(output)")
    #expect(output.contains("\(texts.count) messages"))
  }

  /// The types that a client's messages may have, as the schema lists them.
  static func clientTypes() throws -> Set<String> {
    let file = try Data(contentsOf: root.appending(path: "docs/signalling.schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
    let messages = try #require(definitions["ClientMessage"]?["oneOf"] as? [[String: String]])
    return try Set(
      messages.map { message in
        let name = try #require(message["$ref"]?.split(separator: "/").last.map(String.init))
        let properties = definitions[name]?["properties"] as? [String: Any]
        return try #require((properties?["type"] as? [String: Any])?["const"] as? String, "\(name)")
      })
  }

  /// The schema names what the server has and nothing else; scripts/make-types takes openapi.json's words from there.
  @Test func `the schema's lists of words are the server's`() throws {
    let file = try Data(contentsOf: Self.root.appending(path: "docs/signalling.schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: Any])
    func words(_ name: String, _ property: String? = nil) throws -> Set<String> {
      var found = try #require(definitions[name] as? [String: Any])
      if let property {
        let properties = try #require(found["properties"] as? [String: Any])
        found = try #require(properties[property] as? [String: Any])
      }
      return Set(try #require(found["enum"] as? [String]))
    }
    #expect(try words("LeaveReason") == Set(LeaveReason.allCases.map(\.rawValue)))
    #expect(try words("RoomEvent", "type") == Set(RoomEvent.Kind.allCases.map(\.rawValue)))
    #expect(try words("Source") == Set(TrackSource.allCases.map(\.rawValue)))
    #expect(try words("ErrorCode") == Set(SignallingErrorCode.allCases.map(\.rawValue)))
    #expect(
      try words("Stream", "reason")
        == Set(
          StreamState.PauseReason.allCases.map(\.rawValue) + StreamState.WaitReason.allCases.map(\.rawValue)))
  }

  /// Each is understood, and is one of the schema's.
  @Test(arguments: [
    #"{"type":"auth","token":"t","id":"a"}"#, #"{"type":"resume","resumeToken":"t","after":0,"id":1}"#,
    #"{"type":"offer","sdp":"v=0","tracks":[{"mid":"0","source":"camera","name":"n","muted":true},{"mid":"1"}]}"#,
    #"{"type":"candidate","candidate":"","mid":null}"#, #"{"type":"subscribe","track":"TR_1"}"#,
    #"{"type":"subscribe","track":"TR_1","mid":"0","id":5}"#, #"{"type":"unsubscribe","track":"TR_1"}"#,
    #"{"type":"mute","track":"TR_1","muted":false}"#, #"{"type":"update"}"#,
    #"{"type":"update","name":"n","metadata":"","attributes":{"a":""}}"#, #"{"type":"data","payload":""}"#,
    #"{"type":"data","payload":"aGk=","topic":"t","reliable":false,"destinations":["eve"]}"#,
    #"{"type":"leave","reason":"r"}"#, #"{"type":"ping"}"#,
  ])
  func `what a client may say is understood, and stands in the schema`(text: String) throws {
    if case .unknown = try ClientMessage(json: text).content { Issue.record("\(text) is unknown") }
    let (status, output) = try check(["ClientMessage \(text)"])
    #expect(status == 0, "\(output)")
  }

  private func check(_ lines: [String]) throws -> (status: Int32, output: String) {
    try Self.run("scripts/check-messages", lines)
  }

  /// What a script says of lines.
  static func run(_ script: String, _ lines: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = root.appending(path: script)
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    // From beside, so that neither end waits for the other.
    let text = Data((lines.joined(separator: "\n") + "\n").utf8)
    DispatchQueue.global().async {
      try? input.fileHandleForWriting.write(contentsOf: text)
      try? input.fileHandleForWriting.close()
    }
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: answer, as: UTF8.self))
  }
}
