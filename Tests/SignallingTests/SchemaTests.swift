import AccessTokens
import Foundation
import Model
import TestScripts
import Testing

@testable import Signalling

@Suite("What the server says and what the schema says", .timeLimit(.minutes(2)))
struct SchemaTests {
  static let track = TrackBody(id: "TR_1", kind: .video, source: .screenShareAudio, name: "t", muted: true)
  static let permissions: Permissions = {
    var permissions = Permissions()
    permissions.canPublishSources = [.camera]
    return permissions
  }()
  static let participant = ParticipantBody(
    id: "PA_1", identity: #"<img onerror="x">"#, name: "Ada", metadata: "{}", attributes: ["a": "b"],
    permissions: PermissionsBody(permissions),
    tracks: [track, TrackBody(id: "TR_2", kind: .audio, source: .microphone)])
  static let joined = {
    var joined = ServerMessage.Joined(
      participant: participant, room: RoomBody(id: "RM_1", name: "r", metadata: "m"),
      participants: [.value(participant), .value(ParticipantBody(id: "PA_2", identity: "i"))], lastEvent: 0)
    joined.resumeToken = String(repeating: "r", count: 32)
    joined.iceServers = [
      ICEServerBody(urls: ["stun:a"]), ICEServerBody(urls: ["turn:b"], username: "u", credential: "c"),
    ]
    joined.pingInterval = 20
    return joined
  }()
  /// Of a host, in a room that asks.
  static let hosting = {
    var hosting = joined
    hosting.room = RoomBody(id: "RM_1", name: "r", recorded: true, admission: true, locked: true)
    hosting.participant.hand = "2026-05-04T12:01:00.000Z"
    hosting.waiting = [
      WaiterBody(id: "WT_1", identity: "i", name: "Eve", since: "t", until: "t"),
      WaiterBody(id: "WT_2", identity: "j", since: "t", until: "t"),
    ]
    return hosting
  }()
  static let resumed = {
    var resumed = ServerMessage.Resumed(
      lastEvent: 9, slots: [Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")],
      tracks: [AnsweredTrack(mid: "0", track: "TR_1")])
    resumed.resumeToken = String(repeating: "r", count: 32)
    resumed.answer = .init(id: RequestID(4), answer: ServerMessage.Answer(sdp: "v=0"))
    return resumed
  }()
  static let plain = {
    var resumed = ServerMessage.Resumed(lastEvent: 0)
    resumed.resumeToken = "r"
    return resumed
  }()

  /// Every message with every field and every value that it can have.
  static let contents: [ServerMessage.Content] =
    [
      .joined(joined), .resumed(plain), .resumed(resumed), .answer(ServerMessage.Answer(sdp: "v=0")),
      .answer(
        ServerMessage.Answer(
          sdp: "v=0", tracks: [AnsweredTrack(mid: "0", track: "TR_1")],
          slots: [Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")],
          declined: [DeclinedSection(mid: "3", code: "codec")])),
      .slots([Slot(mid: "1", track: nil), Slot(mid: "2", track: "TR_1")]),
      .offerWanted(.init(audio: 0, video: 32, reason: .slots)),
      .offerWanted(.init(audio: 0, video: 0, reason: .iceRestart)), .speakers([]),
      .speakers([SpeakerBody(participant: "PA_1", level: 1), SpeakerBody(participant: "PA_1", level: 0.25)]),
      .data(DataBody(from: nil, payload: [])),
      .data(DataBody(from: "PA_1", payload: Array(0...255), topic: "t", reliable: false)),
      .token("e30.e30.e30"), .pong, .draining(deadline: "2026-05-04T12:01:00.000Z"),
    ]
    + ConnectionQuality.allCases.map { .quality([QualityBody(participant: "PA_1", quality: $0)]) }
    + RoomEventKind.allCases.map {
      .event(EventBody(id: 1, time: "t", room: "r", roomId: "RM_1", type: $0))
    }
    + LeaveReason.allCases.map {
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: .participantLeft,
          participant: .whole(participant), reason: $0, metadata: "m"))
    }
    + ["Ada", nil].map {
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: .trackMuted,
          participant: .named(PublisherBody(id: "PA_1", identity: "i", name: $0)), track: track))
    }
    + [.stream(StreamBody(track: "TR_1", state: .active))]
    + asking
    + ends
    + explanations
    + publications
    + shared
    + StreamBody.Reason.allCases.map { .stream(StreamBody(track: "TR_1", state: .waiting, reason: $0)) }
    + SignallingErrorCode.allCases.map { .error(ServerMessage.ErrorBody($0, "m")) }
    + LeaveReason.allCases.map { .closed($0) }

  private static let publications: [ServerMessage.Content] = [
    .publish(
      ServerMessage.Publish(
        track: "TR_1", layers: [WatchedLayer(rid: "f", active: false)],
        codecs: [TakenCodec(payloadType: 98, codec: "VP9")])),
    .publish(ServerMessage.Publish(track: "TR_1", layers: [], codecs: [])),
  ]

  /// Of rooms that ask their hosts, and keep messages.
  private static let asking: [ServerMessage.Content] =
    [
      .joined(hosting), .waiting(.init(until: "2026-05-04T12:10:00.000Z", pingInterval: 20)),
      .history(.init(messages: [])),
      .history(
        .init(messages: [
          KeptMessageBody(
            from: "PA_1", identity: "i", name: "Ada", topic: "t", payload: [1, 2, 3], time: "t"),
          KeptMessageBody(from: nil, identity: nil, name: nil, topic: "t", payload: [], time: "t"),
        ])),
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: .roomUpdated,
          settings: RoomSettingsBody(admission: true, locked: false))),
      .event(
        EventBody(
          id: 1, time: "t", room: "r", roomId: "RM_1", type: .participantWaiting,
          waiting: WaiterBody(id: "WT_1", identity: "i", name: "Eve", since: "t", until: "t"))),
    ]

  private static let ends: [ServerMessage.Content] = WaitingEndReason.allCases.map {
    .event(
      EventBody(
        id: 1, time: "t", room: "r", roomId: "RM_1", type: .waitingEnded,
        waiting: WaiterBody(id: "WT_1", identity: "i", since: "t", until: "t", reason: $0)))
  }

  private static let shared: [ServerMessage.Content] =
    ["ada", nil].map { sender in
      let data = sender == nil ? OpaqueJSON.null : OpaqueJSON(Array(#"{"a":[1.50,"x"]}"#.utf8)) ?? .null
      let event = SharedEventBody(id: "e", seq: 1, type: "t", sender: sender, time: "t", data: data)
      return .sessionEvent(.init(sid: "s", event: event))
    }

  private static let explanations: [ServerMessage.Content] =
    StreamReasonWord.allCases.map { .explain(explanation($0)) }
    + [.explain(ServerMessage.Explanation(transport: nil, subscriptions: []))]

  /// As little as there is to say of one.
  private static let bareStream: ExplainedStream = {
    var stream = ExplainedStream()
    (stream.track, stream.publisher, stream.text) = ("TR_2", "PA_1", "words")
    return stream
  }()

  private static func explanation(_ reason: StreamReasonWord) -> ServerMessage.Explanation {
    var report = TransportReport()
    (report.target, report.estimated, report.allotted, report.wanted) = (1, 2, 3, 4)
    (report.next, report.loss, report.roundTrip, report.probe) = (5, 0.0123, 0.045, 6)
    report.isProbing = true
    var stream = ExplainedStream()
    (stream.track, stream.publisher, stream.reason, stream.text) = ("TR_1", "PA_1", reason, "words")
    stream.wanted = WantedPicture(PicturePreference())
    var sent = SentLayer()
    (sent.encoding, sent.rid, sent.width, sent.height, sent.frameRate) = (1, "m", 640, 360, 30)
    (stream.sent, stream.bitrate, stream.loss, stream.roundTrip) = (sent, 320_000, 0.5, 0.02)
    stream.keyFrame = "2026-01-01T00:00:00.000Z"
    stream.keyFrameRequest = ExplainedRequest(
      at: "2026-01-01T00:00:00.000Z", by: .participant, participant: "PA_2")
    return ServerMessage.Explanation(transport: report, subscriptions: [stream, bareStream])
  }

  /// As they go out: those that answer requests with an id too.
  static let messages: [ServerMessage] =
    contents.map { ServerMessage($0) } + [
      ServerMessage(.ok, id: RequestID(1)), ServerMessage(.ok, id: RequestID(.max)),
      ServerMessage(.sessionSeq(.init(sid: "s", event: "e", seq: 7)), id: RequestID(3)),
    ]
    + contents.filter { content in
      switch content {
      case .joined, .waiting, .resumed, .answer, .explain, .pong, .error, .closed: true
      default: false
      }
    }.map { ServerMessage($0, id: RequestID(7)) }

  @Test func `every message that the server can say is one of the schema's, field by field`() throws {
    let texts = Self.messages.map(\.json)
    let types = ServerMessage.kinds.map { $0.type }
    for type in types { #expect(texts.contains { $0.contains(#""type":"\#(type)""#) }, "\(type)") }
    let (status, output) = try check(texts.map { "ServerMessage \($0)" })
    #expect(status == 0, "\(output)")
    #expect(output.contains("\(texts.count) messages"))
  }

  @Test func `every message that the server can say is read as it was written`() throws {
    for message in Self.messages { #expect(try ServerMessage(json: message.json) == message) }
    #expect(
      try ServerMessage(json: #"{"type":"tomorrow","id":"x"}"#).content == .unknown(type: "tomorrow"))
  }

  @Test(arguments: [
    (#"{"type":"closed"}"#, "reason", MessageError.FieldProblem.missing),
    (#"{"type":"slots","assignments":[{"mid":7}]}"#, "assignments.mid", .expected("a string")),
    (
      #"{"type":"offerWanted","audio":0,"video":33,"reason":"slots"}"#, "video",
      .expected("a whole number from 0 to 32")
    ),
    (
      #"{"type":"speakers","speakers":[{"participant":"PA_1","level":2}]}"#, "speakers.level",
      .expected("a number from 0 to 1")
    ),
    (#"{"type":"data","from":null,"payload":"a","reliable":true}"#, "payload", .expected("base64")),
    (#"{"type":"event","event":{"id":0}}"#, "event.id", .expected("a whole number from 1")),
    (#"{"type":"answer","sdp":"v=0","tracks":[],"slots":[]}"#, "declined", .missing),
  ])
  func `what no server says is refused by its first wrong field`(
    text: String, field: String, problem: MessageError.FieldProblem
  ) {
    #expect(throws: MessageError.field(field, problem, id: nil)) { try ServerMessage(json: text) }
  }

  /// A message with a list of so many items, and the list's name.
  struct Long: CustomTestStringConvertible, Sendable {
    var field: String
    var limit: Int
    var message: @Sendable (_ items: Int) -> String
    var testDescription: String { "\(field), at most \(limit)" }

    static func list(_ item: String, _ count: Int) -> String {
      "[\(Array(repeating: item, count: count).joined(separator: ","))]"
    }
  }

  static let long = [
    Long(field: "assignments", limit: 4_096) {
      #"{"type":"slots","assignments":\#(Long.list(#"{"mid":"0","track":null}"#, $0))}"#
    },
    Long(field: "speakers", limit: 100_000) {
      #"{"type":"speakers","speakers":\#(Long.list(#"{"participant":"PA_1","level":0}"#, $0))}"#
    },
    Long(field: "declined", limit: 4_096) {
      #"{"type":"answer","sdp":"","tracks":[],"slots":[],"declined":\#(Long.list(#"{"mid":"0","code":"codec"}"#, $0))}"#
    },
    Long(field: "event.participant.tracks", limit: 4_096) {
      let track = #"{"id":"TR_1","kind":"audio","source":"microphone","muted":false,"mutedByAdmin":false}"#
      let subject =
        #"{"id":"PA_1","identity":"i","attributes":{},"tracks":\#(Long.list(track, $0)),"permissions":"#
        + #"{"canPublish":true,"canSubscribe":true,"canPublishData":true,"canUpdateOwnMetadata":true}}"#
      return
        #"{"type":"event","event":{"id":1,"time":"t","room":"r","roomId":"RM_1","type":"participant.joined","participant":\#(subject)}}"#
    },
  ]

  @Test(arguments: long)
  func `a list is read up to its bound, and not looked at beyond it`(list: Long) throws {
    _ = try ServerMessage(json: list.message(list.limit))
    #expect(throws: MessageError.field(list.field, .tooLong(list.limit), id: nil)) {
      try ServerMessage(json: list.message(list.limit + 1))
    }
  }

  /// ROOST_WRITE_SCHEMA=1 writes the file; scripts/make-types then makes the TypeScript types and openapi.json's words of it.
  @Test func `docs/signalling.schema.json is what the messages say of themselves`() throws {
    let file = Script.root.appending(path: "docs/signalling.schema.json")
    if ProcessInfo.processInfo.environment["ROOST_WRITE_SCHEMA"] == "1" {
      try SignallingSchema.text.write(to: file, atomically: true, encoding: .utf8)
    }
    let found = try String(contentsOf: file, encoding: .utf8)
    #expect(found == SignallingSchema.text, "write it by ROOST_WRITE_SCHEMA=1")
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
    #"{"type":"view","tracks":[{"track":"TR_1","quality":"low","maxWidth":1,"maxHeight":2,"maxFrameRate":3,"priority":0}]}"#,
    #"{"type":"subscribe","track":"TR_1","quality":"off","priority":255}"#, #"{"type":"view","tracks":[]}"#,
    #"{"type":"hand","raised":true,"id":1}"#, #"{"type":"hand","raised":false,"participant":"PA_1"}"#,
    #"{"type":"admit","waiting":"WT_1"}"#, #"{"type":"admit","waiting":"WT_1","allowed":false}"#,
    #"{"type":"offer","sdp":"v=0","tracks":[{"mid":"0","encrypted":true,"layers":[{"rid":"f","width":640,"height":360}]}]}"#,
    #"{"type":"layers","track":"TR_1","layers":[{"rid":"f","width":16384,"height":1},{"width":1,"height":2}],"id":3}"#,
    #"{"type":"layers","track":"TR_1"}"#, #"{"type":"leave","reason":"r"}"#, #"{"type":"ping"}"#,
    #"{"type":"session.event","sid":"s","event":{"id":"e","type":"t"}}"#,
    #"{"type":"session.event","sid":"s","event":{"id":"e","type":"t","data":[1.50,{"a":null}]}}"#,
  ])
  func `what a client may say is understood, and stands in the schema`(text: String) throws {
    let message = try ClientMessage(json: text)
    if case .unknown = message.content { Issue.record("\(text) is unknown") }
    #expect(try ClientMessage(json: message.json) == message)
    let (status, output) = try check(["ClientMessage \(text)", "ClientMessage \(message.json)"])
    #expect(status == 0, "\(output)")
  }

  private func check(_ lines: [String]) throws -> (status: Int32, output: String) {
    try Script.run("scripts/check-messages", lines)
  }
}
