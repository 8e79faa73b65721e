internal import AccessTokens
internal import HTTPServer
internal import Rooms
internal import Wire

/// The door for encoders and players: WHIP publishes into a room, WHEP plays what is in one. A thin translation of requests to
/// transports of the rooms; it keeps nothing itself, so that a session's URL is good exactly as long as its transport is there.
struct StandaloneDoor: Sendable {
  static let description = "application/sdp"
  static let fragment = "application/trickle-ice-sdpfrag"
  /// What an offer costs beside its bytes, in units of `IntakeBudget`: a room that is made for it, or a participant. An
  /// identity makes some 120 at once and then 31 a second.
  static let offerPrice = 16_384

  let rooms: RoomDirectory
  let crossOrigin: CrossOrigin
  /// Reads a token and says whether it is good.
  let verify: @Sendable (String?) throws(AccessTokenRefusal) -> AccessToken
  /// Charges an identity in a room for so many bytes and returns zero, or says how long it takes until it has enough.
  let charge: @Sendable (_ bytes: Int, _ room: String, _ identity: String) -> Duration
  /// `Link` fields for the participant of that id.
  let links: @Sendable (String) -> [String]

  /// - Returns: nil for what isn't this door's.
  func response(to request: HTTPRequest) async -> HTTPResponse? {
    guard let place = request.segments.flatMap(StandalonePlace.init) else { return nil }
    if request.method == .options { return options(place, request) }
    var response: HTTPResponse
    do throws(RESTProblem) {
      guard AccessToken.isName(place.room) else { throw .roomName }
      response = try await answer(request, at: place)
    } catch {
      response = error.response
    }
    crossOrigin.allow(request, on: &response)
    return response
  }

  private func answer(_ request: HTTPRequest, at place: StandalonePlace) async throws(RESTProblem)
    -> HTTPResponse
  {
    switch (request.method, place.session) {
    case (.get, nil), (.head, nil): return Self.endpoint(place.role)
    case (.post, nil): return try await open(request, at: place)
    case (.get, let session?), (.head, let session?): return try await look(at: session, request, place)
    case (.patch, let session?): return try await change(session, request, place)
    case (.delete, let session?): return try await close(session, request, place)
    default: return Problem.method(allowed: place.allowed)
    }
  }

  /// An endpoint has no representation. Players know one of WHEP's by its type (draft-ietf-wish-whep §4.2); it says nothing of
  /// the room, and so needs no token.
  private static func endpoint(_ role: TransportRole) -> HTTPResponse {
    role == .publishes
      ? HTTPResponse(status: 204) : HTTPResponse(status: 200, headers: ["content-type": description])
  }

  /// CORS's preflight, and what may be sent here (RFC 9725 §4.2). Some clients ask for ICE servers before they offer
  /// (§4.6); who has a token gets them, and a preflight, which has none, gets none.
  private func options(_ place: StandalonePlace, _ request: HTTPRequest) -> HTTPResponse {
    var response = crossOrigin.preflight(request, allowed: place.allowed, status: 200)
    if place.session == nil {
      response.headers.add("accept-post", Self.description)
      let isPreflight = request.headers["access-control-request-method"] != nil
      if !isPreflight, let identity = try? authorize(request, place, comesIn: true).identity {
        for link in links(identity) { response.headers.add("link", link) }
      }
    } else {
      response.headers.add("accept-patch", Self.fragment)
    }
    return response
  }

  /// - Parameter comesIn: it makes a session, for which an invitation that has given out its token must hold; who has one may look at it,
  ///   restart it and end it, as those may stay who are in by other doors.
  /// - Returns: the token, which joins the room, and whose it is.
  func authorize(
    _ request: HTTPRequest, _ place: StandalonePlace, comesIn: Bool
  ) throws(RESTProblem) -> (token: AccessToken, identity: String) {
    do throws(AccessTokenRefusal) {
      if request.bearerToken == nil, request.headers["authorization"] != nil {
        throw .malformed(reason: "The Authorization header has no Bearer token")
      }
      let token = try verify(request.bearerToken)
      let identity = try token.requireJoin(room: place.room)
      if rooms.forbids(identity, in: place.room, issued: token.effectiveIssue) { throw .removed }
      if comesIn, let invitation = token.roost.invitation, !rooms.holds(invitation, in: place.room) {
        throw .revoked
      }
      return (token, identity)
    } catch { throw RESTProblem(error) }
  }

  /// - Returns: the answer, or the problem that the rooms' refusal is.
  func ask<Answer>(
    _ question: () async throws(StandaloneError) -> Answer
  ) async throws(RESTProblem) -> Answer {
    do throws(StandaloneError) { return try await question() } catch { throw RESTProblem(error) }
  }
}
