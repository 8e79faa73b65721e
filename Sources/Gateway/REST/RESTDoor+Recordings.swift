internal import AccessTokens
internal import HTTPServer
internal import Recording
internal import Rooms

/// `/v1/rooms/{room}/recordings`, also of rooms that are over.
extension RESTDoor {
  @Sendable func startRecording(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .recording,
      knowing: ["tracks", "sources", "maxBytes"])
    var scope = RecordingScope()
    scope.tracks = try body.texts("tracks", most: RecordingScope.trackLimit).value.map { Set($0) }
    scope.sources = try body.sources("sources").value
    scope.maxBytes = try body.integer("maxBytes", 1_048_576...Int(1e15) - 1).value
    let manifest = try await ask { [scope] () async throws(AdministrationError) in
      try await rooms.record(call.room, scope)
    }
    var response = answer(manifest, status: 201)
    response.headers.add(
      "location", "/v1/rooms/\(call.room.percentEncoded())/recordings/\(manifest.id)")
    return response
  }

  @Sendable func listRecordings(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let page = try RESTPage(call.request)
    let (found, next) = try await ask { () async throws(AdministrationError) in
      try await rooms.recordings(of: call.room, after: page.after, limit: page.limit)
    }
    return answer(RESTList(items: found, next: next.map { RESTPage.next(after: $0) }))
  }

  @Sendable func showRecording(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    answer(
      try await ask { () async throws(AdministrationError) in
        try await rooms.recording(call.recording, of: call.room)
      })
  }

  /// Stops it; with `?purge` its files go, too.
  @Sendable func endRecording(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let purge = call.request.queryItem("purge")
    guard purge == nil || ["", "true", "false"].contains(purge) else {
      throw .query("purge must be true or false")
    }
    try await ask { () async throws(AdministrationError) in
      if let purge, purge != "false" {
        try await rooms.eraseRecording(call.recording, of: call.room)
      } else {
        try await rooms.stopRecording(call.recording, of: call.room)
      }
    }
    return HTTPResponse(status: 204)
  }
}

extension RESTCall {
  var recording: String { parameters["recording"] ?? "" }
}
