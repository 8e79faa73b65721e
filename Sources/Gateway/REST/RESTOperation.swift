internal import AccessTokens
internal import HTTPServer

/// One thing that can be asked over REST.
struct RESTOperation: Sendable {
  enum Grant: Sendable {
    case none
    case roomCreate
    case roomList
    /// For the room of the path.
    case roomAdmin
    /// Either of them: who may change a room may see it.
    case roomListOrAdmin
    /// `roomAdmin` for the room of the path, and `canSubscribe`: it is to see what only those see who are in it.
    case roomAdminSeeing
    /// `roomAdmin` for the room that the query names; `roomList` where it names none.
    case figures
  }

  let method: HTTPMethod
  /// As in OpenAPI: `/v1/rooms/{room}`.
  let path: String
  let grant: Grant
  /// What it does outlives the process: it is answered once it is stored.
  let isStored: Bool
  let perform: @Sendable (RESTDoor) -> @Sendable (RESTCall) async throws(RESTProblem) -> HTTPResponse

  private let template: PathTemplate

  init(
    _ method: HTTPMethod, _ path: String, _ grant: Grant, isStored: Bool = false,
    _ perform:
      @escaping @Sendable (RESTDoor) -> @Sendable (RESTCall) async throws(RESTProblem) -> HTTPResponse
  ) {
    self.method = method
    self.path = path
    self.grant = grant
    self.isStored = isStored
    self.perform = perform
    template = PathTemplate(path)
  }

  /// - Parameter given: decoded.
  /// - Returns: what stands in the places of the names in braces; nil: it is another path.
  func match(_ given: [String]) -> [String: String]? { template.match(given) }

  /// All that is built; openapi.json describes these and no others.
  static let all: [RESTOperation] = [
    .init(.get, "/openapi.json", .none, RESTDoor.describe),
    .init(.get, "/v1/rooms", .roomList, RESTDoor.listRooms),
    .init(.post, "/v1/rooms", .roomCreate, isStored: true, RESTDoor.createRoom),
    .init(.get, "/v1/rooms/{room}", .roomListOrAdmin, RESTDoor.showRoom),
    .init(.patch, "/v1/rooms/{room}", .roomAdmin, isStored: true, RESTDoor.changeRoom),
    .init(.delete, "/v1/rooms/{room}", .roomCreate, isStored: true, RESTDoor.closeRoom),
    .init(.get, "/v1/rooms/{room}/participants", .roomAdmin, RESTDoor.listParticipants),
    .init(.get, "/v1/rooms/{room}/participants/{identity}", .roomAdmin, RESTDoor.showParticipant),
    .init(.patch, "/v1/rooms/{room}/participants/{identity}", .roomAdmin, RESTDoor.changeParticipant),
    .init(
      .delete, "/v1/rooms/{room}/participants/{identity}", .roomAdmin, isStored: true,
      RESTDoor.removeParticipant),
    .init(
      .post, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/mute", .roomAdmin, RESTDoor.muteTrack),
    .init(
      .get, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail", .roomAdminSeeing,
      RESTDoor.showThumbnail),
    .init(.get, "/v1/rooms/{room}/waiting", .roomAdmin, RESTDoor.listWaiting),
    .init(.post, "/v1/rooms/{room}/participants/{identity}/admit", .roomAdmin, RESTDoor.admitParticipant),
    .init(.post, "/v1/rooms/{room}/invitations", .roomAdmin, isStored: true, RESTDoor.makeInvitation),
    .init(.get, "/v1/rooms/{room}/invitations", .roomAdmin, RESTDoor.listInvitations),
    .init(
      .delete, "/v1/rooms/{room}/invitations/{invitation}", .roomAdmin, isStored: true,
      RESTDoor.endInvitation),
    .init(.post, "/v1/invitations/open", .none, isStored: true, RESTDoor.openInvitation),
    .init(.post, "/v1/rooms/{room}/data", .roomAdmin, RESTDoor.sendData),
    .init(.get, "/v1/rooms/{room}/participants/{identity}/flight", .roomAdmin, RESTDoor.showFlight),
    .init(.post, "/v1/rooms/{room}/recordings", .roomAdmin, RESTDoor.startRecording),
    .init(.get, "/v1/rooms/{room}/recordings", .roomAdmin, RESTDoor.listRecordings),
    .init(.get, "/v1/rooms/{room}/recordings/{recording}", .roomAdmin, RESTDoor.showRecording),
    .init(.delete, "/v1/rooms/{room}/recordings/{recording}", .roomAdmin, RESTDoor.endRecording),
    .init(.get, "/v1/rooms/{room}/explain", .roomAdmin, RESTDoor.explainRoom),
    .init(.get, "/v1/rooms/{room}/events", .roomAdmin, RESTDoor.listRoomEvents),
    .init(.get, "/v1/events", .roomList, RESTDoor.listEvents),
    .init(.get, "/v1/statistics", .figures, RESTDoor.streamStatistics),
  ]
}

/// A request whose path and token are good.
struct RESTCall: Sendable {
  let request: HTTPRequest
  var parameters: [String: String]
  var permission = Permission(expires: .max) {}

  /// Whether what the token allows is allowed still, for an answer that goes on for long.
  struct Permission: Sendable {
    /// From when on the token holds no longer, in seconds since 1970.
    let expires: Int
    /// nil: there is none.
    var token: AccessToken?
    let ask: @Sendable () throws(AccessTokenRefusal) -> Void
  }

  var room: String { parameters["room"] ?? "" }
  var identity: String { parameters["identity"] ?? "" }
  /// Stands in this process for who asks: the identity in its room, whichever of its tokens it has, else the token. Others may have the
  /// same by chance, and then share what one may do.
  var holder: Int {
    guard let token = permission.token, let identity = token.identity else {
      return request.bearerToken?.hashValue ?? 0
    }
    var hasher = Hasher()
    for part in [token.apiKey, token.grants.room ?? "", identity] { hasher.combine(Array(part.utf8)) }
    return hasher.finalize()
  }
}
