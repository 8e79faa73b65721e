import AccessTokens
import Crypto
import Engine
import Gateway
import HTTPServer
import ICE
import Logging
import Model
import Rooms

/// Requests as text, one behind the other with a zero byte between, to one server without sockets: each is refused, or
/// goes to the doors, and is answered by what any client can read.
///
/// `Bearer $` is a token that may do everything, `Bearer %` one that joins a room, `Bearer +` one that joins it and runs it.
func fuzzRequest(_ input: UnsafeRawBufferPointer) {
  guard let house = RequestHouse.shared else { return }
  let requests = Array(input).split(separator: 0, maxSplits: 8, omittingEmptySubsequences: true)
  InlineExecutor.run {
    let (gateway, directory) = house.open()
    for request in requests { await house.ask(Array(request), gateway) }
    await house.close(directory)
  }
}

/// What all inputs have in common: a media engine that never starts, keys, and a moment.
final class RequestHouse: Sendable {
  static let shared = try? RequestHouse()
  static let now = 1_700_000_000
  static let keys = ["key": "a secret that no input can know, 32+"]
  let engine: MediaEngine
  private let admin: String
  private let joins: String
  private let host: String
  private let proxies = [AddressPrefix("127.0.0.0/8"), AddressPrefix("10.0.0.0/8")].compactMap { $0 }

  private init() throws {
    engine = try MediaEngine(
      MediaEngine.Configuration(port: 0, workers: 1, peersPerWorker: 1, pinsThreads: false), clock: Clock(),
      dtls: try DTLSContext(certificate: try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)))
    var grants = Grants()
    (grants.roomCreate, grants.roomList, grants.roomAdmin) = (true, true, true)
    grants.canSubscribe = true
    grants.room = "*"
    admin = AccessToken(
      apiKey: "key", identity: nil, expires: Self.now + 600, issuedAt: Self.now, grants: grants
    )
    .signed(secret: Self.keys["key"] ?? "")
    joins = AccessToken(
      apiKey: "key", identity: "p", expires: Self.now + 600, issuedAt: Self.now, grants: .join("demo")
    )
    .signed(secret: Self.keys["key"] ?? "")
    var running = Grants.join("demo")
    running.roomAdmin = true
    host = AccessToken(
      apiKey: "key", identity: "h", expires: Self.now + 600, issuedAt: Self.now, grants: running
    )
    .signed(secret: Self.keys["key"] ?? "")
  }

  /// Rooms of which no one has come into any.
  func rooms() -> RoomDirectory {
    RoomDirectory(
      media: MediaPlane(
        engine: engine, candidates: [SocketAddress(ipv4: 192, 0, 2, 1, port: 3_478)], verification: .always,
        peerLimit: 1),
      limits: RoomDirectory.Limits(rooms: 4), log: Log(level: .error) { _ in })
  }

  func open() -> (Gateway, RoomDirectory) {
    let directory = rooms()
    var configuration = GatewayConfiguration(keys: Self.keys, development: nil) { Self.now }
    configuration.crossOrigin = CrossOrigin(origins: ["https://desk.example"])
    return (
      Gateway(configuration: configuration, rooms: directory, administered: directory), directory
    )
  }

  func close(_ directory: RoomDirectory) async {
    let rooms = await directory.rooms(after: nil, limit: 100)
    check(rooms.count <= 4, "rooms have a bound")
    for room in rooms { try? await directory.close(room: room.info.name) }
    check(directory.counts.rooms == 0, "rooms that are closed are gone")
  }

  /// - Parameter more: tokens by the word that stands for them.
  /// - Returns: nil: it was refused before it was a request, or is none that is answered here.
  @discardableResult
  func ask(_ bytes: [UInt8], _ gateway: Gateway, _ more: [String: String] = [:]) async -> HTTPResponse? {
    let (lines, body) = Self.lines(bytes)
    let words = lines[0].split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      let value = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
      let known = ["$": admin, "%": joins, "+": host].merging(more) { _, new in new }
      let token = value.hasPrefix(" Bearer ") ? known[String(value.dropFirst(8))] : nil
      headers.add(String(decoding: parts[0], as: UTF8.self), token.map { "Bearer \($0)" } ?? value)
    }
    var limits = HTTPLimits()
    limits.bodyBytes = 2_048
    do throws(RequestRefusal) {
      let head = try RequestHead(
        method: String(decoding: words[0], as: UTF8.self),
        target: words.count > 1 ? RequestTarget(words[1]) : nil, headers: headers,
        isHTTP10: words.last.map { $0.elementsEqual("HTTP/1.0".utf8) } ?? false, size: bytes.count,
        limits: limits)
      check(headers.fields.count <= RequestHead.maximumFields, "fields have a bound")
      let request = HTTPRequest(
        method: head.method, path: head.target.path, query: head.target.query, headers: head.headers,
        body: Array(body.prefix(limits.bodyBytes)))
      // Asks the workers, who don't run here.
      guard request.path != "/readyz" else { return nil }
      check(request.path == "*" || request.path.hasPrefix("/"), "a path is absolute")
      let proxy = request.remote
      let client = ForwardedFor.client(of: proxy, head.headers, trusting: proxies)
      check(
        client == proxy || request.headers["x-forwarded-for"] != nil, "the client is named by proxies alone"
      )
      _ = (request.offeredSubprotocols, request.bearerToken, request.queryItem("access_token"))
      guard head.webSocketKey != nil else {
        let response = await gateway.respond(to: request)
        look(at: response, of: request)
        return response
      }
      if case .refuse(let response) = await gateway.upgrade(request) { look(at: response, of: request) }
    } catch {
      look(at: error.response, of: nil)
    }
    return nil
  }

  /// The head's lines, at least one, and what follows the empty one.
  private static func lines(_ bytes: [UInt8]) -> (lines: [ArraySlice<UInt8>], body: ArraySlice<UInt8>) {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    var place = 0
    while place + 1 < bytes.count {
      guard bytes[place] == 13, bytes[place + 1] == 10 else {
        place += 1
        continue
      }
      if place == start, !lines.isEmpty { return (lines, bytes[(place + 2)...]) }
      lines.append(bytes[start..<place])
      place += 2
      start = place
    }
    return (lines + [bytes[start...]], [])
  }

  /// What is read over time has an end, and lines of which each is one that a reader knows.
  private func listen(to source: any HTTPBodySource) {
    var bytes: [UInt8] = []
    var rounds = 0
    while source.produce(into: &bytes, enough: 4_096, now: Instant(nanoseconds: 0), ending: .shutdown) != .end
    {
      rounds += 1
      check(rounds < 1_000, "a stream that is to end does")
    }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    let known = ["id: ", "event: ", "data: {", ":"].map { Array($0.utf8) }
    check(
      lines.allSatisfy { line in line.isEmpty || known.contains { line.starts(with: $0) } },
      "no line of a stream is any other")
  }

  /// - Parameter request: nil where it was refused before it was one.
  private func look(at response: HTTPResponse, of request: HTTPRequest?) {
    check((200..<600).contains(response.status), "an answer has a status")
    check(response.status != 500, "no answer is at a loss")
    for (name, value) in response.headers.fields {
      check(
        (name + value).unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 },
        "no field can start another")
    }
    let type = response.headers["content-type"] ?? ""
    if type.hasSuffix("json"), request?.path != "/openapi.json" {
      guard
        case .object(let members)? = StrictJSON.parse(response.body, maximumMembers: response.body.count + 1)
      else { return check(false, "an answer in JSON is JSON") }
      check(
        response.status < 400 || members["status"] == .number(Double(response.status)),
        "a problem says its status")
    }
    check(response.status < 400 || type == "application/problem+json", "a refusal is a problem")
    if let source = response.stream { listen(to: source) }
    guard let request, request.headers["origin"] == nil else { return }
    check(
      response.headers["access-control-allow-origin"] == nil, "a request of no origin is answered without one"
    )
  }
}
