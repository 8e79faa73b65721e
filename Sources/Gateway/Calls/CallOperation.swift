internal import HTTPServer

/// One thing that can be asked of calls.
struct CallOperation: Sendable {
  let method: HTTPMethod
  /// As in OpenAPI.
  let path: String
  let access: CallAccess
  /// What becomes of one that is sent again under the same key.
  let repeats: CallRepeats
  let perform: @Sendable (CallDoor) -> @Sendable (CallRequest) async throws(RESTProblem) -> HTTPResponse

  private let template: PathTemplate

  init(
    _ method: HTTPMethod, _ path: String, _ access: CallAccess, repeats: CallRepeats = .answer,
    _ perform:
      @escaping @Sendable (CallDoor) -> @Sendable (CallRequest) async throws(RESTProblem) -> HTTPResponse
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.repeats = repeats
    self.perform = perform
    template = PathTemplate(path)
  }

  /// - Returns: what stands in the places of the names in braces; nil: it is another path.
  func match(_ given: [String]) -> [String: String]? { template.match(given) }

  /// All that is built. What has a fixed last part stands before what has an id there.
  static let all: [CallOperation] = [
    .init(.post, "/v1/calls", .person, repeats: .deed, CallDoor.start),
    .init(.get, "/v1/calls", .person, CallDoor.list),
    .init(.get, "/v1/calls/events", .person, CallDoor.events),
    .init(.get, "/v1/calls/{call}", .ofCallOrAdmin, CallDoor.show),
    .init(.patch, "/v1/calls/{call}", .person, CallDoor.change),
    .init(.delete, "/v1/calls/{call}", .ofCallOrAdmin, CallDoor.end),
    .init(.post, "/v1/calls/{call}/join", .ofCall, repeats: .begun, CallDoor.join),
    .init(.post, "/v1/calls/{call}/leave", .ofCall, CallDoor.leave),
    .init(.post, "/v1/calls/{call}/invite", .person, CallDoor.invite),
    .init(.post, "/v1/calls/{call}/forget", .person, CallDoor.forget),
    .init(.post, "/v1/calls/{call}/signals", .ofCall, repeats: .known, CallDoor.signal),
    .init(.get, "/v1/calls/{call}/deliveries", .personOrAdmin, CallDoor.deliveries),
    .init(.get, "/v1/people", .person, CallDoor.people),
    .init(.post, "/v1/calls/{call}/keys", .person, repeats: .known, CallDoor.changeKey),
    .init(.get, "/v1/keys/head", .person, CallDoor.keyHead),
    .init(.get, "/v1/keys/consistency", .person, CallDoor.keyConsistency),
    .init(.get, "/v1/keys/log", .person, CallDoor.keyLog),
    .init(.put, "/v1/keys/{person}", .person, CallDoor.publishKey),
    .init(.get, "/v1/keys/{person}", .person, CallDoor.showKeys),
    .init(.delete, "/v1/keys/{person}/{device}", .person, CallDoor.revokeKey),
    .init(.get, "/v1/keys/{person}/history", .person, CallDoor.keyHistory),
    .init(.post, "/v1/calls/{call}/sessions", .ofCall, repeats: .known, CallDoor.startSession),
    .init(.get, "/v1/calls/{call}/sessions", .ofCall, CallDoor.sessions),
    .init(.delete, "/v1/calls/{call}/sessions/{session}", .ofCall, CallDoor.endSession),
    .init(.post, "/v1/calls/{call}/sessions/{session}/join", .ofCall, CallDoor.joinSession),
    .init(.post, "/v1/calls/{call}/sessions/{session}/leave", .ofCall, CallDoor.leaveSession),
    .init(.post, "/v1/calls/{call}/sessions/{session}/owner", .ofCall, CallDoor.own),
    .init(
      .post, "/v1/calls/{call}/sessions/{session}/events", .ofCall, repeats: .known, CallDoor.appendEvent),
    .init(.get, "/v1/calls/{call}/sessions/{session}/events", .ofCall, CallDoor.sharedEvents),
    .init(.put, "/v1/calls/{call}/sessions/{session}/snapshot", .ofCall, CallDoor.keepSnapshot),
    .init(.get, "/v1/calls/{call}/sessions/{session}/snapshot", .ofCall, CallDoor.snapshot),
    .init(.put, "/v1/devices/{device}", .person, CallDoor.register),
    .init(.get, "/v1/devices", .person, CallDoor.devices),
    .init(.delete, "/v1/devices/{device}", .person, CallDoor.unregister),
    .init(.get, "/v1/blocks", .person, CallDoor.blocks),
    .init(.put, "/v1/blocks/{person}", .person, CallDoor.block),
    .init(.delete, "/v1/blocks/{person}", .person, CallDoor.unblock),
    .init(.delete, "/v1/people/{person}", .personOrAdminOfAll, CallDoor.erase),
  ]
}

/// A request whose path and token are good.
struct CallRequest: Sendable {
  let request: HTTPRequest
  let parameters: [String: String]
  let permission: CallPermission
  /// By which the answer is written down with what is done; nil: it has none, or needs none.
  var key: RequestKey?
}
