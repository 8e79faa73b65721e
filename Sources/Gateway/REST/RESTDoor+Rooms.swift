internal import AccessTokens
internal import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Rooms

/// `/v1/rooms`
extension RESTDoor {
  private static let settings: Set<String> = [
    "emptyTimeout", "departureTimeout", "maxParticipants", "metadata",
  ]

  @Sendable func listRooms(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let page = try RESTPage(call.request)
    let found = await rooms.rooms(after: page.after, limit: page.limit + 1).map { RoomResource($0) }
    return answer(page.body(found) { $0.name })
  }

  @Sendable func createRoom(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .room, knowing: Self.settings.union(["name"]))
    guard let name = try body.name("name").value else { throw .body("name is required") }
    guard AccessToken.isName(name) else { throw .body("name must not be . .. or *") }
    guard !CallRooms.isCall(name) else {
      throw .body("names that begin with \(CallRooms.prefix) are those of calls' rooms")
    }
    var settings = rooms.defaults
    let patch = try patch(body)
    if let value = patch.emptyTimeout.value { settings.emptyTimeout = value }
    if let value = patch.departureTimeout.value { settings.departureTimeout = value }
    settings.maxParticipants = patch.maxParticipants.value
    settings.metadata = patch.metadata.value
    let (room, isNew) = try await ask { [settings] () async throws(AdministrationError) in
      try await rooms.create(name, settings)
    }
    var response = answer(RoomResource(room), status: isNew ? 201 : 200)
    if isNew { response.headers.add("location", "/v1/rooms/\(name.percentEncoded())") }
    return response
  }

  @Sendable func showRoom(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    answer(RoomResource(await (try room(call)).snapshot()))
  }

  @Sendable func changeRoom(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let patch = try patch(
      try BodyReader(call.request, types: BodyReader.patchTypes, within: .room, knowing: Self.settings))
    let room = try room(call)
    let changed = try await ask { () async throws(AdministrationError) in try await room.change(patch) }
    return answer(RoomResource(changed))
  }

  @Sendable func closeRoom(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    try await ask { () async throws(AdministrationError) in try await rooms.close(room: call.room) }
    return HTTPResponse(status: 204)
  }

  private func patch(_ body: BodyReader) throws(RESTProblem) -> RoomPatch {
    var patch = RoomPatch()
    patch.emptyTimeout = try body.integer("emptyTimeout", 1...RoomSettings.maximumTimeout)
    patch.departureTimeout = try body.integer("departureTimeout", 0...RoomSettings.maximumTimeout)
    patch.maxParticipants = try body.integer("maxParticipants", 1...1_000_000)
    patch.metadata = try body.metadata()
    return patch
  }
}

/// A room, as REST shows it.
struct RoomResource: Encodable {
  let id: String
  let name: String
  let metadata: String?
  /// RFC 3339.
  let createdAt: String
  /// Seconds.
  let age: Double
  let emptyTimeout: Int
  let departureTimeout: Int
  let maxParticipants: Int?
  let participants: Int
  let publishers: Int
  let tracks: Int
  let bitrates: BitratesBody
  let recorded: Bool

  init(_ room: RoomSnapshot) {
    id = room.info.id.text
    name = room.info.name
    metadata = room.settings.metadata
    createdAt = room.created.text
    age = room.age
    emptyTimeout = room.settings.emptyTimeout
    departureTimeout = room.settings.departureTimeout
    maxParticipants = room.settings.maxParticipants
    participants = room.participants
    publishers = room.publishers
    tracks = room.tracks
    bitrates = BitratesBody(room.bitrates)
    recorded = room.info.isRecorded
  }
}

/// Bits per second, as the server sees them.
struct BitratesBody: Encodable {
  let received: Int
  let sent: Int

  init(_ bitrates: Bitrates) {
    received = bitrates.received
    sent = bitrates.sent
  }
}

extension String {
  /// As one segment of a path (RFC 3986 §3.3).
  func percentEncoded() -> String {
    var text = ""
    for byte in utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 0x2D, 0x2E, 0x5F, 0x7E:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }
}
