import AccessTokens
import Foundation
import Glibc
import HTTPServer
import Model
import Signalling
import Synchronization
import Testing

@testable import Gateway
@testable import Rooms

@Suite("Rooms as full as they may be", .timeLimit(.minutes(2)))
struct FullRoomTests {
  /// A room of 1,000 with 32 tracks each, whose names and states are as long as they may be, and in JSON twice that.
  struct FullRoom: RoomService {
    var isDraining: Bool { false }
    func forbids(_ token: AccessToken, in room: String) -> Bool { false }
    func isReady() async -> Bool { true }

    static let long = String(repeating: "\"", count: 128)
    static let tracks = (0..<32).map {
      TrackInfo(
        id: TrackID(known: "TR_0123456789\($0 + 10)"), kind: .video, source: .screenShareAudio, name: long)
    }

    static func participant(_ number: Int) -> ParticipantInfo {
      let budget = StateBudget(participants: 1_000)
      let bytes = budget.share + (number < 8 ? StateBudget.part : 0)
      return ParticipantInfo(
        id: ParticipantID(known: "PA_\(100_000_000_000 + number)"),
        identity: "\(long.dropLast(4))\(number)", name: long,
        metadata: String(repeating: "\u{1}", count: bytes / 6), tracks: tracks)
    }

    func join(_ request: JoinRequest) async throws(JoinError) -> any RoomParticipant {
      Newcomer(
        JoinedState(
          room: RoomInfo(
            id: RoomID(naming: "RM_1"), name: Self.long,
            metadata: String(repeating: "\u{1}", count: 65_536)),
          participant: Self.participant(0), participants: (1..<1_000).map(Self.participant), lastEvent: 7))
    }
  }

  @Test func `a newcomer that is slow to read gets the whole state of the fullest room, and what follows`()
    async throws
  {
    let gateway = Gateway(
      configuration: GatewayConfiguration(keys: ["APIkey": House.secret], development: nil) { House.now },
      rooms: FullRoom())
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: gateway)
    let port = server.addresses[0].port
    let token = House.token("ada") {
      $0.room = "demo"
      $0.roomJoin = true
    }
    let heard: [[UInt8]] = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: RawSocket.hear(2, port, "/v1/rooms/demo/connect", token)) }
        .start()
    }
    await server.shutdown(grace: .seconds(1))
    try #require(heard.count == 2)
    // Far more than may wait for a slow client.
    #expect(heard[0].count > 3 * HTTPLimits().queuedBytes)
    let joined = try #require(try JSONSerialization.jsonObject(with: Data(heard[0])) as? NSDictionary)
    #expect(joined["type"] as? String == "joined" && (joined["participants"] as? NSArray)?.count == 999)
    #expect(String(decoding: heard[1], as: UTF8.self) == #"{"participants":[],"type":"quality"}"#)
  }

  @Test func `what is more than a room has left is refused with the figure, by REST and at the door`()
    async throws
  {
    let house = try House()
    let budget = StateBudget(participants: 1_000)
    for number in 0..<8 {
      let name = "greedy\(number)"
      _ = try await house.enter(name)
      let text = String(repeating: "\\u0001", count: (budget.share + StateBudget.part) / 6)
      #expect(
        await house.ask(.patch, "/v1/rooms/demo/participants/\(name)", #"{"metadata":"\#(text)"}"#).status
          == 200)
    }
    let modest = try await house.enter("modest") { $0.canUpdateOwnMetadata = true }
    let large = String(repeating: "x", count: 1_200)
    let answer = await house.ask(.patch, "/v1/rooms/demo/participants/modest", #"{"metadata":"\#(large)"}"#)
    #expect(answer.status == 413 && answer.problem == "too-large")
    let limit = try #require(
      answer.detail?.firstMatch(of: #/have 1200 bytes in JSON, .* may have (\d+) /#)?.1)
    let left = try #require(Int(limit))
    #expect((1_048..<1_100).contains(left))
    // What the participant changes itself takes less of the pool; either may be possible later.
    let refused = try await modest.ask("update", #""metadata":"\#(large)""#)
    #expect(refused["code"] as? String == "limit" && refused["retry"] as? String == "after")
    #expect((refused["message"] as? String)?.contains("may have 1048 in this room now") == true)
    let fits = String(repeating: "x", count: 1_048)
    #expect(try await modest.verdict("update", #""metadata":"\#(fits)""#) == "ok")

    let token = AccessToken(
      apiKey: "APIkey", identity: "late", expires: House.now + 600, metadata: large, grants: .join("demo")
    ).signed(secret: House.secret)
    let late = house.connect(token)
    let error = try await late.next("joined")
    #expect(error["code"] as? String == "room-full" && error["retry"] as? String == "after")
    await late.ended()
    #expect(late.socket.closeCode == 4005)
    // Who asks for no more than its share comes in.
    _ = try await house.enter("modest too")
  }
}

/// In the full room: it hears an empty `quality`, and stays.
private final class Newcomer: RoomParticipant {
  let joined: JoinedState
  let notices: AsyncStream<ParticipantNotice>
  private let say: AsyncStream<ParticipantNotice>.Continuation

  init(_ joined: JoinedState) {
    self.joined = joined
    (notices, say) = AsyncStream<ParticipantNotice>.makeStream()
    say.yield(.quality([]))
  }

  var transport: ParticipantTransport? { nil }
  func grants() async -> Grants? { .join("demo") }
  func tellSlots() async {}
  func mute(_ track: String, _ muted: Bool) async throws(RequestError) {}
  func update(_ change: ParticipantChange) async throws(RequestError) {}
  func raiseHand(_ isRaised: Bool, of other: String?) async throws(RequestError) {}
  func admit(_ waiting: String, _ isAllowed: Bool) async throws(RequestError) {}
  func send(
    _ payload: [UInt8], topic: String?, reliable: Bool, to destinations: [String]?
  ) async throws(RequestError) {}
  func explain() async throws(RequestError) -> ParticipantExplanation { throw .gone }
  func absent() async {}
  func present(after: Int) async throws(RequestError) {}
  func leave(reason: LeaveReason) async { say.finish() }
}

/// A WebSocket that begins to read late.
private enum RawSocket {
  /// - Returns: the first messages, or those that came before the end.
  static func hear(_ count: Int, _ port: UInt16, _ path: String, _ token: String) -> [[UInt8]] {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var buffer: Int32 = 65_536
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, 4)
    var wait = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { return [] }
    let request =
      "GET \(path) HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Sec-WebSocket-Protocol: roost.v1\r\nAuthorization: Bearer \(token)\r\n\r\n"
    guard write(descriptor, request, request.utf8.count) == request.utf8.count else { return [] }

    func read(_ size: Int) -> [UInt8]? {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while bytes.count < size {
        let got = recv(descriptor, &chunk, min(chunk.count, size - bytes.count), 0)
        guard got > 0 else { return nil }
        bytes += chunk[..<got]
      }
      return bytes
    }

    var head: [UInt8] = []
    while head.suffix(4) != [13, 10, 13, 10] {
      guard let byte = read(1) else { return [] }
      head += byte
    }
    // Meanwhile what the server has said waits there.
    sleep(3)
    var messages: [[UInt8]] = []
    while messages.count < count {
      guard let head = read(2) else { break }
      var size = Int(head[1])
      if size >= 126 {
        guard let length = read(size == 126 ? 2 : 8) else { break }
        size = length.reduce(0) { $0 << 8 | Int($1) }
      }
      guard let payload = read(size) else { break }
      if head[0] & 15 == 1 { messages.append(payload) }
    }
    return messages
  }
}
