extension OperatorRequest {
  init(_ flags: ParsedFlags, of command: CommandDescription) throws(UsageError) {
    let words = flags.arguments
    switch command.name {
    case "rooms", "rooms list": self.init(.listRooms(try flags.page()))
    case "rooms show": self.init(.showRoom(words[0]))
    case "rooms create": self.init(.createRoom(words[0], try RoomChange(flags)))
    case "rooms update":
      let change = try RoomChange(flags)
      guard change != RoomChange() else {
        throw flags.wrong("nothing to change: give --metadata, for instance, or --unset")
      }
      self.init(.updateRoom(words[0], change))
    case "rooms close": self.init(.closeRoom(words[0]))
    case "participants", "participants list":
      self.init(.listParticipants(room: words[0], try flags.page()))
    case "participants show": self.init(.showParticipant(room: words[0], identity: words[1]))
    case "participants update":
      let change = try ParticipantChange(flags)
      guard change != ParticipantChange() else {
        throw flags.wrong("nothing to change: give --name, for instance, or --deny publish")
      }
      self.init(.updateParticipant(room: words[0], identity: words[1], change))
    case "participants remove": self.init(.removeParticipant(room: words[0], identity: words[1]))
    case "participants mute":
      self.init(.mute(room: words[0], identity: words[1], track: words[2], muted: !flags.has("lift")))
    case "publish": self.init(.publish(try PublishWanted(flags)))
    case "record": self.init(.record(try RecordWanted(flags)))
    default: self.init(.events(try EventsWanted(flags)))
    }
    json = flags.has("json")
    wide = flags.has("wide")
    access.url = flags["url"]
    access.token = flags["token"]
    access.keyChoice = flags.keyChoice
    access.authorities = flags["ca"]
    access.isInsecure = flags.has("insecure")
    access.configuration = flags.source
  }
}

extension RoomChange {
  fileprivate init(_ flags: ParsedFlags) throws(UsageError) {
    self.init()
    if let text = flags["metadata"] { metadata = .set(text) }
    if let count = try flags.number("max-participants") { maxParticipants = .set(count) }
    if let seconds = try flags.time("empty-timeout", least: 0, such: "90s, 30m or 2h") {
      emptyTimeout = .set(seconds)
    }
    if let seconds = try flags.time("departure-timeout", least: 0, such: "90s, 30m or 2h") {
      departureTimeout = .set(seconds)
    }
    for name in try flags.unset(among: CommandDescription.roomSettings) {
      switch name {
      case "metadata": metadata = .clear
      case "max-participants": maxParticipants = .clear
      case "empty-timeout": emptyTimeout = .clear
      default: departureTimeout = .clear
      }
    }
  }
}

extension ParticipantChange {
  fileprivate init(_ flags: ParsedFlags) throws(UsageError) {
    self.init()
    if let text = flags["name"] { name = .set(text) }
    if let text = flags["metadata"] { metadata = .set(text) }
    for text in flags.all("attribute") {
      guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
        throw flags.wrong("--attribute \(text): expected NAME=TEXT")
      }
      try set(attribute: String(text[..<sign]), String(text[text.index(after: sign)...]), flags)
    }
    for name in flags.all("remove-attribute") { try set(attribute: name, nil, flags) }
    for each in try flags.unset(among: CommandDescription.participantTexts) {
      switch each {
      case "name": name = .clear
      case "metadata": metadata = .clear
      default: clearsAttributes = true
      }
    }
    guard !clearsAttributes || attributes.isEmpty else {
      throw flags.wrong("--unset attributes takes all away: set others in a second call")
    }
    for (flag, allowed) in [("allow", true), ("deny", false)] {
      for word in try flags.words(flag, "permission", among: CommandDescription.permissions) {
        guard let permission = Permission(rawValue: word),
          permissions.updateValue(allowed, forKey: permission) == nil
        else { throw flags.wrong("\(word) is named twice in --allow and --deny") }
      }
    }
    let named = try flags.words("sources", "source", among: ["all"] + CommandDescription.sources)
    guard !named.contains("all") || named.count == 1 else {
      throw flags.wrong("--sources: all stands alone")
    }
    if flags.has("sources") {
      guard !named.isEmpty else {
        throw flags.wrong("--sources: expected one at least; --deny publish allows none")
      }
      sources = named == ["all"] ? .clear : .set(named)
    }
  }

  private mutating func set(
    attribute name: String, _ text: String?, _ flags: ParsedFlags
  ) throws(UsageError) {
    guard attributes.updateValue(text, forKey: name) == nil else {
      throw flags.wrong("the attribute \(name) is named twice")
    }
  }
}

extension EventsWanted {
  fileprivate init(_ flags: ParsedFlags) throws(UsageError) {
    self.init(room: flags.arguments.first)
    page = try flags.page()
    follows = flags.has("follow")
    roomID = flags["room-id"]
    guard roomID == nil || room != nil else {
      throw flags.wrong("--room-id is of a ROOM, which is missing: roost events ROOM --room-id ID")
    }
    guard room == nil || page.after.map({ Int($0).map { $0 >= 0 } ?? false }) ?? true else {
      throw flags.wrong("--after: of a room's events it is a number, such as 41")
    }
  }
}

extension ParsedFlags {
  fileprivate func page() throws(UsageError) -> OperatorRequest.Page {
    OperatorRequest.Page(limit: try number("limit"), after: self["after"])
  }

  /// What `--unset` names, which nothing else may set.
  fileprivate func unset(among known: [String]) throws(UsageError) -> [String] {
    let names = try words("unset", "setting", among: known)
    for name in names where has(name) {
      throw wrong("--\(name) and --unset \(name) contradict each other")
    }
    return names
  }
}
