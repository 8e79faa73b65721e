internal import AccessTokens
internal import Engine
internal import HTTPServer
internal import Model
internal import Rooms
internal import Signalling

/// `/v1/rooms/{room}/explain`
extension RESTDoor {
  /// Participants that one page explains at most, and where nothing is said: each costs a worker what an allocation does, and has
  /// as many subscriptions as others have tracks.
  static let explainedAtOnce = 100
  static let usuallyExplained = 25

  @Sendable func explainRoom(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let page = try RESTPage(call.request, usual: Self.usuallyExplained, most: Self.explainedAtOnce)
    let room = try room(call)
    let found: RoomExplanation
    if let identity = call.request.queryItem("identity") {
      found = await room.explain(identity)
    } else {
      found = await room.explain(after: page.after, limit: page.limit)
    }
    // Long lists of records: written by their own writer, at a fraction of what Foundation's takes.
    var response = HTTPResponse(
      status: 200, type: "application/json", body: Array(ExplanationPage(found).json.utf8))
    response.headers.add("cache-control", "no-store")
    return response
  }
}

/// Why participants get what they get, as REST shows it.
struct ExplanationPage: Record {
  static let definition = "ExplanationList"
  static let summary = "One page of explanations."

  var items: [ExplainedParticipant] = []
  /// For `after`; nil: there is no more.
  var next: String?
  /// Workers of whose participants nothing is known.
  var unanswered = 0

  init() {}

  init(_ page: RoomExplanation) {
    items = page.participants.map { ExplainedParticipant($0) }
    next = page.hasMore ? page.participants.last.map { RESTPage.next(after: $0.identity) } : nil
    unanswered = page.unanswered
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.records("items", &items, .people)
    try coder.text("next", &next, .any)
    try coder.integer("unanswered", &unanswered, 0...(.max))
  }
}

struct ExplainedParticipant: Record {
  static let definition = "ParticipantExplanation"
  static let summary = "What one participant gets, and why."

  var id = ""
  var identity = ""
  var name: String?
  var transports: [ExplainedTransport] = []
  var subscriptions: [ExplainedSubscription] = []

  init() {}

  init(_ participant: ParticipantExplanation) {
    id = participant.id.text
    identity = participant.identity
    name = participant.name
    transports = participant.transports.map { ExplainedTransport($0) }
    subscriptions = participant.subscriptions.map { ExplainedSubscription($0) }
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .participant)
    try coder.text("identity", &identity, .identity)
    try coder.text("name", &name, .any)
    try coder.records("transports", &transports, .sections)
    try coder.records("subscriptions", &subscriptions, .people)
  }
}

struct ExplainedTransport: Record {
  static let definition = "TransportExplanation"
  static let summary = "What the path of one of a participant's transports carries."

  var transport = 1
  var connected = false
  var report: TransportReport?
  /// RFC 3339.
  var probedAt: String?
  var received = 0
  var sent = 0

  init() {}

  init(_ explained: TransportExplanation) {
    transport = Int(explained.id.number)
    connected = explained.media?.takesMedia ?? false
    report = explained.media.map { TransportReport($0) }
    probedAt = explained.probedAt?.text
    (received, sent) = (explained.bitrates.received, explained.bitrates.sent)
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.integer("transport", &transport, 1...(.max))
    try coder.flag("connected", &connected)
    if report != nil { try report!.fields(&coder) }
    try coder.text("probedAt", &probedAt, .any)
    try coder.integer("received", &received, 0...(.max))
    try coder.integer("sent", &sent, 0...(.max))
  }
}

/// A subscription with what a participant need not be given of its own.
struct ExplainedSubscription: Record {
  static let definition = "SubscriptionExplanation"
  static let summary = "What a participant gets of one track, and why."

  var stream = ExplainedStream()
  var publisherIdentity = ""
  var kind = ""
  var source = TrackSource.unknown
  var transport = 1
  var mid: String?

  init() {}

  init(_ subscription: SubscriptionExplanation) {
    stream = ExplainedStream(subscription)
    publisherIdentity = subscription.publisher.identity
    kind = subscription.track.kind == .audio ? "audio" : "video"
    source = subscription.track.source
    transport = Int(subscription.transport.number)
    mid = subscription.mid
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try stream.fields(&coder)
    try coder.text("publisherIdentity", &publisherIdentity, .identity)
    try coder.text("kind", &kind, .any)
    try coder.word("source", &source)
    try coder.integer("transport", &transport, 1...(.max))
    try coder.text("mid", &mid, .any)
  }
}
