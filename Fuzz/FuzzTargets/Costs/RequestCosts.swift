import AccessTokens
import Gateway
import HTTPServer
import Model
import Rooms

/// HTTP requests to the doors of a room with people in it, each counted from the request as it was parsed to its answer.
///
/// `Bearer $` is a token that may do everything, `Bearer +` one that joins the room and runs it; in the target `$0` and `$1` stand for
/// tracks of `p0`.
final class RequestCosts {
  private static let operations: [(method: HTTPMethod, path: String)] = [
    (.get, "/openapi.json"), (.get, "/v1/rooms"), (.post, "/v1/rooms"), (.get, "/v1/rooms/{room}"),
    (.patch, "/v1/rooms/{room}"), (.delete, "/v1/rooms/{room}"), (.get, "/v1/rooms/{room}/participants"),
    (.get, "/v1/rooms/{room}/participants/{identity}"), (.patch, "/v1/rooms/{room}/participants/{identity}"),
    (.delete, "/v1/rooms/{room}/participants/{identity}"),
    (.post, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/mute"), (.post, "/v1/rooms/{room}/data"),
    (.get, "/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail"),
    (.get, "/v1/rooms/{room}/waiting"), (.post, "/v1/rooms/{room}/participants/{identity}/admit"),
    (.post, "/v1/rooms/{room}/invitations"), (.get, "/v1/rooms/{room}/invitations"),
    (.delete, "/v1/rooms/{room}/invitations/{invitation}"), (.post, "/v1/invitations/open"),
    (.get, "/v1/rooms/{room}/participants/{identity}/flight"), (.get, "/v1/rooms/{room}/explain"),
    (.post, "/v1/rooms/{room}/recordings"), (.get, "/v1/rooms/{room}/recordings"),
    (.get, "/v1/rooms/{room}/recordings/{recording}"), (.delete, "/v1/rooms/{room}/recordings/{recording}"),
    (.get, "/v1/rooms/{room}/events"), (.get, "/v1/events"), (.get, "/v1/statistics"),
    (.get, "/v1/rooms/{room}/connect"),
    (.post, "/dev/token"), (.get, "/"),
  ]
  /// What is asked for, or `another`.
  static let kinds = operations.map { "\($0.method.rawValue) \($0.path)" } + ["another"]
  /// What even the shortest request is charged: one is as dear as a message of a socket.
  private static let smallest = 512

  private let others: Int
  private var room: CostRoom
  private var tracks: [String] = []
  private let admin: String
  private let host: String

  init(others: Int) {
    self.others = others
    var grants = Grants()
    (grants.roomCreate, grants.roomList, grants.roomAdmin) = (true, true, true)
    grants.canSubscribe = true
    grants.room = "*"
    admin = AccessToken(
      apiKey: "key", identity: nil, expires: CostRoom.now + 600, issuedAt: CostRoom.now, grants: grants
    ).signed(secret: CostRoom.keys["key"] ?? "")
    grants = .join(CostRoom.name)
    grants.roomAdmin = true
    host = AccessToken(
      apiKey: "key", identity: "host", expires: CostRoom.now + 600, issuedAt: CostRoom.now, grants: grants
    ).signed(secret: CostRoom.keys["key"] ?? "")
    room = CostRoom(others: others, slots: 2)
    findTracks()
  }

  private func findTracks() {
    room.inside {
      tracks =
        room.perform { [directory = room.directory] in
          guard let room = directory.administration(of: CostRoom.name) else { return [] }
          return (try? await room.participant("p0"))?.info.tracks.map(\.id.text) ?? []
        } ?? []
    }
  }

  static func kind(of request: HTTPRequest) -> String {
    guard let segments = request.segments else { return "another" }
    let found = operations.first { method, path in
      let wanted = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      return method == request.method && wanted.count == segments.count
        && zip(wanted, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
    return found.map { "\($0.method.rawValue) \($0.path)" } ?? "another"
  }

  /// - Returns: nil for what libmicrohttpd's or our reading of a head refuses.
  static func request(_ input: [UInt8]) -> HTTPRequest? {
    let (lines, body) = lines(input)
    let words = lines[0].split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3 else { return nil }
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      headers.add(
        String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1].drop { $0 == 32 }, as: UTF8.self)
      )
    }
    headers.add("host", "localhost:7880")
    guard
      let head = try? RequestHead(
        method: String(decoding: words[0], as: UTF8.self), target: RequestTarget(words[1]), headers: headers,
        isHTTP10: false, size: input.count - body.count, limits: HTTPLimits())
    else { return nil }
    return HTTPRequest(
      method: head.method, path: head.target.path, query: head.target.query, headers: head.headers,
      body: Array(body))
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

  func run(_ given: HTTPRequest, size: Int, _ meter: CostMeter) -> CostReading? {
    let request = filled(given)
    var reading: CostReading?
    var isChanged = false
    room.inside {
      room.rest()
      let heard = room.others.reduce(0) { $0 + $1.bytes }
      let isConnect = given.path.hasSuffix("/connect")
      meter.begin()
      let response = room.perform { [gateway = room.gateway] () -> HTTPResponse in
        guard isConnect else { return await gateway.respond(to: request) }
        if case .refuse(let response) = await gateway.upgrade(request) { return response }
        return HTTPResponse(status: 101)
      }
      meter.end()
      guard let response else { return }
      reading = CostReading(
        charged: Self.smallest + size, answered: response.body.count,
        spread: room.others.reduce(0) { $0 + $1.bytes } - heard)
      isChanged = response.status < 300 && restores(after: request)
    }
    if isChanged {
      room = CostRoom(others: others, slots: 2)
      findTracks()
    }
    return reading
  }

  /// Undoes what can be undone. Only `inside`.
  /// - Returns: whether the room is another than it was.
  private func restores(after request: HTTPRequest) -> Bool {
    var undo: HTTPRequest
    switch (request.method, request.path) {
    case (.post, "/v1/rooms"):
      _ = room.perform { [directory = room.directory] in
        for room in await directory.rooms(after: nil, limit: 100) where room.info.name != CostRoom.name {
          try? await directory.close(room: room.info.name)
        }
      }
      return false
    case (.post, let path) where path.hasSuffix("/mute"):
      undo = request
      undo.body = Array(#"{"muted":false}"#.utf8)
    case (.patch, "/v1/rooms/r"):
      undo = request
      let names = [
        "metadata", "emptyTimeout", "departureTimeout", "maxParticipants", "admission", "locked",
        "dataHistory",
      ]
      undo.body = Array("{\(names.map { "\"\($0)\":null" }.joined(separator: ","))}".utf8)
    case (.post, let path) where path.hasSuffix("/invitations"): return true
    case (.post, _), (.get, _), (.head, _), (.options, _): return false
    default: return true
    }
    return room.perform { [gateway = room.gateway, undo] in await gateway.respond(to: undo).status } != 200
  }

  private func filled(_ given: HTTPRequest) -> HTTPRequest {
    var request = given
    for (index, track) in tracks.enumerated() {
      request.path = request.path.replacing("$\(index)", with: track)
    }
    var headers = HTTPHeaders()
    for (name, value) in given.headers.fields {
      let token = ["Bearer $": admin, "Bearer +": host][value]
      headers.add(name, token.map { "Bearer \($0)" } ?? value)
    }
    request.headers = headers
    return request
  }
}
