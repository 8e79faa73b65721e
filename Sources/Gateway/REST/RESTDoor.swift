internal import AccessTokens
internal import FoundationEssentials
public import HTTPServer
internal import Rooms

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The door for those who run rooms: a thin translation of REST to what the rooms' administration does.
public struct RESTDoor: Sendable {
  let rooms: RoomDirectory
  private let crossOrigin: CrossOrigin
  /// Secrets by API key.
  let keys: [String: String]
  let openings: InvitationTerms
  /// Seconds since 1970.
  let wall: @Sendable () -> Int
  /// What those wait for who read events as they happen.
  let feeds: EventFeeds
  /// How rooms are listed and figures are made.
  let listPace = ListPace()
  let figures: FigureTerms

  /// - Parameters:
  ///   - keys: secrets by API key.
  ///   - openings: how invitations are given out and opened.
  ///   - wall: seconds since 1970, as tokens have them.
  init(
    rooms: RoomDirectory, crossOrigin: CrossOrigin, keys: [String: String], figures: FigureTerms,
    openings: InvitationTerms, wall: @escaping @Sendable () -> Int
  ) {
    self.rooms = rooms
    self.crossOrigin = crossOrigin
    self.keys = keys
    self.figures = figures
    self.openings = openings
    self.wall = wall
    feeds = EventFeeds(of: rooms.events)
  }

  /// - Returns: nil for what isn't REST's.
  public func response(to request: HTTPRequest) async -> HTTPResponse? {
    guard let segments = request.segments else { return nil }
    let matching = RESTOperation.all.compactMap { operation in
      operation.match(segments).map { (operation, $0) }
    }
    guard !matching.isEmpty else { return nil }
    let methods = matching.map(\.0.method)
    let allowed =
      (methods.contains(.get) ? ["GET", "HEAD"] : [])
      + methods.filter { $0 != .get }.map(\.rawValue) + ["OPTIONS"]
    let list = allowed.joined(separator: ", ")
    if request.method == .options { return crossOrigin.preflight(request, allowed: list) }
    let method = request.method == .head ? .get : request.method
    var response: HTTPResponse
    if let (operation, parameters) = matching.first(where: { $0.0.method == method }) {
      do throws(RESTProblem) {
        response = try await perform(operation, request, parameters)
      } catch {
        response = error.response
      }
    } else {
      response = Problem.method(allowed: list)
    }
    crossOrigin.allow(request, on: &response)
    return response
  }

  private func perform(
    _ operation: RESTOperation, _ request: HTTPRequest, _ parameters: [String: String]
  ) async throws(RESTProblem) -> HTTPResponse {
    var call = RESTCall(request: request, parameters: parameters)
    if operation.grant == .figures { call.parameters["room"] = request.queryItem("room") }
    if operation.grant != .none {
      do throws(AccessTokenRefusal) {
        call.permission = try permission(operation.grant, request, room: call.parameters["room"])
      } catch {
        throw RESTProblem(error)
      }
    }
    if let room = call.parameters["room"], !AccessToken.isName(room) {
      throw .roomName
    }
    if let identity = call.parameters["identity"], !AccessToken.isName(identity) {
      throw RESTProblem(
        status: 400, code: "identity",
        title: "An identity must have 1 to 128 bytes, no control characters, and not be . .. or *")
    }
    let answer = try await operation.perform(self)(call)
    // What was refused has changed nothing, and waits for nothing.
    if operation.isStored {
      try await ask { () async throws(AdministrationError) in try await rooms.synced() }
    }
    return answer
  }

  /// What a request's token allows by now, and says again later.
  private func permission(
    _ grant: RESTOperation.Grant, _ request: HTTPRequest, room: String?
  ) throws(AccessTokenRefusal) -> RESTCall.Permission {
    if request.bearerToken == nil, request.headers["authorization"] != nil {
      throw .malformed(reason: "The Authorization header has no Bearer token")
    }
    let token = try AccessToken(verifying: request.bearerToken, keys: keys, now: wall())
    try permit(token, grant, room: room)
    return RESTCall.Permission(expires: token.validUntil, token: token) {
      () throws(AccessTokenRefusal) in try permit(token, grant, room: room)
    }
  }

  /// Whether a token that one of the keys has signed allows this now: asked when a request comes, and again whenever more is given
  /// to one that goes on.
  /// - Parameter room: of the path; nil: it names none, and the token's own counts for removals.
  private func permit(
    _ token: AccessToken, _ grant: RESTOperation.Grant, room: String?
  ) throws(AccessTokenRefusal) {
    try token.requireCurrent(now: wall())
    switch grant {
    case .none: break
    case .roomCreate: if !token.grants.roomCreate { throw .notForThis(missing: "roomCreate") }
    case .roomList: if !token.grants.roomList { throw .notForThis(missing: "roomList") }
    case .roomAdmin: try token.requireAdmin(room: room ?? "")
    case .roomListOrAdmin: if !token.grants.roomList { try token.requireAdmin(room: room ?? "") }
    case .roomAdminSeeing:
      try token.requireAdmin(room: room ?? "")
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.thumbnailUngranted) { break }
      #endif
      if !token.grants.canSubscribe { throw .notForThis(missing: "canSubscribe") }
    case .figures:
      if let room {
        try token.requireAdmin(room: room)
      } else if !token.grants.roomList {
        throw .notForThis(missing: "roomList")
      }
    }
    if let identity = token.identity, let room = room ?? token.grants.room,
      rooms.forbids(identity, in: room, issued: token.effectiveIssue)
    {
      throw .removed
    }
  }

  @Sendable func describe(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    HTTPResponse(status: 200, type: "application/json", body: PackageResources.openapi_json)
  }

  // MARK: - What the operations share

  func room(_ call: RESTCall) throws(RESTProblem) -> RoomAdministration {
    guard let room = rooms.administration(of: call.room) else { throw RESTProblem(.unknownRoom) }
    return room
  }

  /// - Returns: the answer, or the problem that the rooms' refusal is.
  func ask<Answer>(
    _ question: () async throws(AdministrationError) -> Answer
  ) async throws(RESTProblem) -> Answer {
    do throws(AdministrationError) { return try await question() } catch { throw RESTProblem(error) }
  }

  func answer(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let body = try? encoder.encode(value) else {
      preconditionFailure("texts, flags and finite numbers are always JSON")
    }
    var response = HTTPResponse(status: status, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
