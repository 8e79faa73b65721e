internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer
internal import KeyDirectory
internal import Signalling

/// The keys of calls that are encrypted end to end, as requests bring them.
extension CallDoor {
  static let keyIndexes = 0...1 << 48

  @Sendable func changeKey(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    struct Answer: Encodable {
      let index: Int64
      let people: [String]
    }
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .callKeys, knowing: ["index", "keys"])
    guard let index = try body.integer("index", 1...Self.keyIndexes.upperBound).value else {
      throw .body("index is required")
    }
    let keys = try wrappedKeys(in: body)
    let id = try self.call(call)
    let changed = try await ask { () async throws(CallProblem) in
      try await desk.changeKey(keys, to: Int64(index), of: id, by: call.permission.caller)
    }
    return answer(Answer(index: changed.index, people: changed.people.map(\.text)))
  }

  /// - Parameter people: whom they may be for; nil: anyone.
  func wrappedKeys(in body: BodyReader, for people: [PersonID]? = nil) throws(RESTProblem) -> [WrappedKey] {
    let objects = try body.objects(
      "keys", most: WrappedKey.most, knowing: ["person", "device", "keyId", "ciphertext"])
    let allowed = people.map { Set($0) }
    var seen: [PersonID: Set<DeviceID>] = [:]
    var keys: [WrappedKey] = []
    for object in objects {
      let key = try wrappedKey(object)
      guard allowed?.contains(key.person) ?? true else {
        throw .body("keys can be for recipients, and at the start for other devices of one's own")
      }
      guard seen[key.person, default: []].insert(key.device).inserted else {
        throw .body("keys can have one for each device")
      }
      guard seen[key.person, default: []].count <= KeyBounds.devices else {
        throw .body("keys can be for \(KeyBounds.devices) devices of a person")
      }
      keys.append(key)
    }
    return keys
  }

  private func wrappedKey(_ object: BodyReader) throws(RESTProblem) -> WrappedKey {
    guard let person = try object.text("person", "an identity", AccessToken.isName).value,
      let device = try object.name("device").value,
      let id = try object.text("keyId", "64 hexadecimal digits, the letters small", { KeyID($0) != nil })
        .value
        .flatMap({ KeyID($0) }),
      let text = try object.text("ciphertext", "base64", { _ in true }).value
    else { throw .body("each of keys needs person, device, keyId and ciphertext") }
    guard text.utf8.count <= (WrappedKey.mostBytes + 2) / 3 * 4 else {
      throw RESTProblem(CallProblem.tooLarge("ciphertext"))
    }
    guard let ciphertext = Base64.decode(text), !ciphertext.isEmpty else {
      throw .body("ciphertext must be base64 of 1 to \(WrappedKey.mostBytes) bytes")
    }
    return WrappedKey(PersonID(person), DeviceID(device), keyID: id, ciphertext: ciphertext)
  }

  /// How the log of keys looks to who asks.
  func seenHead(in body: BodyReader) throws(RESTProblem) -> CallHead? {
    guard let head = try body.object("head", knowing: ["size", "root"]) else { return nil }
    guard let size = try head.integer("size", Self.keyIndexes).value,
      let root = try head.text("root", "64 hexadecimal digits, the letters small", { KeyID($0) != nil }).value
    else { throw .body("head needs size and root") }
    return CallHead(size: Int64(size), root: root)
  }
}
