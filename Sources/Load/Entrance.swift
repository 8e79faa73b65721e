internal import AccessTokens
internal import Client
internal import Glibc
internal import HTTPClient
internal import Model
internal import WebSocketClient

/// Lets participants in at the asked rate, each with a token of its own.
final class Entrance {
  private let options: LoadOptions
  private let joiners: Joiners
  /// Of the server.
  private let base: WebSocketURL
  private let tokenExpiry: Int
  /// From which address datagrams leave for the server.
  private let local: SocketAddress
  /// Those before have begun to join.
  private(set) var begun = 0
  /// The first of those who come now, and when they begin.
  private var first = 0
  private var opened = Instant.never
  /// When the very first began.
  private(set) var firstOpened = Instant.never

  init(_ options: LoadOptions, now seconds: Int) throws(LoadError) {
    guard let base = WebSocketURL(options.url) else { throw LoadError("not a server's URL: \(options.url)") }
    self.options = options
    self.base = base
    tokenExpiry = seconds + 86_400
    let needsAddress = !options.joining.isNative
    local =
      (needsAddress ? LocalAddress.towards(host: base.host, port: base.port) : nil)
      ?? SocketAddress(ipv4: 127, 0, 0, 1, port: 0)
    joiners = try Joiners()
  }

  var descriptor: Int32 { joiners.descriptor }
  func stop() { joiners.stop() }
  func takeAnswers() -> [Joiners.Answer] { joiners.takeAnswers() }

  /// From now on those come who have not begun yet.
  func open(now: Instant) {
    (first, opened) = (begun, now)
    if firstOpened == .never { firstOpened = now }
  }

  /// When the next one begins; never, where all of so many have.
  func deadline(of count: Int) -> Instant {
    guard begun < count, opened != .never else { return .never }
    return opened.advanced(byNanoseconds: Int64(Double(begun - first) / options.joining.rate * 1e9))
  }

  /// - Parameter offer: what a participant offers from an address; nil where it has failed.
  func begin(
    _ participants: [Participant], now: Instant, offer: (Participant, SocketAddress) -> String?
  ) {
    while deadline(of: participants.count) <= now {
      let participant = participants[begun]
      begun += 1
      participant.beginJoin(now: now)
      let room = "\(options.names.room)-\(participant.role.room + 1)"
      let token = AccessToken(
        apiKey: options.apiKey, identity: "\(options.names.identity)-\(participant.number)",
        expires: tokenExpiry, grants: .join(room)
      ).signed(secret: options.secret)
      let place = place(of: Percent.encode(room), by: participant.role.door) { offer(participant, local) }
      guard let place else {
        // Who could make no offer has said so.
        participant.fail("no URL for the room")
        continue
      }
      joiners.add(
        Joiners.Request(
          participant: participant.number, place: place, token: token,
          milliseconds: options.joining.timeout * 1_000, checksCertificate: options.checksCertificate))
    }
  }

  /// - Parameter room: percent-encoded.
  private func place(
    of room: String, by door: Participant.Door, offer: () -> String?
  ) -> Joiners.Request.Place? {
    let server = "\(base.isSecure ? "s" : "")://\(base.host):\(base.port)"
    if door == .native { return WebSocketURL("ws\(server)/v1/rooms/\(room)/connect").map { .webSocket($0) } }
    guard let url = HTTPURL("http\(server)/\(door == .whip ? "whip" : "whep")/\(room)"), let sdp = offer()
    else { return nil }
    return .session(url, offer: sdp)
  }

  /// Ends sessions that have no socket; blocks, at most for a few seconds.
  func leave(_ participants: [Participant], clock: () -> Instant) {
    let end = clock().advanced(byNanoseconds: Self.leaveTime)
    for participant in participants {
      guard let session = participant.session else { continue }
      guard clock() < end else { return }
      session.end(milliseconds: 1_000)
    }
  }

  private static let leaveTime: Int64 = 5_000_000_000
}

/// A room's name in a path.
enum Percent {
  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
