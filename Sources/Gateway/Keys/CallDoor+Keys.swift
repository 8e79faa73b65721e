internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer
internal import KeyDirectory
internal import Signalling

/// `/v1/keys`: the log of keys.
extension CallDoor {
  /// Names that stand for the log itself where a person would. Who is called so has no keys: they couldn't be read.
  static let namesOfLog: Set<String> = ["head", "consistency", "log"]

  /// What an entry costs in an answer, beside the answer itself: its path is read from the store.
  private static let entryPrice = 512

  // MARK: - Publishing

  @Sendable func publishKey(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .deviceKey, knowing: ["device", "algorithm", "key"])
    let person = try ownPerson(call)
    guard !Self.namesOfLog.contains(person.text) else {
      throw RESTProblem(
        status: 422, code: "reserved-name", title: "The name is reserved",
        detail: "a person who is called \(person.text) can have no keys: the name stands for the log of keys")
    }
    guard let device = try body.name("device").value else { throw .body("device is required") }
    let names = KeyAlgorithm.allCases.map(\.name).joined(separator: ", ")
    let isKnown = { (name: String) in KeyAlgorithm(name: name) != nil }
    guard let name = try body.text("algorithm", "one of \(names)", isKnown).value,
      let algorithm = KeyAlgorithm(name: name)
    else { throw .body("algorithm is required") }
    guard let text = try body.text("key", "base64", { _ in true }).value else {
      throw .body("key is required")
    }
    // Before anything is made of it.
    guard text.utf8.count <= (DeviceKey.mostBytes + 2) / 3 * 4 else {
      throw RESTProblem(CallProblem.tooLarge("key"))
    }
    guard let bytes = Base64.decode(text) else { throw .body("key must be base64") }
    let key: DeviceKey
    do throws(KeyRefusal) { key = try DeviceKey(algorithm, bytes) } catch {
      throw RESTProblem(CallProblem(error))
    }
    let receipt = try await ask { () async throws(CallProblem) in
      try await desk.publish(key, of: DeviceID(device), by: call.permission.caller)
    }
    return answer(KeyBodies.Receipt(receipt, of: person.text), status: receipt.isNew ? 201 : 200)
  }

  @Sendable func revokeKey(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let person = try ownPerson(call)
    let device = try device(call)
    let receipt = try await ask { () async throws(CallProblem) in
      try await desk.revokeKey(of: device, by: call.permission.caller)
    }
    return answer(KeyBodies.Receipt(receipt, of: person.text))
  }

  /// The person of the path, which is the one who asks.
  private func ownPerson(_ call: CallRequest) throws(RESTProblem) -> PersonID {
    let person = try person(call)
    guard person == call.permission.caller.person else { throw .notAllowed("it is for the person itself") }
    return person
  }

  // MARK: - Reading

  @Sendable func showKeys(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let person = try person(call)
    let head = try number("head", of: call.request)
    try pay(for: KeyBounds.devices, call)
    let found = try await ask { () async throws(CallProblem) in try await desk.keys(of: person, from: head) }
    return answer(KeyBodies.Keys(found, of: person.text))
  }

  @Sendable func keyHistory(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let person = try ownPerson(call)
    let limit = try RESTPage.limit(of: call.request, usual: 50, most: KeyBounds.page)
    let before = try number("before", of: call.request)
    try pay(for: limit, call)
    let found = try await ask { () async throws(CallProblem) in
      try await desk.keyHistory(of: person, before: before, limit: limit)
    }
    return answer(KeyBodies.History(found, of: person.text))
  }

  @Sendable func keyHead(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let head = try await ask { () async throws(CallProblem) in try await desk.keyHead() }
    return answer(KeyBodies.Head(head))
  }

  @Sendable func keyConsistency(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    guard let from = try number("from", of: call.request), let to = try number("to", of: call.request) else {
      throw .query("from and to are required: sizes of two heads")
    }
    let path = try await ask { () async throws(CallProblem) in
      try await desk.keyConsistency(from: from, to: to)
    }
    return answer(KeyBodies.Consistency(from: from, to: to, consistency: path.map(KeyBodies.hex)))
  }

  @Sendable func keyLog(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    guard let key = desk.logKey else { throw RESTProblem(CallProblem.notFound) }
    return answer(KeyBodies.Log(key: KeyBodies.base64(key)))
  }

  /// A number of leaves.
  private func number(_ name: String, of request: HTTPRequest) throws(RESTProblem) -> Int? {
    guard let text = request.queryItem(name) else { return nil }
    guard text.utf8.count <= 15, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text)
    else {
      throw .query("\(name) must be a whole number from 0")
    }
    return number
  }

  private func pay(for entries: Int, _ call: CallRequest) throws(RESTProblem) {
    let wait = charge(entries * Self.entryPrice, call.permission.caller.person.text)
    if wait > .zero { throw RESTProblem(CallProblem.tooMany(wait: wait.components.seconds * 1_000 + 1_000)) }
  }
}
