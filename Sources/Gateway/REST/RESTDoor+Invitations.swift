internal import AccessTokens
internal import Crypto
internal import HTTPServer
internal import Model
internal import Rooms

/// `/v1/rooms/{room}/invitations`, and what comes of them.
extension RESTDoor {
  private static let permissions: Set<String> = [
    "canPublish", "canPublishSources", "canSubscribe", "canPublishData", "canUpdateOwnMetadata", "admitted",
  ]

  @Sendable func makeInvitation(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .words, knowing: ["grants", "ttl", "uses"])
    guard let lifetime = try body.integer("ttl", Invitation.lifetimes).value else {
      throw .body("ttl is required")
    }
    let uses = try body.integer("uses", 1...Invitation.mostUses).value ?? Invitation.mostUses
    _ = try room(call)
    guard let token = call.permission.token else { throw RESTProblem(AccessTokenRefusal.absent) }
    // Who can't come in has nothing to give.
    do throws(AccessTokenRefusal) { _ = try token.requireJoin(room: call.room) } catch {
      throw RESTProblem(error)
    }
    let wanted = try body.object("grants", knowing: Self.permissions)
    let grants = try grants(wanted, for: call.room, of: token.grants)
    let isAdmitted = try wanted?.flag("admitted").value ?? false
    let secret = Base64URL.encode(Random.key(24))
    let terms = Invitation.Terms(
      code: SHA256.digest(Array(secret.utf8)), grants: grants, isAdmitted: isAdmitted, uses: uses,
      apiKey: token.apiKey, inviter: token.identity, inviterIssued: token.effectiveIssue)
    let made = try await ask { () async throws(AdministrationError) in
      try rooms.invite(terms, for: lifetime, to: call.room)
    }
    let link = openings.link(to: call.room, secret, for: call.request)
    var response = answer(InvitationResource(made, secret: secret, link: link), status: 201)
    response.headers.add(
      "location", "/v1/rooms/\(call.room.percentEncoded())/invitations/\(made.id.text)")
    return response
  }

  /// What is asked for, or one's own where nothing is: no more than that.
  private func grants(
    _ body: BodyReader?, for room: String, of own: Grants
  ) throws(RESTProblem) -> Grants {
    func mine(_ name: String, _ isMine: Bool, usual: Bool) throws(RESTProblem) -> Bool {
      let wanted = try body?.flag(name).value ?? usual
      #if PLANTED_DEFECTS
        guard isMine || !wanted || PlantedDefect.isOn(.invitedToMore) else { throw Self.notOwn(name) }
      #else
        guard isMine || !wanted else { throw Self.notOwn(name) }
      #endif
      return wanted
    }
    var grants = Grants()
    (grants.room, grants.roomJoin) = (room, true)
    let mayPublish = own.canPublish && !own.hidden
    grants.canPublish = try mine("canPublish", mayPublish, usual: mayPublish)
    grants.canSubscribe = try mine("canSubscribe", own.canSubscribe, usual: own.canSubscribe)
    // As in tokens it follows what may be published.
    grants.canPublishData = try mine(
      "canPublishData", own.canPublishData, usual: own.canPublishData && grants.canPublish)
    grants.canUpdateOwnMetadata = try mine(
      "canUpdateOwnMetadata", own.canUpdateOwnMetadata, usual: own.canUpdateOwnMetadata)
    grants.canPublishSources = try body?.sources("canPublishSources").value ?? own.canPublishSources
    if let mine = own.canPublishSources, grants.canPublishSources?.isSubset(of: mine) != true {
      throw Self.notOwn("canPublishSources")
    }
    return grants
  }

  private static func notOwn(_ name: String) -> RESTProblem {
    RESTProblem(StandaloneError.notAllowed("\(name): an invitation gives no more than who makes it may do"))
  }

  @Sendable func listInvitations(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let found = try await ask { () async throws(AdministrationError) in
      try rooms.invitations(of: call.room)
    }
    return answer(RESTList(items: found.map { InvitationResource($0) }, next: nil))
  }

  @Sendable func endInvitation(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    try await ask { () async throws(AdministrationError) in
      try await rooms.revoke(call.parameters["invitation"] ?? "", of: call.room)
    }
    return HTTPResponse(status: 204)
  }

  /// Gives who has its secret an identity of its own, and a token for ten minutes, which the room renews for those who are in.
  @Sendable func openInvitation(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    if let seconds = openings.refusal(of: call.request) {
      var problem = RESTProblem(AdministrationError.tooOften)
      problem.headers = [("retry-after", String(seconds))]
      throw problem
    }
    let body = try BodyReader(
      call.request, types: ["application/json"], within: .words, knowing: ["invitation", "name"])
    let secret = try body.text("invitation", "the secret of an invitation") { text in
      (1...64).contains(text.utf8.count)
    }.value
    guard let secret else { throw .body("invitation is required") }
    let name = try body.name("name").value
    let opened = try await ask { () async throws(AdministrationError) in
      try rooms.open(SHA256.digest(Array(secret.utf8)))
    }
    guard let key = keys[opened.terms.apiKey] else { throw RESTProblem(.unknownInvitation) }
    let now = wall()
    var random = RandomSource.system
    let token = AccessToken(
      apiKey: opened.terms.apiKey, identity: "guest-\(random.alphanumeric(12))",
      expires: min(now + AccessToken.renewedLifetime, opened.expires), issuedAt: now, name: name,
      grants: opened.terms.grants,
      roost: RoostClaim(isAdmitted: opened.terms.isAdmitted, invitation: opened.id.text))
    return answer(
      OpenedInvitation(
        room: opened.room, identity: token.identity ?? "", token: token.signed(secret: key),
        expiresAt: WallTime(seconds: token.expires).text))
  }
}

/// An invitation, as REST shows it; its secret is shown once, to who has made it.
struct InvitationResource: Encodable {
  let id: String
  let room: String
  let invitation: String?
  let url: String?
  /// RFC 3339.
  let createdAt: String
  let expiresAt: String
  let uses: Int
  let opened: Int
  let grants: GrantsResource

  struct GrantsResource: Encodable {
    let canPublish: Bool
    let canPublishSources: [String]?
    let canSubscribe: Bool
    let canPublishData: Bool
    let canUpdateOwnMetadata: Bool
    let admitted: Bool
  }

  init(_ invitation: Invitation, secret: String? = nil, link: String? = nil) {
    id = invitation.id.text
    room = invitation.room
    self.invitation = secret
    url = link
    createdAt = WallTime(seconds: invitation.created).text
    expiresAt = WallTime(seconds: invitation.expires).text
    uses = invitation.terms.uses
    opened = invitation.opened
    let given = invitation.terms.grants
    grants = GrantsResource(
      canPublish: given.canPublish,
      canPublishSources: given.canPublishSources.map { $0.map(\.rawValue).sorted() },
      canSubscribe: given.canSubscribe, canPublishData: given.canPublishData,
      canUpdateOwnMetadata: given.canUpdateOwnMetadata, admitted: invitation.terms.isAdmitted)
  }
}

struct OpenedInvitation: Encodable {
  let room: String
  let identity: String
  let token: String
  /// Of the token, RFC 3339.
  let expiresAt: String
}

extension WallTime {
  /// - Parameter seconds: since 1970, as tokens have them.
  fileprivate init(seconds: Int) { self.init(milliseconds: Int64(seconds) * 1_000) }
}
