internal import HTTPServer
internal import Rooms
internal import Signalling

/// `/v1/rooms/{room}/waiting`, and who is let in.
extension RESTDoor {
  @Sendable func listWaiting(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let waiting = await (try room(call)).waiting().map { WaiterBody($0) }
    return answer(RESTList(items: waiting, next: nil))
  }

  /// By identity; with an id in the body, by that session of it alone. One that is refused is so once that is stored.
  @Sendable func admitParticipant(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    var id: String?
    var isAllowed = true
    if !call.request.body.isEmpty {
      let body = try BodyReader(
        call.request, types: ["application/json"], within: .words, knowing: ["waiting", "allowed"])
      id = try body.text("waiting", "the id of one that waits, as in WT_k3XbQ9uTzLw2") { text in
        (1...64).contains(text.utf8.count)
      }.value
      isAllowed = try body.flag("allowed").value ?? true
    }
    let room = try room(call)
    try await ask { [id, isAllowed] () async throws(AdministrationError) in
      if isAllowed {
        try await room.admit(call.identity, id)
      } else {
        try await room.refuse(call.identity, id)
        try await rooms.synced()
      }
    }
    return HTTPResponse(status: 204)
  }
}
