internal import AccessTokens
public import CallDesk
internal import Calls
public import HTTPServer
public import Model
public import Rooms

public struct GatewayConfiguration: Sendable {
  /// Secrets by API key.
  public var keys: [String: String]
  /// Tokens for the asking; nil: only for those who have one.
  public var development: Development?
  /// By which others on the network reach the page while trying out, as URLs have them.
  public var hosts: [String] = []
  /// What clients get.
  public var iceServers = ICEServers()
  /// nil: everybody may ask as often as they like.
  public var attempts: AttemptLimiter?
  /// Where clients reach the server, as calls tell them; nil: by the name by which they have reached it.
  public var publicURL: String?
  /// Its listeners speak TLS alone: links to it without `publicURL` are `https`.
  public var isSecure = false
  /// Who is asked who may call whom; nil: everyone may.
  public var authorizer: CallAuthorizer?
  /// People with a token of their own see who else may be called.
  public var isDirectoryOpen = false
  /// Whose pages may ask.
  public var crossOrigin = CrossOrigin()
  /// As its figures say it; empty: they don't.
  public var version = ""
  /// Between two figures.
  public var statisticsPace = Duration.seconds(2)
  /// Seconds since 1970.
  public var now: @Sendable () -> Int
  /// A clock that is never stepped.
  public var instant: @Sendable () -> Instant = {
    let origin = ContinuousClock.now
    return {
      let span = (ContinuousClock.now - origin).components
      return Instant(nanoseconds: span.seconds &* 1_000_000_000 &+ span.attoseconds / 1_000_000_000)
    }
  }()

  /// Who is served while trying out.
  public enum Development: Equatable, Sendable {
    /// By its loopback names: the key pair is known to everybody.
    case thisMachine
    /// By any IP address, or by one of these names.
    case network(names: [String])
  }

  public init(
    keys: [String: String], development: Development?, now: @escaping @Sendable () -> Int
  ) {
    self.keys = keys
    self.development = development
    self.now = now
  }
}

/// Every way in over HTTP: the page, signalling, and tokens while developing.
public struct Gateway: HTTPHandler {
  private let configuration: GatewayConfiguration
  private let rooms: (any RoomService)?
  private let tokens = ResumeTokens()
  private let intakes: Intakes
  let rest: RESTDoor?
  private let standalone: StandaloneDoor?
  private let calls: CallDoor?
  let sessions: (any SessionService)?

  /// - Parameters:
  ///   - rooms: nil: there is no door to rooms, and it answers 404.
  ///   - administered: what REST, WHIP and WHEP reach; nil: there are no such doors.
  ///   - calls: what decides calls, and what joins them with the rooms; nil: there are no calls.
  public init(
    configuration: GatewayConfiguration, rooms: (any RoomService)?, administered: RoomDirectory? = nil,
    calls: (desk: CallDesk, rooms: CallRooms)? = nil
  ) {
    self.init(
      configuration: configuration, rooms: rooms, administered: administered, calls: calls, intakes: Intakes()
    )
  }

  /// - Parameter intakes: what all who ask may cost.
  package init(
    configuration: GatewayConfiguration, rooms: (any RoomService)?, administered: RoomDirectory?,
    calls: (desk: CallDesk, rooms: CallRooms)?, intakes: Intakes
  ) {
    self.configuration = configuration
    self.rooms = rooms
    self.intakes = intakes
    rest = administered.map {
      RESTDoor(
        rooms: $0, crossOrigin: configuration.crossOrigin, keys: configuration.keys,
        figures: FigureTerms(version: configuration.version, pace: configuration.statisticsPace, rooms: $0),
        openings: InvitationTerms(
          publicURL: configuration.publicURL, isSecure: configuration.isSecure, now: configuration.instant),
        wall: configuration.now)
    }
    standalone = administered.map {
      StandaloneDoor(
        rooms: $0, crossOrigin: configuration.crossOrigin,
        verify: { text throws(AccessTokenRefusal) in
          try AccessToken(verifying: text, keys: configuration.keys, now: configuration.now())
        },
        charge: { bytes, room, identity in
          intakes.take(bytes, room: room, identity: identity, now: configuration.instant())
        },
        links: { user in ICELink.fields(configuration.iceServers.list(for: user, now: configuration.now())) })
    }
    self.calls = calls.map { Self.door(to: $0, configuration, intakes) }
    sessions = calls.map { CallSessions(desk: $0.desk, feeds: $0.rooms.sessions) }
  }

  private static func door(
    to calls: (desk: CallDesk, rooms: CallRooms), _ configuration: GatewayConfiguration, _ intakes: Intakes
  ) -> CallDoor {
    CallDoor(
      desk: calls.desk, rooms: calls.rooms, crossOrigin: configuration.crossOrigin,
      tokens: CallTokens(keys: configuration.keys, now: configuration.now),
      iceServers: { configuration.iceServers.list(for: $0, now: configuration.now()) },
      verify: { text throws(AccessTokenRefusal) in
        try AccessToken(verifying: text, keys: configuration.keys, now: configuration.now())
      },
      // No room has a name without a character.
      charge: { intakes.take($0, room: "", identity: $1, now: configuration.instant()) },
      owe: { intakes.owe($0, room: "", identity: $1, now: configuration.instant()) },
      readings: ReadingBudgets(intakes, instant: configuration.instant),
      publicURL: configuration.publicURL, authorizer: configuration.authorizer,
      isDirectoryOpen: configuration.isDirectoryOpen,
      wallMilliseconds: { calls.desk.now.wall })
  }

  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    if let refusal = door?.refusal(of: request) { return refusal }
    let isRead = request.method == .get || request.method == .head
    if var page = Pages.response(path: request.path) {
      guard isRead else { return Problem.method(allowed: "GET, HEAD") }
      if Pages.isModule(path: request.path) { configuration.crossOrigin.allow(request, on: &page) }
      return page
    }
    switch request.path {
    case "/healthz", "/readyz":
      return await Health.response(to: request) { await rooms?.isReady() ?? true }
    default: break
    }
    if let refusal = tooOften(request) { return refusal }
    switch request.path {
    case "/dev/token" where configuration.development != nil:
      guard request.method == .post else { return Problem.method(allowed: "POST") }
      return DevelopmentToken.response(to: request, configuration: configuration)
    default: break
    }
    if let answer = await rest?.response(to: request) { return answer }
    if let answer = await standalone?.response(to: request) { return answer }
    if let answer = await calls?.response(to: request) { return answer }
    if connectRoom(request) != nil {
      var answer = Problem.response(426, "upgrade", "This address accepts WebSockets only")
      answer.headers.add("upgrade", "websocket")
      return answer
    }
    return Problem.notFound()
  }

  public func upgrade(_ request: HTTPRequest) async -> UpgradeDecision {
    if let refusal = door?.refusal(of: request) { return .refuse(refusal) }
    let (crossOrigin, publicURL) = (configuration.crossOrigin, configuration.publicURL)
    if let refusal = crossOrigin.refusal(of: request, publicURL: publicURL) { return .refuse(refusal) }
    if let refusal = tooOften(request) { return .refuse(refusal) }
    guard let rooms, let room = connectRoom(request) else { return .refuse(Problem.notFound()) }
    // Without a token it may be somebody who is in already; `auth` of another is answered by `unavailable`.
    if rooms.isDraining, request.bearerToken != nil || request.queryItem("access_token") != nil {
      return .refuse(Problem.draining())
    }
    guard AccessToken.isName(room) else {
      return .refuse(
        Problem.response(
          400, "room-name",
          "A room's name must have 1 to 128 bytes, no control characters, and not be . .. or *"))
    }
    guard request.offeredSubprotocols.contains(Self.subprotocol) else {
      return .refuse(
        Problem.response(
          400, "subprotocol", "The WebSocket sub-protocol is missing", detail: "offer \(Self.subprotocol)"))
    }
    var terms = SignallingTerms(room: room) {
      text throws(AccessTokenRefusal) in try authorize(text, joining: room)
    }
    terms.iceServers = { [configuration] in configuration.iceServers.list(for: $0, now: configuration.now()) }
    terms.now = configuration.now
    terms.sessions = sessions
    terms.instant = configuration.instant
    terms.renew = { [configuration] token, grants in
      guard let secret = configuration.keys[token.apiKey], !rooms.forbids(token, in: room) else { return nil }
      let fresh = token.renewed(at: configuration.now(), grants: grants)
      return (fresh.signed(secret: secret), fresh)
    }
    var authorized: AccessToken?
    if let text = request.bearerToken ?? request.queryItem("access_token") {
      do {
        authorized = try terms.authorize(text)
      } catch {
        return .refuse(Problem.response(error.status, error.code, error.message))
      }
    } else if request.headers["authorization"] != nil {
      return .refuse(Problem.response(401, "token-malformed", "The Authorization header has no Bearer token"))
    }
    return .accept(subprotocol: Self.subprotocol, greets: authorized == nil) {
      [authorized, terms, tokens, intakes] socket in
      await SignallingConnection(
        socket: socket, terms: terms, rooms: rooms, tokens: tokens, intakes: intakes
      ).run(authorized: authorized)
    }
  }

  /// Reads a token and says whether it joins that room.
  func authorize(_ text: String?, joining room: String) throws(AccessTokenRefusal) -> AccessToken {
    let token = try verify(text)
    _ = try token.requireJoin(room: room)
    if rooms?.forbids(token, in: room) == true { throw .removed }
    if let invitation = token.roost.invitation, rooms?.holds(invitation, in: room) != true { throw .revoked }
    return token
  }

  private func verify(_ text: String?) throws(AccessTokenRefusal) -> AccessToken {
    try AccessToken(verifying: text, keys: configuration.keys, now: configuration.now())
  }

  private func tooOften(_ request: HTTPRequest) -> HTTPResponse? {
    guard let seconds = configuration.attempts?.refusal(of: request.remote) else { return nil }
    var refusal = Problem.tooOften(retryAfter: seconds)
    configuration.crossOrigin.allow(request, on: &refusal)
    return refusal
  }

  private var door: DevelopmentDoor? { configuration.development.map { DevelopmentDoor(audience: $0) } }

  static let subprotocol = "roost.v1"

  /// The room of `/v1/rooms/{room}/connect`.
  private func connectRoom(_ request: HTTPRequest) -> String? {
    guard let segments = request.segments, segments.count == 4, segments[0] == "v1", segments[1] == "rooms",
      segments[3] == "connect"
    else { return nil }
    return segments[2]
  }
}
