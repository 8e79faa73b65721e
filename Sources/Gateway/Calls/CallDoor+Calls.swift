internal import AccessTokens
internal import CallDesk
internal import Calls
internal import Crypto
internal import FoundationEssentials
internal import HTTPServer
internal import Rooms
internal import Signalling

/// `/v1/calls`
extension CallDoor {
  /// What who starts or joins a call is answered.
  private struct EntryBody: Encodable {
    let call: CallBody
    let session: String
    let device: String
    let url: String?
    let token: String?
    let iceServers: [ICEServerBody]
    let merged: Bool?
    let key: WrappedKeyBody?
    let keyFrom: String?
    let keyIndex: Int64?
  }

  @Sendable func start(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try requireOpen()
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .ringing,
      knowing: ["id", "recipients", "media", "e2ee", "path", "metadata", "deviceId", "keys", "head"])
    guard let id = try body.text("id", "a UUID", { CallUUID($0) != nil }).value.flatMap({ CallUUID($0) })
    else {
      throw .body("id is required: a UUID that the client makes")
    }
    let people = try recipients(body)
    try pay(for: people, call)
    guard let media = try word(body, "media", CallMedia.self) else { throw .body("media is required") }
    var wanted = CallDesk.Start(id: id, recipients: people, media: media)
    wanted.path = try word(body, "path", CallPath.self) ?? .relay
    wanted.isEncrypted = try body.flag("e2ee").value ?? false
    wanted.metadata = try body.metadata().value
    let caller = try caller(call, body)
    wanted.keys = try wrappedKeys(in: body, for: people + [caller.person])
    wanted.head = try seenHead(in: body)
    let start = wanted
    if authorizer != nil { try await requireStart(start, by: caller.person) }
    let entry = try await ask { () async throws(CallProblem) in try await desk.start(start, by: caller) }
    // Before its people connect.
    if let room = entry.call.room, !entry.call.state.isEnded {
      await rooms.make(room, of: entry.call.state.id)
    }
    return answer(self.entry(entry, call), status: 201)
  }

  /// What was started by the same request before isn't asked about: it is answered by that.
  private func requireStart(_ start: CallDesk.Start, by person: PersonID) async throws(RESTProblem) {
    let isKnown = try await ask { () async throws(CallProblem) in
      try await desk.isStarted(start, by: person)
    }
    guard !isKnown else { return }
    // The app is asked no more often than calls may be started.
    try await ask { () async throws(CallProblem) in
      try desk.requireStart(by: person)
      try desk.requireAsk(by: person)
    }
    try await requireAllowed(person, start.recipients, in: start.id)
  }

  @Sendable func join(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try requireOpen()
    let body = try optionalBody(call, ["deviceId", "takeover"])
    let takeover = try body?.flag("takeover").value ?? false
    var caller = try self.caller(call, body)
    // One that is sent again is of the same device, also where the client doesn't say which.
    if caller.device == nil, let key = call.request.headers["idempotency-key"] {
      caller.device = DeviceID(drawnFrom: key, of: caller.person)
    }
    let joining = caller
    let id = try self.call(call)
    let key = call.key.map { (text: $0.text, content: $0.content) }
    let entry = try await ask { () async throws(CallProblem) in
      try await desk.join(id, by: joining, takeover: takeover, under: key)
    }
    return answer(self.entry(entry, call))
  }

  private func entry(_ entry: CallEntry, _ call: CallRequest) -> EntryBody {
    let caller = call.permission.caller
    let room = entry.isIn ? entry.call.room : nil
    let token = room.flatMap { room in
      tokens.token(
        for: caller.person, name: caller.name, device: entry.device, of: entry.call.state.id, room: room,
        apiKey: entry.call.apiKey)
    }
    return EntryBody(
      call: CallBody(entry.call), session: entry.session.text, device: entry.device.text,
      url: token == nil ? nil : url(call.request), token: token,
      iceServers: entry.isIn ? iceServers(entry.session.text) : [],
      merged: entry.isMerged ? true : nil, key: entry.key.map(WrappedKeyBody.init),
      keyFrom: entry.key?.from.text, keyIndex: entry.key?.index)
  }

  @Sendable func leave(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    struct Answer: Encodable {
      let ended: Bool
      let call: CallBody
    }
    let body = try optionalBody(call, ["reason", "deviceId"])
    let reason =
      try body.map { body throws(RESTProblem) in try word(body, "reason", LeaveReason.self) } ?? nil
    if let reason, !LeaveReason.ofClients.contains(reason) {
      throw .body(
        "reason must be one of \(LeaveReason.ofClients.map(\.rawValue).sorted().joined(separator: ", "))")
    }
    let caller = try caller(call, body)
    let id = try self.call(call)
    let answer: @Sendable (CallDocument) -> HTTPResponse = {
      self.answer(Answer(ended: $0.state.isEnded, call: CallBody($0)))
    }
    let left = try await ask { () async throws(CallProblem) in
      try await desk.leave(id, by: caller, reason: reason ?? .userLeft, under: keyed(call, answer))
    }
    return answer(left)
  }

  @Sendable func invite(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    try requireOpen()
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .ringing,
      knowing: ["recipients", "keys", "keyIndex", "head"])
    let people = try recipients(body)
    try pay(for: people, call)
    let (keys, head) = (try wrappedKeys(in: body, for: people), try seenHead(in: body))
    let index = Int64(try body.integer("keyIndex", Self.keyIndexes).value ?? 0)
    let id = try self.call(call)
    if authorizer != nil {
      try await ask { () async throws(CallProblem) in
        try await desk.requireActive(call.permission.caller.person, in: id)
        try desk.requireAsk(by: call.permission.caller.person)
      }
      try await requireAllowed(call.permission.caller.person, people, in: id)
    }
    let answer: @Sendable (CallDocument) -> HTTPResponse = { self.answer(CallBody($0)) }
    let found = try await ask { () async throws(CallProblem) in
      try await desk.invite(
        people, to: id, keys: keys, index: index, head: head, by: call.permission.caller,
        under: keyed(call, answer))
    }
    return answer(found)
  }

  @Sendable func change(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: BodyReader.patchTypes, within: .callChange, knowing: ["media", "metadata"])
    var change = CallChange(media: try word(body, "media", CallMedia.self))
    switch try body.metadata() {
    case .keep: break
    case .remove: change.metadata = .some(nil)
    case .set(let text): change.metadata = text
    }
    let wanted = change
    let id = try self.call(call)
    let found = try await ask { () async throws(CallProblem) in
      try await desk.change(id, wanted, by: call.permission.caller)
    }
    return answer(CallBody(found))
  }

  @Sendable func forget(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let id = try self.call(call)
    let answer: @Sendable (()) -> HTTPResponse = { _ in HTTPResponse(status: 204) }
    try await ask { () async throws(CallProblem) in
      try await desk.forget(id, by: call.permission.caller.person, under: keyed(call, answer))
    }
    return answer(())
  }

  // MARK: - Reading

  @Sendable func show(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let id = try self.call(call)
    if let found = try await runBy(call, id) { return answer(CallBody(found)) }
    if call.permission.isPerson {
      let found = try await ask { () async throws(CallProblem) in
        try await desk.call(id, for: call.permission.caller.person)
      }
      return answer(CallBody(found, for: call.permission.caller.person))
    }
    throw RESTProblem(CallProblem.notFound)
  }

  /// - Returns: nil: the token doesn't run that call's room.
  func runBy(_ call: CallRequest, _ id: CallUUID) async throws(RESTProblem) -> CallDocument? {
    guard call.permission.isAdmin else { return nil }
    let run = call.permission.token.grants.room
    do throws(CallProblem) {
      // Who runs another room learns by no more than this whether there is such a call.
      let found = try await desk.call(id, inRoom: run == Grants.everyRoom ? nil : run ?? "")
      return call.permission.runs(found.room) ? found : nil
    } catch {
      if error == .notFound { return nil }
      throw RESTProblem(error)
    }
  }

  @Sendable func end(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let id = try self.call(call)
    if try await runBy(call, id) == nil {
      // Its people see that there is such a call, and end it by leaving.
      _ = try await ask { () async throws(CallProblem) in
        try await desk.call(id, for: call.permission.caller.person)
      }
      throw RESTProblem(CallProblem.notAllowed)
    }
    let found = try await ask { () async throws(CallProblem) in try await desk.end(id) }
    return answer(CallBody(found))
  }

  @Sendable func list(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let limit = try RESTPage.limit(of: call.request, usual: 50, most: 200)
    let other = call.request.queryItem("participant").map { PersonID($0) }
    // Each that is looked at costs, whether it is shown or not.
    try pay(
      limit * Self.pricePerItem + (other == nil ? 0 : CallPage.mostLookedAt * Self.pricePerShortItem), call)
    let isOpen: Bool?
    switch call.request.queryItem("status") {
    case nil: isOpen = nil
    case "active": isOpen = true
    case "inactive": isOpen = false
    default: throw .query("status must be active or inactive")
    }
    let place = try place(call) { CallPage.Place($0) }
    let person = call.permission.caller.person
    let page = try await ask { () async throws(CallProblem) in
      try await desk.calls(of: person, with: other, isOpen: isOpen, before: place, limit: limit)
    }
    let body = RESTList(items: page.calls.map { CallBody($0, for: person) }, next: page.next?.text)
    return paid(answer(body), beyond: limit * Self.pricePerItem, call)
  }

  // MARK: - Bodies

  private func recipients(_ body: BodyReader) throws(RESTProblem) -> [PersonID] {
    guard let recipients = try body.texts("recipients", most: BodyBounds.mostRecipients).value else {
      throw .body("recipients is required")
    }
    guard recipients.allSatisfy(AccessToken.isName) else {
      throw .body("recipients must be identities of 1 to 128 bytes")
    }
    return recipients.map { PersonID($0) }
  }

  func word<Word: RawRepresentable & CaseIterable>(
    _ body: BodyReader, _ name: String, _ type: Word.Type
  ) throws(RESTProblem) -> Word? where Word.RawValue == String {
    let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
    return try body.text(name, "one of \(all)") { Word(rawValue: $0) != nil }.value.flatMap {
      Word(rawValue: $0)
    }
  }

  private func optionalBody(_ call: CallRequest, _ names: Set<String>) throws(RESTProblem) -> BodyReader? {
    call.request.body.isEmpty
      ? nil : try BodyReader(call.request, types: ["application/json"], within: .words, knowing: names)
  }

  /// By the device that the token names, or else the body.
  func caller(_ call: CallRequest, _ body: BodyReader?) throws(RESTProblem) -> Caller {
    var caller = call.permission.caller
    let given = try body?.name("deviceId").value.map { DeviceID($0) }
    // What stands for a reader gives way to what the device is called, and is another name of it.
    guard caller.device?.isReader ?? true, let given else { return caller }
    caller.reader = caller.device
    caller.device = given
    return caller
  }
}

extension CallPage.Place {
  /// As lists have it.
  fileprivate var text: String { Base64URL.encode(Array("\(created) \(id.text)".utf8)) }

  fileprivate init?(_ text: String) {
    guard let bytes = Base64URL.decode(text.utf8), let plain = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    let parts = plain.split(separator: " ")
    guard parts.count == 2, let created = Int64(parts[0]), let id = CallUUID(String(parts[1])) else {
      return nil
    }
    self.init(created: created, id: id)
  }
}

extension DeviceID {
  /// Of one that doesn't say which it is, and asks under a key of its own.
  fileprivate init(drawnFrom key: String, of person: PersonID) {
    let digest = SHA256.digest(Array("\(person.text)\n\(key)".utf8)).prefix(16)
    self.init("device-" + Base64URL.encode(Array(digest)))
  }
}
