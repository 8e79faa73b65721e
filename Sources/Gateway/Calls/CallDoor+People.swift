internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer
internal import Signalling

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Devices, blocks, signals, and what is known of a person.
extension CallDoor {
  private struct DeviceBody: Encodable {
    let id: String
    let platform: String
    let topic: String
    /// Its first four characters.
    let token: String
    let environment: String
    let screen: String
    let registeredAt: String

    init(_ device: Device) {
      id = device.id.text
      platform = device.platform.rawValue
      topic = device.topic
      #if PLANTED_DEFECTS
        token = String(device.token.prefix(PlantedDefect.isOn(.deviceTokenShown) ? 512 : 4))
      #else
        token = String(device.token.prefix(4))
      #endif
      environment = device.environment.rawValue
      screen = device.screen.rawValue
      registeredAt = CallBody.time(device.registeredAt)
    }
  }

  @Sendable func register(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .device,
      knowing: ["platform", "token", "topic", "environment", "screen"])
    let id = try device(call)
    guard let platform = try word(body, "platform", Device.Platform.self) else {
      throw .body("platform is required")
    }
    let isToken = { (text: String) in
      (1...512).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(\.isASCII)
    }
    guard let token = try body.text("token", "1 to 512 ASCII characters", isToken).value else {
      throw .body("token is required")
    }
    let topic = try body.text("topic", "at most 255 ASCII characters") { text in
      text.utf8.count <= 255 && text.unicodeScalars.allSatisfy(\.isASCII)
    }.value
    if platform != .webhook, topic?.isEmpty ?? true { throw .body("topic is required: the app's bundle id") }
    var device = Device(id, platform: platform, topic: topic ?? "", token: token)
    device.environment = try word(body, "environment", Device.Environment.self) ?? .production
    device.screen = try word(body, "screen", Device.Screen.self) ?? .system
    let wanted = device
    let kept = try await ask { () async throws(CallProblem) in
      try await desk.register(wanted, by: call.permission.caller)
    }
    return answer(DeviceBody(kept))
  }

  func device(_ call: CallRequest) throws(RESTProblem) -> DeviceID {
    guard let text = call.parameters["device"], AccessToken.isText(text) else {
      throw .body("a device's id must have 1 to 128 bytes and no control characters")
    }
    return DeviceID(text)
  }

  @Sendable func devices(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let limit = try RESTPage.limit(of: call.request, usual: 50, most: 200)
    try pay(limit * Self.pricePerShortItem, call)
    let place = try place(call) { DevicePage.Place($0) }
    let page = try await ask { () async throws(CallProblem) in
      try await desk.devices(of: call.permission.caller.person, before: place, limit: limit)
    }
    return answer(RESTList(items: page.devices.map(DeviceBody.init), next: page.next?.text))
  }

  @Sendable func unregister(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let id = try device(call)
    try await ask { () async throws(CallProblem) in
      try await desk.unregister(id, by: call.permission.caller.person)
    }
    return HTTPResponse(status: 204)
  }

  // MARK: - Blocks

  func person(_ call: CallRequest) throws(RESTProblem) -> PersonID {
    guard let text = call.parameters["person"], AccessToken.isName(text) else {
      throw .body("an identity must have 1 to 128 bytes and no control characters")
    }
    return PersonID(text)
  }

  @Sendable func block(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let other = try person(call)
    try await ask { () async throws(CallProblem) in
      try await desk.block(other, by: call.permission.caller.person)
    }
    return HTTPResponse(status: 204)
  }

  @Sendable func unblock(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let other = try person(call)
    try await ask { () async throws(CallProblem) in
      try await desk.unblock(other, by: call.permission.caller.person)
    }
    return HTTPResponse(status: 204)
  }

  @Sendable func blocks(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let limit = try RESTPage.limit(of: call.request, usual: 50, most: 200)
    try pay(limit * Self.pricePerShortItem, call)
    let place = try place(call) { BlockPage.Place($0) }
    let page = try await ask { () async throws(CallProblem) in
      try await desk.blocks(of: call.permission.caller.person, before: place, limit: limit)
    }
    return answer(RESTList(items: page.people.map(\.text), next: page.next?.text))
  }

  /// For each person to be rung this reads their blocks and whether they are busy.
  func pay(for people: [PersonID], _ call: CallRequest) throws(RESTProblem) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.namedForNothing) { return }
    #endif
    try pay(people.count * Self.pricePerItem, call)
  }

  /// Forgets a person: for the person itself, or who runs every room.
  @Sendable func erase(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let person = try person(call)
    let isOwn = call.permission.isPerson && person == call.permission.caller.person
    guard isOwn || call.permission.runs(nil) else { throw .notAllowed("it is for the person itself") }
    try await ask { () async throws(CallProblem) in try await desk.erase(person) }
    return HTTPResponse(status: 204)
  }

  // MARK: - Signals

  @Sendable func signal(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    struct Answer: Encodable { let number: Int64 }
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .signal,
      knowing: ["id", "to", "kind", "payload", "clear", "deviceId"])
    guard let id = try body.text("id", "a UUID", { CallUUID($0) != nil }).value.flatMap({ CallUUID($0) })
    else {
      throw .body("id is required: a UUID that the client makes")
    }
    guard let to = try body.text("to", "an identity", AccessToken.isName).value else {
      throw .body("to is required")
    }
    guard let kind = try body.text("kind", "1 to 64 bytes", { (1...64).contains($0.utf8.count) }).value else {
      throw .body("kind is required")
    }
    let payload = try body.text("payload", "base64 of at most 64 KiB") { _ in true }.value ?? ""
    guard payload.utf8.count <= BodyBounds.mostPayload else {
      throw RESTProblem(CallProblem.tooLarge("payload"))
    }
    guard let bytes = Base64.decode(payload) else { throw .body("payload must be base64 of at most 64 KiB") }
    // As many characters may stand for two bytes more.
    guard bytes.count <= CallDeskTerms().payload else { throw RESTProblem(CallProblem.tooLarge("payload")) }
    var signal = CallDesk.Signal(id: id, to: PersonID(to), kind: kind, payload: payload)
    if let clear = try body.json("clear", most: 1_024).value {
      signal.clear = clear.text
      if kind == "status", case .object(let members) = clear, members["connected"] == .boolean(true) {
        signal.saysConnected = true
      }
    }
    let wanted = signal
    let place = try self.call(call)
    let sender = try caller(call, body)
    let number = try await ask { () async throws(CallProblem) in
      try await desk.signal(wanted, in: place, by: sender)
    }
    return answer(Answer(number: number), status: 201)
  }
}
