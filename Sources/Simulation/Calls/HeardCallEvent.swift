internal import FoundationEssentials

/// An event of a person's stream, or of a page of it.
struct HeardCallEvent: Decodable {
  private enum Keys: String, CodingKey { case id, event, data }
  private enum Members: String, CodingKey { case ringId, call, calls, reason, remainingMs }

  let id: Int64
  let kind: String
  var ring: String?
  /// The call that it shows, and the id of the call that it is about.
  var view: CallView?
  var call: String?
  var reason: String?
  /// Milliseconds for which a ring goes on.
  var remaining: Int64 = 0
  /// All that there are, of the first one.
  var calls: [CallView] = []

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Keys.self)
    id = try values.decode(Int64.self, forKey: .id)
    kind = try values.decode(String.self, forKey: .event)
    switch kind {
    case "call.updated", "call.ended":
      let shown = try values.decode(CallView.self, forKey: .data)
      (view, call) = (shown, shown.id)
    case "state":
      let data = try values.nestedContainer(keyedBy: Members.self, forKey: .data)
      calls = try data.decode([CallView].self, forKey: .calls)
    case "call.ringing":
      let data = try values.nestedContainer(keyedBy: Members.self, forKey: .data)
      let shown = try data.decode(CallView.self, forKey: .call)
      (view, call) = (shown, shown.id)
      ring = try data.decode(String.self, forKey: .ringId)
      remaining = try data.decode(Int64.self, forKey: .remainingMs)
    case "ring.ended":
      let data = try values.nestedContainer(keyedBy: Members.self, forKey: .data)
      ring = try data.decode(String.self, forKey: .ringId)
      call = try data.decode(String.self, forKey: .call)
      reason = try data.decode(String.self, forKey: .reason)
    default: break
    }
  }
}

/// A page of a person's events.
struct HeardCallEvents: Decodable {
  let items: [HeardCallEvent]
  let last: Int64
}

/// A stream of Server-Sent Events on its way: bytes in, events out.
struct CallStreamText {
  /// What the stream says of its own end; nil: it goes on.
  private(set) var end: String?
  private var rest: [UInt8] = []

  /// - Returns: nil: it is none such.
  mutating func take(_ bytes: [UInt8]) -> [HeardCallEvent]? {
    rest += bytes
    var events: [HeardCallEvent] = []
    while let length = Self.lengthOfFirst(rest) {
      let block = rest[..<length]
      rest.removeFirst(length + 2)
      guard let event = Self.read(block) else { return nil }
      switch event {
      case .comment: continue
      case .end(let reason): end = reason
      case .event(let heard): events.append(heard)
      }
    }
    return events
  }

  private enum Block {
    case comment
    case end(String)
    case event(HeardCallEvent)
  }

  /// Up to the empty line behind it.
  private static func lengthOfFirst(_ bytes: [UInt8]) -> Int? {
    let feed = UInt8(ascii: "\n")
    return bytes.indices.dropLast().first { bytes[$0] == feed && bytes[$0 + 1] == feed }
  }

  private static func read(_ block: ArraySlice<UInt8>) -> Block? {
    var (id, kind, data) = ("", "", "")
    for line in block.split(separator: UInt8(ascii: "\n")) {
      if line.first == UInt8(ascii: ":") { return .comment }
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("id: ") {
        id = String(text.dropFirst(4))
      } else if text.hasPrefix("event: ") {
        kind = String(text.dropFirst(7))
      } else if text.hasPrefix("data: ") {
        data = String(text.dropFirst(6))
      } else {
        return nil
      }
    }
    if kind == "end" { return .end(data) }
    let text = "{\"id\":\(id),\"event\":\"\(kind)\",\"data\":\(data)}"
    return HeardCallEvent.read(Array(text.utf8)).map { .event($0) }
  }
}
