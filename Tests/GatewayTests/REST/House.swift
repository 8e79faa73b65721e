import AccessTokens
import CallDesk
import Crypto
import Engine
import Foundation
import HTTPServer
import ICE
import Logging
import Model
import Negotiation
import Recording
import Rooms
import Testing
import Wire

@testable import Gateway

/// Makes what decides calls in some rooms.
struct CallMaker {
  let make: (RoomDirectory) -> (desk: CallDesk, rooms: CallRooms)
}

/// A whole server but for its sockets: the doors, the rooms, and a media plane behind them.
final class House: Sendable {
  static let secret = "a secret that is long enough to be one"
  let engine: MediaEngine
  let directory: RoomDirectory
  let gateway: Gateway
  private let studio: RecordingStudio?
  private let files = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
  private let events: Task<Void, Never>

  /// - Parameters:
  ///   - journal: where rooms write down what is to outlive them; nil: nowhere.
  ///   - records: there is a directory for recordings.
  ///   - calls: what decides calls in these rooms; nil: there are none.
  ///   - clock: what the rooms take for the time; nil: the real one.
  ///   - kept: how many events there are to be read.
  init(
    limits: RoomDirectory.Limits = House.limits(), policy: NegotiationPolicy = .server,
    journal: (any RoomJournal)? = nil, records: Bool = true, clock: StandingClock? = nil,
    events kept: EventLog.Limits = EventLog.Limits(),
    calls: CallMaker? = nil,
    _ adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws {
    engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 1, peersPerWorker: 8, pinsThreads: false),
      clock: Clock(),
      dtls: try DTLSContext(certificate: try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)))
    try engine.start()
    var time: (@Sendable () -> Instant)?
    if let clock { time = { clock.now } }
    studio =
      records
      ? try RecordingStudio(
        directory: files.path, limits: RecordingLimits(free: 0), bridge: engine.bridge,
        clock: { [engine] in engine.clock.now }, epoch: engine.clock.epoch, log: Log(level: .error) { _ in })
      : nil
    let directory = RoomDirectory(
      media: MediaPlane(
        engine: engine, candidates: [SocketAddress(ipv4: 127, 0, 0, 1, port: engine.port)],
        verification: .always, peerLimit: 8, policy: policy, clock: time),
      limits: limits, log: Log(level: .error) { _ in }, journal: journal, events: kept,
      studio: studio)
    self.directory = directory
    var configuration = GatewayConfiguration(keys: ["APIkey": Self.secret], development: nil) { House.now }
    adjust(&configuration)
    gateway = Gateway(
      configuration: configuration, rooms: directory, administered: directory, calls: calls?.make(directory))
    events = Task { await directory.run() }
  }

  deinit {
    studio?.stop()
    try? FileManager.default.removeItem(at: files)
    engine.stop()
    events.cancel()
  }

  static func limits() -> RoomDirectory.Limits {
    var limits = RoomDirectory.Limits()
    limits.defaults.departureTimeout = 0
    return limits
  }

  static var now: Int { Int(Date().timeIntervalSince1970) }

  static func token(
    _ identity: String? = nil, issued: Int? = now, expires: Int = now + 600, secret: String = secret,
    _ adjust: (inout Grants) -> Void = { _ in }
  ) -> String {
    var grants = Grants()
    adjust(&grants)
    return AccessToken(
      apiKey: "APIkey", identity: identity, expires: expires, issuedAt: issued, grants: grants
    ).signed(secret: secret)
  }

  /// One that may do everything from outside.
  static let admin = token {
    $0.room = Grants.everyRoom
    $0.roomCreate = true
    $0.roomList = true
    $0.roomAdmin = true
    $0.canSubscribe = true
  }

  // MARK: - REST

  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let text: String

    /// The last part of a problem's type.
    var problem: String? {
      (json["type"] as? String).flatMap { $0.split(separator: ":").last.map(String.init) }
    }
    var detail: String? { json["detail"] as? String }
    var json: NSDictionary {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? NSDictionary ?? [:]
    }
    var items: [NSDictionary] { json["items"] as? [NSDictionary] ?? [] }
    subscript(key: String) -> NSObject? { json[key] as? NSObject }
  }

  func ask(
    _ method: HTTPMethod, _ path: String, _ body: String = "", token: String? = House.admin,
    headers more: [(String, String)] = []
  ) async -> Answer {
    let response = await respond(method, path, body, token: token, headers: more)
    return Answer(
      status: response.status, headers: response.headers, text: String(decoding: response.body, as: UTF8.self)
    )
  }

  func respond(
    _ method: HTTPMethod, _ path: String, _ body: String = "", token: String? = House.admin,
    headers more: [(String, String)] = []
  ) async -> HTTPResponse {
    var headers: HTTPHeaders = ["host": "relay.example"]
    if let token { headers.add("authorization", "Bearer \(token)") }
    if !more.contains(where: { $0.0 == "content-type" }), !body.isEmpty {
      headers.add("content-type", method == .patch ? "application/merge-patch+json" : "application/json")
    }
    for (name, value) in more { headers.add(name, value) }
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    return await gateway.respond(
      to: HTTPRequest(
        method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "", headers: headers,
        body: Array(body.utf8)))
  }

  // MARK: - Signalling

  /// What the native door says to a token in the request.
  func upgrade(_ token: String, room: String = "demo") async -> Answer {
    let decision = await gateway.upgrade(
      HTTPRequest(
        method: .get, path: "/v1/rooms/\(room)/connect",
        headers: [
          "host": "relay.example", "sec-websocket-protocol": "roost.v1", "authorization": "Bearer \(token)",
        ]))
    switch decision {
    case .accept: return Answer(status: 101, headers: HTTPHeaders(), text: "")
    case .refuse(let response):
      return Answer(
        status: response.status, headers: response.headers,
        text: String(decoding: response.body, as: UTF8.self))
    }
  }

  /// Somebody at the native door, who says `auth` with that token.
  func connect(_ token: String, room: String = "demo") -> Guest {
    Guest(self, #"{"type":"auth","token":"\#(token)"}"#, room, ResumeTokens())
  }

  /// Breaks a guest's socket, and has it come back on another.
  /// - Parameter after: the last event that it has seen.
  func resume(_ guest: Guest, after: Int = 0) async -> Guest {
    guest.socket.hangUp()
    await guest.ended()
    let text = #"{"type":"resume","resumeToken":"\#(guest.resumeToken)","after":\#(after)}"#
    return Guest(self, text, guest.room, guest.tokens)
  }

  /// - Returns: who is in, with the word for it.
  func enter(
    _ identity: String, room: String = "demo", _ adjust: (inout Grants) -> Void = { _ in }
  ) async throws -> Guest {
    var grants = Grants.join(room)
    adjust(&grants)
    let token = House.token(identity) { [grants] in $0 = grants }
    let guest = connect(token, room: room)
    let joined = try await guest.next("joined")
    guest.joined = "\(joined)"
    guest.resumeToken = joined["resumeToken"] as? String ?? ""
    guest.id = try #require((joined["participant"] as? NSDictionary)?["id"] as? String)
    return guest
  }
}

/// A client of the native door of a whole server: its offers, and what it has heard.
final class Guest: NativeClient {
  fileprivate(set) var id = ""
  /// What it has heard, as it came.
  fileprivate(set) var joined = ""
  fileprivate(set) var resumeToken = ""
  fileprivate let room: String
  fileprivate let tokens: ResumeTokens
  private var requests = 0
  private var negotiator = Negotiator(policy: .client)
  private var random = RandomSource.system
  private var plan = OfferPlan()
  private var ssrc: UInt32 = 1
  /// The section of the track that was added last.
  private var newest = "?"
  private let local = LocalTransport(
    credentials: ICECredentials(ufrag: "clientclient", password: "clientclientclientclient"),
    fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [],
    isLite: false)

  /// - Parameter greeting: the first message.
  init(_ house: House, _ greeting: String, _ room: String, _ tokens: ResumeTokens) {
    (self.room, self.tokens) = (room, tokens)
    let gateway = house.gateway
    var terms = SignallingTerms(room: room) { text throws(AccessTokenRefusal) in
      try gateway.authorize(text, joining: room)
    }
    terms.now = { House.now }
    terms.sessions = gateway.sessions
    super.init(terms, house.directory, tokens: tokens)
    socket.say(greeting)
  }

  /// The next event of that kind.
  func event(_ kind: String) async throws -> NSDictionary {
    while true {
      let message = try await next("event")
      guard let event = message["event"] as? NSDictionary else { return message }
      if event["type"] as? String == kind { return event }
    }
  }

  /// All that comes up to and with an event of that kind, as it was sent.
  func heard(until kind: String) async -> [String] {
    var all: [String] = []
    while let text = await text() {
      all.append(text)
      if text.contains(#""type":"\#(kind)""#) { break }
    }
    return all
  }

  /// A request's answer: `ok`, the answer itself, or the code of its error.
  func ask(_ type: String, _ fields: String = "") async throws -> NSDictionary {
    requests += 1
    socket.say(#"{"type":"\#(type)","id":\#(requests)\#(fields.isEmpty ? "" : ",")\#(fields)}"#)
    return try await answer(to: requests)
  }

  /// `ok`, or the error's code.
  func verdict(_ type: String, _ fields: String = "") async throws -> String {
    let answer = try await ask(type, fields)
    return answer["code"] as? String ?? answer["type"] as? String ?? "?"
  }

  /// Adds tracks and receivers to what is offered, and offers it; they are taken back where it is refused.
  /// - Parameters:
  ///   - source: of the last of them.
  ///   - mid: of the section that the source is said of; nil: that of the last of them.
  func offer(
    _ kinds: [MediaKind] = [], receivers: Int = 0, source: String? = nil, mid: String? = nil
  ) async throws -> NSDictionary {
    let before = plan
    for kind in kinds {
      ssrc += 2
      plan.tracks.append(
        TrackAnnouncement(
          kind: kind, ssrc: ssrc, rtxSSRC: kind == .video ? ssrc + 1 : nil, cname: "c", streamID: "s",
          trackID: "t\(ssrc)"))
    }
    plan.audioReceivers += receivers
    plan.videoReceivers += receivers
    let offer = try negotiator.offer(plan, local: local, random: &random)
    newest = offer.media.first { $0.ssrcs.contains { $0.ssrc == ssrc } }?.mid ?? "?"
    let tracks = source.map { #"[{"mid":"\#(mid ?? newest)","source":"\#($0)"}]"# } ?? "[]"
    let sdp = String(decoding: try JSONEncoder().encode(offer.text), as: UTF8.self)
    let answer = try await ask("offer", #""sdp":\#(sdp),"tracks":\#(tracks)"#)
    if let sdp = answer["sdp"] as? String {
      _ = try negotiator.accept(try SessionDescription(parsing: sdp))
    } else {
      negotiator.withdrawOffer()
      plan = before
    }
    return answer
  }

  /// Publishes one track more.
  /// - Returns: its id, or the error's code.
  func publish(_ kind: MediaKind, as source: String) async throws -> String {
    let answer = try await offer([kind], source: source)
    if let code = answer["code"] as? String { return code }
    let tracks = answer["tracks"] as? [NSDictionary] ?? []
    let declined = answer["declined"] as? [NSDictionary] ?? []
    return tracks.first { $0["mid"] as? String == newest }?["track"] as? String
      ?? declined.first { $0["mid"] as? String == newest }?["code"] as? String ?? "?"
  }
}
