internal import AccessTokens

/// Events as lines, one after the other, under a line for each day.
struct EventLines {
  private let style: Style
  private let namesRooms: Bool
  private var day = ""

  /// - Parameter namesRooms: whether they are of several rooms.
  init(style: Style, namesRooms: Bool) {
    self.style = style
    self.namesRooms = namesRooms
  }

  /// With its line end.
  mutating func line(_ item: EventSource.Item) -> String {
    guard !style.json else {
      guard let cursor = item.cursor, var members = item.event.object else { return item.event.line }
      members["cursor"] = .string(cursor)
      return StrictJSON.object(members).line
    }
    let event = item.event
    let moment = event["time"]?.string.flatMap(Figures.moment)
    var text = ""
    if let moment, moment.day != day {
      day = moment.day
      text = "\(day) (UTC)\n"
    }
    var line = TerminalText.padded(moment?.time ?? "", to: 8) + "  "
    if namesRooms {
      let room = TerminalText.shown(event["room"]?.string ?? "")
      line +=
        TerminalText.padded(style.width == nil ? room : TerminalText.shortened(room, to: 16), to: 16) + "  "
    } else {
      line += TerminalText.padded(event["id"]?.integer.map { String($0) } ?? "", to: 5, right: true) + "  "
    }
    line += TerminalText.padded(TerminalText.shown(event["type"]?.string ?? ""), to: 24) + "  "
    let detail = TerminalText.shown(Self.detail(event))
    line +=
      style.width.map { TerminalText.shortened(detail, to: max(0, $0 - TerminalText.columns(line))) }
      ?? detail
    while line.last == " " { line.removeLast() }
    return text + line + "\n"
  }

  /// Who it is about, and what.
  private static func detail(_ event: StrictJSON) -> String {
    var words: [String] = []
    if let participant = event["participant"] {
      words.append(participant["identity"]?.string ?? "")
      if let name = participant["name"]?.string { words.append("(\(name))") }
    }
    if let track = event["track"] {
      words.append(track["source"]?.string ?? "")
      if let name = track["name"]?.string { words.append("(\(name))") }
      if track["mutedByAdmin"]?.boolean == true { words.append("muted by an administrator") }
    }
    if let reason = event["reason"]?.string { words.append(reason) }
    if let metadata = event["metadata"]?.string { words.append("metadata \(metadata)") }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }
}
