internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer
internal import Signalling

/// `/v1/calls/{call}/sessions`: what people of a call do together.
extension CallDoor {
  @Sendable func startSession(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .words, knowing: ["id", "experience", "from"])
    let id = try ownID(body)
    let name = "1 to 128 bytes without control characters"
    guard let experience = try body.text("experience", name, AccessToken.isText).value else {
      throw .body("experience is required: \(name)")
    }
    let earlier = try uuid(body, "from")
    let place = try self.call(call)
    if let earlier { try await payForSnapshot(of: earlier, call) }
    let (session, isNew) = try await ask { () async throws(CallProblem) in
      try await desk.startSession(
        id, in: place, experience: experience, from: earlier, by: call.permission.caller)
    }
    return answer(SharedSessionBody(session), status: isNew ? 201 : 200)
  }

  /// What is copied is paid for like what comes in, however small the request for it is.
  private func payForSnapshot(of earlier: CallUUID, _ call: CallRequest) async throws(RESTProblem) {
    let size = try await ask { () async throws(CallProblem) in
      try await desk.snapshotSize(of: earlier, for: call.permission.caller.person)
    }
    if size > 0 { try pay(size, call) }
  }

  @Sendable func sessions(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let status = call.request.queryItem("status")
    guard status == nil || status == "active" else { throw .query("status must be active") }
    let place = try self.call(call)
    let deposit = CallDeskTerms.Sharing().sessionsOfCall * Self.pricePerShortItem
    try pay(deposit, call)
    let found = try await ask { () async throws(CallProblem) in
      try await desk.sessions(of: place, isOpen: status != nil, for: call.permission.caller.person)
    }
    let sorted = found.sorted { ($0.state.createdAt, $0.state.id) > ($1.state.createdAt, $1.state.id) }
    return paid(
      answer(RESTList(items: sorted.map { SharedSessionBody($0) }, next: nil)), beyond: deposit, call)
  }

  @Sendable func joinSession(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try await change(call) { session, place, caller, key async throws(CallProblem) in
      try await desk.joinSession(session, in: place, by: caller, under: key)
    }
  }

  @Sendable func leaveSession(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try await change(call) { session, place, caller, key async throws(CallProblem) in
      try await desk.leaveSession(session, in: place, by: caller, under: key)
    }
  }

  @Sendable func endSession(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try await change(call) { session, place, caller, _ async throws(CallProblem) in
      try await desk.endSession(session, in: place, by: caller)
    }
  }

  /// Hands it over, or answers an offer.
  @Sendable func own(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .words, knowing: ["to", "accept"])
    let to = try body.text("to", "an identity", AccessToken.isName).value
    let accepts = try body.flag("accept").value
    guard (to == nil) != (accepts == nil) else { throw .body("either to or accept is required") }
    return try await change(call) { session, place, caller, key async throws(CallProblem) in
      if let to {
        return try await desk.handOver(session, in: place, to: PersonID(to), by: caller, under: key)
      }
      return try await desk.answerOffer(session, in: place, accepts: accepts == true, by: caller, under: key)
    }
  }

  /// - Returns: the session as it stands then.
  private func change(
    _ call: CallRequest,
    _ body: (CallUUID, CallUUID, Caller, KeyedRequest<SharedSessionDocument>?) async throws(CallProblem)
      -> SharedSessionDocument
  ) async throws(RESTProblem) -> HTTPResponse {
    let (session, place) = (try session(call), try self.call(call))
    let answer: @Sendable (SharedSessionDocument) -> HTTPResponse = { self.answer(SharedSessionBody($0)) }
    do throws(CallProblem) {
      return answer(try await body(session, place, call.permission.caller, keyed(call, answer)))
    } catch { throw RESTProblem(error) }
  }

  // MARK: - Events

  @Sendable func appendEvent(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    struct Answer: Encodable {
      let id: String
      let seq: Int64
      let time: String
    }
    let body = try OpaqueBody(
      call.request, "data", most: CallDeskTerms.Sharing().eventData, within: .words, knowing: ["id", "type"])
    let id = try ownID(body.reader)
    let name = "1 to 128 bytes without control characters"
    guard let type = try body.reader.text("type", name, AccessToken.isText).value else {
      throw .body("type is required: \(name)")
    }
    let data = body.value ?? .null
    let (session, place) = (try session(call), try self.call(call))
    let event = try await ask { () async throws(CallProblem) in
      try await desk.append(
        id, type: type, data: data.bytes, to: session, in: place, by: call.permission.caller)
    }
    return answer(Answer(id: event.id, seq: event.seq, time: CallBody.time(event.time)), status: 201)
  }

  @Sendable func sharedEvents(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    var after: Int64 = 0
    if let text = call.request.queryItem("after") {
      guard let number = Int64(text), number >= 0 else { throw .query("after must be an event's number") }
      after = number
    }
    let (limit, from) = (try RESTPage.limit(of: call.request, usual: 50, most: 200), after)
    let (session, place) = (try session(call), try self.call(call))
    try pay(limit * Self.pricePerShortItem, call)
    let page = try await ask { () async throws(CallProblem) in
      try await desk.eventPage(
        of: session, in: place, after: from, limit: limit, for: call.permission.caller.person)
    }
    return paid(json(page.json), beyond: limit * Self.pricePerShortItem, call)
  }

  // MARK: - Snapshots

  @Sendable func keepSnapshot(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try OpaqueBody(
      call.request, "state", most: CallDeskTerms.Sharing().snapshot, within: .participants,
      knowing: ["seq", "participants", "owner"])
    guard let seq = try body.reader.integer("seq", 0...999_999_999_999_999).value else {
      throw .body("seq is required: the number of the last event that is in it")
    }
    guard let state = body.value else { throw .body("state is required") }
    let participants = try body.reader.texts("participants", most: BodyBounds.mostRecipients).value ?? []
    guard participants.allSatisfy(AccessToken.isName) else {
      throw .body("participants must be identities of 1 to 128 bytes")
    }
    let owner = try body.reader.text("owner", "an identity", AccessToken.isName).value
    let snapshot = SharedSnapshot(
      seq: Int64(seq), .init(participants: participants, owner: owner), state: state)
    let (session, place) = (try session(call), try self.call(call))
    try await ask { () async throws(CallProblem) in
      try await desk.keepSnapshot(snapshot, of: session, in: place, by: call.permission.caller)
    }
    return HTTPResponse(status: 204)
  }

  @Sendable func snapshot(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let (session, place) = (try session(call), try self.call(call))
    let person = call.permission.caller.person
    // Before it is read.
    let size = try await ask { () async throws(CallProblem) in
      try await desk.snapshotSize(of: session, in: place, for: person)
    }
    if size > 0 { try pay(size, call) }
    let found = try await ask { () async throws(CallProblem) in
      try await desk.snapshot(of: session, in: place, for: person)
    }
    return paid(json(found.json), beyond: size, call)
  }

  // MARK: - What they share

  private func session(_ call: CallRequest) throws(RESTProblem) -> CallUUID {
    // What is no id is one that was never given out.
    guard let id = call.parameters["session"].flatMap({ CallUUID($0) }) else {
      throw RESTProblem(CallProblem.notFound)
    }
    return id
  }

  private func ownID(_ body: BodyReader) throws(RESTProblem) -> CallUUID {
    guard let id = try uuid(body, "id") else { throw .body("id is required: a UUID that the client makes") }
    return id
  }

  private func uuid(_ body: BodyReader, _ name: String) throws(RESTProblem) -> CallUUID? {
    try body.text(name, "a UUID") { CallUUID($0) != nil }.value.flatMap { CallUUID($0) }
  }

  private func json(_ body: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse(status: 200, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
