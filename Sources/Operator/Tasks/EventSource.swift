internal import AccessTokens
internal import HTTPClient

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Which events are read, and behind which one reading goes on.
struct EventSource: Equatable {
  /// One event, with the cursor of those of all rooms.
  struct Item: Equatable {
    var event: StrictJSON
    var cursor: String?
  }

  /// nil: all of them.
  let room: String?
  /// Of which room of that name; nil: not known yet.
  private(set) var roomID: String?
  /// The last event that is known: its number in the room, or a cursor.
  private(set) var after: String?
  /// As a stream named it.
  private(set) var lastEventID = ""

  init(room: String?, roomID: String?, after: String?) {
    self.room = room
    self.roomID = roomID
    self.after = after
  }

  private var ask: Ask {
    guard let room else { return Ask(["events"], right: .list).with("after", after) }
    return Ask(["rooms", room, "events"], right: .administer(room)).with("after", after).with(
      "roomId", roomID)
  }

  func page(limit: Int) -> Ask { ask.with("limit", String(limit)) }

  /// The same as a stream, from there on.
  var stream: Ask {
    var ask = ask
    ask.isStream = true
    ask.lastEventID = lastEventID
    return ask
  }

  /// The flags with which another call goes on.
  var goingOn: String {
    "--after \(after ?? "0")" + (roomID.map { " --room-id \($0)" } ?? "")
  }

  /// Goes on behind a page.
  mutating func take(
    page answer: OperatorAnswer
  ) throws(OperatorError) -> (items: [Item], isLast: Bool) {
    guard let json = answer.json, let found = json["items"]?.array else {
      throw .notRoost(status: answer.status, type: nil)
    }
    let items = found.map { item in
      room == nil ? Item(event: item["event"] ?? item, cursor: item["cursor"]?.string) : Item(event: item)
    }
    if room == nil {
      after = json["next"]?.string ?? json["cursor"]?.string ?? after
    } else {
      roomID = json["roomId"]?.string ?? roomID
      after = items.last?.event["id"]?.integer.map { String($0) } ?? after
    }
    return (items, json["next"] == nil || found.isEmpty)
  }

  /// Goes on behind an event of a stream.
  /// - Returns: nil for what isn't JSON.
  mutating func take(_ event: ServerSentEvent) -> Item? {
    guard let json = StrictJSON.parse(Array(event.data.utf8), maximumMembers: max(1, event.data.utf8.count))
    else { return nil }
    if !event.id.isEmpty { lastEventID = event.id }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.streamFromStart) { lastEventID = "" }
    #endif
    guard room != nil else {
      after = lastEventID.isEmpty ? after : lastEventID
      return Item(event: json, cursor: after)
    }
    roomID = json["roomId"]?.string ?? roomID
    after = json["id"]?.integer.map { String($0) } ?? after
    return Item(event: json)
  }
}
