internal import AccessTokens
internal import Rooms
internal import Signalling

/// How much the JSON of a request's body may have: bytes, before anything is read of it, and lists and values, before they are built.
///
/// Each operation has its own, from the most that it can hold. Any byte of a text may be written as an escape of six (RFC 8259 §7), and
/// any character of base64 as one of two, which some writers do to the solidus.
struct BodyBounds: Sendable {
  /// Of the body as it came.
  let bytes: Int
  /// Members of one object, entries of one list.
  let members: Int
  /// Of all together, whatever they are in.
  let values: Int

  /// - Parameters:
  ///   - texts: bytes of all texts that it can have.
  ///   - base64: characters of all base64 that it can have.
  init(texts: Int, base64: Int = 0, members: Int = 32, values: Int = 32) {
    (self.members, self.values) = (members, values)
    // Beside them names of members, numbers, punctuation and some space.
    bytes = 4_096 + 6 * texts + 2 * base64 + 32 * values
  }

  /// - Throws: 413 `body-too-large`; 400 `body` where it has too many values, or is none.
  func read(_ body: [UInt8]) throws(RESTProblem) -> StrictJSON {
    guard body.count <= bytes else { throw .bodyTooLarge(most: bytes) }
    do throws(StrictJSON.Refusal) {
      return try StrictJSON.read(body, maximumMembers: members, maximumValues: values)
    } catch {
      guard error == .tooMany else { throw RESTProblem.noObject }
      throw RESTProblem.body(
        "a list or an object can have at most \(members) entries here, and all of them together \(values) values"
      )
    }
  }

  // MARK: - What rooms are asked

  /// Some words and flags.
  static let words = BodyBounds(texts: 512)

  /// A room with its metadata, and the topics that it keeps messages of.
  static let room = BodyBounds(
    texts: mostMetadata + 512 + DataHistoryTerms.mostTopics * mostName, values: 64)

  /// With metadata and attributes. Of these there may be too many, which is said by a problem of its own.
  static let participant = BodyBounds(texts: 2 * mostMetadata + 512, members: 16_384, values: 16_512)

  /// A message and its recipients.
  static let message = BodyBounds(
    texts: (ClientMessage.maximumDestinations + 1) * mostName, base64: ClientMessage.maximumPayloadCharacters,
    members: ClientMessage.maximumDestinations, values: ClientMessage.maximumDestinations + 32)

  /// Which tracks are recorded.
  static let recording = BodyBounds(
    texts: RecordingScope.trackLimit * mostName, members: RecordingScope.trackLimit,
    values: RecordingScope.trackLimit + 32)

  /// Bytes of a name of anything.
  static let mostName = 128
  /// Bytes of a room's or a participant's metadata, or of all attributes.
  private static let mostMetadata = 65_536
}

extension RESTProblem {
  static let noObject = RESTProblem.body("expected a JSON object without duplicate members")

  /// - Parameter most: bytes that such a body can have.
  static func bodyTooLarge(most: Int) -> RESTProblem {
    RESTProblem(
      status: 413, code: "body-too-large", title: "The body is too large",
      detail: "for this request it can have at most \(most) bytes")
  }
}
