import Gateway
import Rooms

/// Messages to a session in a room, each counted from its text until all that follows from it is done.
///
/// In an input `$0` to `$3` stand for tracks of its sender's own, `$4` to `$7` for others', `$8` for a good token, `$9` for
/// one as long as they get, `$r` for a good resume token.
final class MessageCosts {
  /// `offer again` is the second time of what was accepted; `malformed` is no message at all.
  static let kinds = [
    "auth", "resume", "offer", "offer again", "candidate", "subscribe", "unsubscribe", "view", "layers",
    "mute", "update", "data", "hand", "admit",
    "explain", "session.event", "ping", "leave", "unknown", "malformed",
  ]
  /// What leaves the session as another than it was.
  private static let changing: Set = [
    "auth", "resume", "offer", "offer again", "subscribe", "unsubscribe", "view", "update", "hand",
    "leave",
  ]
  /// What even the shortest message is charged, and the shortest offer.
  private static let message = 512
  private static let offer = 4_096

  private let room: CostRoom
  private var socket: (end: CostSocket, kind: String)?
  private var words: [String] = []
  private let short = CostRoom.token("hostile")
  private let long = CostRoom.token("hostile", metadata: String(repeating: "m", count: 8_800))

  init(others: Int) { room = CostRoom(others: others, slots: 8) }

  static func isKind(_ kind: String, _ input: [UInt8]) -> Bool {
    guard input.count <= 262_144 else { return false }
    // Where a field is wrong its type counts, which every message of ours has first.
    let type = type(of: input)
    switch kind {
    case "offer again": return type == "offer"
    case "unknown": return type.map { !kinds.contains($0) } ?? false
    case "malformed": return type == nil
    default: return type == kind
    }
  }

  private static func type(of input: [UInt8]) -> String? {
    let head = Array(#"{"type":""#.utf8)
    guard input.starts(with: head), let end = input[head.count...].firstIndex(of: UInt8(ascii: "\"")) else {
      return nil
    }
    return String(decoding: input[head.count..<end], as: UTF8.self)
  }

  func run(_ kind: String, _ input: [UInt8], _ meter: CostMeter) -> CostReading? {
    var reading: CostReading?
    room.inside {
      room.rest()
      let socket = prepare(kind)
      let text = filled(String(decoding: input, as: UTF8.self))
      if kind == "offer again" {
        socket.receive(text)
        room.turn()
        room.rest()
      }
      let (said, heard) = (socket.bytes, spread)
      meter.begin()
      socket.receive(text)
      room.turn()
      meter.end()
      reading = CostReading(
        charged: kind.hasPrefix("offer") ? max(Self.offer, text.utf8.count) : Self.message + text.utf8.count,
        answered: socket.bytes - said, spread: spread - heard)
      if Self.changing.contains(kind) || socket.isClosed {
        leave(socket)
      } else {
        self.socket = (socket, kind)
        if kind == "mute" { unmute(socket) }
      }
    }
    return reading
  }

  private var spread: Int { room.others.reduce(0) { $0 + $1.bytes } }

  /// A socket in the state in which that kind finds it.
  private func prepare(_ kind: String) -> CostSocket {
    if let socket {
      if socket.kind == kind { return socket.end }
      leave(socket.end)
    }
    guard kind != "auth" else { return room.open() }
    let socket = room.open(identity: "hostile")
    if let offer = Self.offer(before: kind) {
      socket.receive(offer.message)
      room.turn()
    }
    let own = room.perform { [room = room.directory] in await Self.tracks(room, of: "hostile") } ?? []
    let others = room.perform { [room = room.directory] in await Self.tracks(room, of: "p0") } ?? []
    words = [own, others].flatMap { tracks in (0..<4).map { $0 < tracks.count ? tracks[$0] : "" } }
    guard kind == "resume" else { return socket }
    // As many events as a resumed session gets again: the updates of others.
    resumeToken = socket.first.flatMap(Self.resumeToken) ?? ""
    socket.hangUp()
    room.turn()
    for number in 0..<8 * min(room.others.count, 8) {
      room.others[number % 8].receive(#"{"type":"update","name":"n\#(number)"}"#)
    }
    room.turn()
    return room.open()
  }

  /// What that kind needs to have been agreed on, and no more.
  private static func offer(before kind: String) -> CostOffer? {
    switch kind {
    case "offer", "offer again", "update", "hand", "admit": nil
    case "layers", "mute", "leave": CostOffer(sends: 2, receives: 0)
    default: CostOffer(sends: 0, receives: 16)
    }
  }

  /// The session's tracks are as they were.
  private func unmute(_ socket: CostSocket) {
    for track in words.prefix(4) where !track.isEmpty {
      socket.receive(#"{"type":"mute","track":"\#(track)","muted":false}"#)
    }
    room.turn()
  }

  private var resumeToken = ""

  private static func resumeToken(_ joined: String) -> String? {
    guard let start = joined.firstRange(of: #""resumeToken":""#) else { return nil }
    return String(joined[start.upperBound...].prefix { $0 != "\"" })
  }

  private static func tracks(_ directory: RoomDirectory, of identity: String) async -> [String] {
    guard let room = directory.administration(of: CostRoom.name) else { return [] }
    return (try? await room.participant(identity))?.info.tracks.map(\.id.text) ?? []
  }

  private func leave(_ socket: CostSocket) {
    socket.receive(#"{"type":"leave"}"#)
    room.turn()
    // Who is in no more, or was never, leaves by the end of the socket.
    socket.hangUp()
    room.turn()
    room.rest()
    self.socket = nil
  }

  private func filled(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    var text = text
    for (index, word) in words.enumerated() { text = text.replacing("$\(index)", with: word) }
    return text.replacing("$8", with: short).replacing("$9", with: long).replacing("$r", with: resumeToken)
  }
}
