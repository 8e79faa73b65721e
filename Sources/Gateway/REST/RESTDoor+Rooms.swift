internal import AccessTokens
internal import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Rooms

/// `/v1/rooms`
extension RESTDoor {
  private static let settings: Set<String> = [
    "emptyTimeout", "departureTimeout", "maxParticipants", "metadata", "admission", "locked", "dataHistory",
  ]

  /// What an item of a list costs, beside a look at a room that isn't in it.
  static let lookOfItem = 10

  /// What a list of so many rooms costs, of all that there are.
  func looks(atRooms limit: Int) -> Int {
    rooms.roomCount + Self.lookOfItem * min(limit, rooms.roomCount + 1)
  }

  @Sendable func listRooms(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let page = try RESTPage(call.request)
    let listing = try RESTPage.rooms(call.request)
    let place = try page.place(isByName: listing.order == .name)
    guard listPace.take(call.holder, looks: looks(atRooms: page.limit), now: rooms.instant) else {
      throw RESTProblem(AdministrationError.tooOften)
    }
    let found = await rooms.rooms(listing, after: place, limit: page.limit + 1)
    return answer(page.body(found, isByName: listing.order == .name) { RoomResource($0) })
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
    if let value = patch.admission.value { settings.admission = value }
    settings.isLocked = patch.isLocked.value ?? false
    settings.dataHistory = patch.dataHistory.value
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
    patch.admission = try body.flag("admission")
    patch.isLocked = try body.flag("locked")
    patch.dataHistory = try dataHistory(body)
    return patch
  }

  private func dataHistory(_ body: BodyReader) throws(RESTProblem) -> Change<DataHistoryTerms> {
    if body.isNull("dataHistory") { return .remove }
    guard let members = try body.object("dataHistory", knowing: ["topics", "max", "seconds"]) else {
      return .keep
    }
    let most = DataHistoryTerms.mostTopics
    guard let topics = try members.texts("topics", most: most).value, !topics.isEmpty,
      topics.allSatisfy(AccessToken.isText)
    else {
      throw .body("dataHistory.topics must be a list of 1 to \(most) topics, each of 1 to 128 bytes")
    }
    let max = try members.integer("max", 1...DataHistoryTerms.mostMessages).value
    let seconds = try members.integer("seconds", 1...DataHistoryTerms.mostSeconds).value
    guard let max, let seconds else { throw .body("dataHistory must have topics, max and seconds") }
    return .set(DataHistoryTerms(topics: Set(topics), max: max, seconds: seconds))
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
  let admission: Bool
  let locked: Bool
  let dataHistory: DataHistoryResource?
  let waiting: Int

  struct DataHistoryResource: Encodable {
    let topics: [String]
    let max: Int
    let seconds: Int
  }

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
    admission = room.settings.admission
    locked = room.settings.isLocked
    dataHistory = room.settings.dataHistory.map {
      DataHistoryResource(topics: $0.topics.sorted(), max: $0.max, seconds: $0.seconds)
    }
    waiting = room.waiting
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
