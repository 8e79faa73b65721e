internal import AccessTokens
internal import HTTPServer
internal import Rooms
internal import Wire

/// Sessions made, restarted and ended.
extension StandaloneDoor {
  /// Answers an offer: all candidates are in the answer, and it is the only one.
  func open(_ request: HTTPRequest, at place: StandalonePlace) async throws(RESTProblem) -> HTTPResponse {
    let (token, identity) = try authorize(request, place, comesIn: true)
    guard request.mediaType == Self.description else { throw .contentType(Self.description) }
    guard request.body.count <= SessionDescription.maximumBytes else {
      throw .tooLarge("a description can have at most \(SessionDescription.maximumBytes) bytes")
    }
    // By identity and not by room alone, which is another one each time where none stands and the offer is refused.
    try pay(Self.offerPrice, request, place, identity)
    guard let sdp = String(validating: request.body, as: UTF8.self) else {
      throw RESTProblem(StandaloneError.offer(.malformed(.notUTF8)))
    }
    let offer = StandaloneOffer(role: place.role, sdp: sdp, selection: try selection(request, place.role))
    let answer = try await ask { () async throws(StandaloneError) in
      try await rooms.open(
        offer, room: place.room, identity: identity, name: token.name, metadata: token.metadata,
        attributes: token.attributes, grants: token.grants, issued: token.effectiveIssue,
        device: token.deviceName, isAdmitted: token.isAdmitted,
        invitation: token.roost.invitation, admittedBy: token.roost.admittedBy)
    }
    var response = HTTPResponse(status: 201, type: Self.description, body: answer.sdp.utf8)
    let endpoint = "/\(StandaloneOperation.name(of: place.role))/\(place.room.percentEncoded())"
    response.headers.add("location", "\(endpoint)/\(answer.id)")
    response.headers.add("etag", EntityTag.text(answer.tag))
    response.headers.add("accept-patch", Self.fragment)
    for link in links(answer.participant.text) { response.headers.add("link", link) }
    response.headers.add("cache-control", "no-store")
    return response
  }

  /// Before anything is read of the body.
  private func pay(
    _ price: Int, _ request: HTTPRequest, _ place: StandalonePlace, _ identity: String
  ) throws(RESTProblem) {
    let wait = charge(price + request.body.count, place.room, identity)
    guard wait > .zero else { return }
    var problem = RESTProblem(StandaloneError.tooOften)
    problem.headers = [("retry-after", "\(max(1, wait.components.seconds + 1))")]
    throw problem
  }

  /// Of whom and of what a player gets something; an encoder gets nothing.
  private func selection(
    _ request: HTTPRequest, _ role: TransportRole
  ) throws(RESTProblem) -> TrackSelection {
    guard role == .subscribes else { return .all }
    let selection = TrackSelection(
      participant: request.queryItem("participant"), track: request.queryItem("track"))
    if let identity = selection.participant, !AccessToken.isName(identity) {
      throw .query("participant must be an identity: 1 to 128 bytes without control characters")
    }
    if let track = selection.track, !AccessToken.isText(track) {
      throw .query("track must be the id of a track, as in TR_k3XbQ9uTzLw2")
    }
    return selection
  }

  /// A session has no representation either; what is said is that it is there.
  func look(
    at session: String, _ request: HTTPRequest, _ place: StandalonePlace
  ) async throws(RESTProblem) -> HTTPResponse {
    let (_, identity) = try authorize(request, place, comesIn: false)
    try await ask { () async throws(StandaloneError) in
      try await rooms.look(at: session, place.role, in: place.room, of: identity)
    }
    return HTTPResponse(status: 204, headers: ["cache-control": "no-store"])
  }

  /// Takes ICE information: candidates, of which there is no need, or the credentials of a restart.
  func change(
    _ session: String, _ request: HTTPRequest, _ place: StandalonePlace
  ) async throws(RESTProblem) -> HTTPResponse {
    let (_, identity) = try authorize(request, place, comesIn: false)
    guard request.mediaType == Self.fragment else {
      var problem = RESTProblem.contentType(Self.fragment)
      problem.headers.append(("accept-patch", Self.fragment))
      throw problem
    }
    try pay(0, request, place, identity)
    let fragment: ICEFragment
    do throws(SDPError) { fragment = try ICEFragment(parsing: request.body) } catch {
      throw RESTProblem(StandaloneError.offer(.malformed(error)))
    }
    guard !fragment.namesCredentials || fragment.credentials != nil else {
      throw RESTProblem(StandaloneError.credentials)
    }
    let precondition = EntityTag.precondition(request.headers)
    let change = try await ask { () async throws(StandaloneError) in
      try await rooms.change(
        session, place.role, in: place.room, of: identity, precondition, fragment.credentials)
    }
    switch change {
    case .noted: return HTTPResponse(status: 204)
    case .restarted(let tag, let fragment):
      var response = HTTPResponse(status: 200, type: Self.fragment, body: fragment.text.utf8)
      response.headers.add("etag", EntityTag.text(tag))
      response.headers.add("cache-control", "no-store")
      return response
    }
  }

  /// Ends it, whatever tag the request names (RFC 9725 §4.3.1).
  func close(
    _ session: String, _ request: HTTPRequest, _ place: StandalonePlace
  ) async throws(RESTProblem) -> HTTPResponse {
    let (_, identity) = try authorize(request, place, comesIn: false)
    try await ask { () async throws(StandaloneError) in
      try await rooms.close(session, place.role, in: place.room, of: identity)
    }
    return HTTPResponse(status: 200, headers: ["cache-control": "no-store"])
  }
}
