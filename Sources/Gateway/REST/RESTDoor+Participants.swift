internal import AccessTokens
internal import HTTPServer
internal import Model
internal import Rooms
internal import Signalling

/// `/v1/rooms/{room}/participants` and what is said to them.
extension RESTDoor {
  private static let permissions: Set<String> = [
    "canPublish", "canPublishSources", "canSubscribe", "canPublishData", "canUpdateOwnMetadata",
  ]

  @Sendable func listParticipants(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let page = try RESTPage(call.request)
    let listing = try RESTPage.people(call.request)
    let place = try page.place(isByName: listing.order == .identity)
    let found = await (try room(call)).participants(listing, after: place, limit: page.limit + 1)
    return answer(page.body(found, isByName: listing.order == .identity) { ParticipantResource($0) })
  }

  @Sendable func showParticipant(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let room = try room(call)
    let found = try await ask { () async throws(AdministrationError) in
      try await room.participant(call.identity)
    }
    return answer(ParticipantResource(found))
  }

  @Sendable func changeParticipant(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: BodyReader.patchTypes, within: .participant,
      knowing: ["name", "metadata", "attributes", "permissions", "handRaised"])
    var patch = ParticipantPatch()
    patch.name = try body.name("name")
    patch.metadata = try body.metadata()
    patch.attributes = try body.pairs("attributes")
    if let isRaised = try body.flag("handRaised").value {
      // Whose hand it is raises it.
      guard !isRaised else { throw .body("handRaised can be false alone") }
      patch.lowersHand = true
    }
    if let permissions = try body.object("permissions", knowing: Self.permissions) {
      patch.permissions.canPublish = try permissions.flag("canPublish")
      patch.permissions.canPublishSources = try permissions.sources("canPublishSources")
      patch.permissions.canSubscribe = try permissions.flag("canSubscribe")
      patch.permissions.canPublishData = try permissions.flag("canPublishData")
      patch.permissions.canUpdateOwnMetadata = try permissions.flag("canUpdateOwnMetadata")
    }
    let room = try room(call)
    let changed = try await ask { [patch] () async throws(AdministrationError) in
      try await room.change(call.identity, patch)
    }
    return answer(ParticipantResource(changed))
  }

  @Sendable func removeParticipant(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    try await ask { () async throws(AdministrationError) in
      try await rooms.remove(call.identity, from: call.room)
    }
    return HTTPResponse(status: 204)
  }

  @Sendable func muteTrack(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(call.request, types: ["application/json"], within: .words, knowing: ["muted"])
    guard let muted = try body.flag("muted").value else { throw .body("muted is required") }
    let room = try room(call)
    let track = try await ask { () async throws(AdministrationError) in
      try await room.mute(call.parameters["track"] ?? "", of: call.identity, muted)
    }
    return answer(TrackBody(track))
  }

  @Sendable func sendData(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .message,
      knowing: ["payload", "topic", "reliable", "destinations"])
    guard let payload = try body.bytes("payload", most: ClientMessage.maximumPayloadCharacters).value else {
      throw .body("payload is required")
    }
    let topic = try body.name("topic").value
    let reliable = try body.flag("reliable").value ?? true
    let destinations = try body.texts("destinations", most: ClientMessage.maximumDestinations).value
    await (try room(call)).send(payload, topic: topic, reliable: reliable, to: destinations)
    return HTTPResponse(status: 204)
  }
}

/// A participant, as REST shows it: what everybody sees, and what only those see who run the room.
struct ParticipantResource: Encodable {
  let body: ParticipantBody
  /// RFC 3339.
  let joinedAt: String
  let hidden: Bool
  let quality: String?
  let bitrates: BitratesBody
  let subscriptions: [Subscription]

  struct Subscription: Encodable {
    let track: String
    let mid: String?
    let state: String
    let reason: String?
  }

  init(_ participant: ParticipantSnapshot) {
    body = ParticipantBody(participant.info)
    joinedAt = participant.joined.text
    hidden = participant.grants.hidden
    quality = participant.quality?.rawValue
    bitrates = BitratesBody(participant.bitrates)
    subscriptions = participant.subscriptions.map { subscription in
      let stream = StreamBody(subscription.track, subscription.state)
      return Subscription(
        track: stream.track, mid: subscription.mid, state: stream.state.rawValue,
        reason: stream.reason?.rawValue)
    }
  }

  private enum Key: CodingKey { case joinedAt, hidden, quality, bitrates, subscriptions }

  func encode(to encoder: any Encoder) throws {
    try body.encode(to: encoder)
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(joinedAt, forKey: .joinedAt)
    try fields.encode(hidden, forKey: .hidden)
    try fields.encodeIfPresent(quality, forKey: .quality)
    try fields.encode(bitrates, forKey: .bitrates)
    try fields.encode(subscriptions, forKey: .subscriptions)
  }
}
