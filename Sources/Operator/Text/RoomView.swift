internal import AccessTokens

/// Rooms, as the server shows them, for people.
enum RoomView {
  static func table(_ rooms: [StrictJSON]) -> Table {
    var table = Table([
      Table.Column(title: "ROOM", isFlexible: true), Table.Column(title: "PEOPLE", isRight: true),
      Table.Column(title: "SENDING", isRight: true), Table.Column(title: "TRACKS", isRight: true),
      Table.Column(title: "IN bit/s", isRight: true), Table.Column(title: "OUT bit/s", isRight: true),
      Table.Column(title: "AGE", isRight: true),
    ])
    for room in rooms {
      table.add([
        room["name"]?.string ?? "", count(room["participants"]), count(room["publishers"]),
        count(room["tracks"]),
        rate(room, "received"), rate(room, "sent"), Figures.span(seconds: room["age"]?.double ?? 0),
      ])
    }
    return table
  }

  static func description(_ room: StrictJSON) -> Table {
    let most = room["maxParticipants"]?.integer.map { " of at most \($0)" } ?? ""
    let made = Figures.time(room["createdAt"]?.string) ?? ""
    return Table.of([
      ("room", room["name"]?.string),
      ("id", room["id"]?.string),
      ("created", "\(made), \(Figures.span(seconds: room["age"]?.double ?? 0)) ago"),
      ("participants", count(room["participants"]) + most),
      ("publishers", "\(count(room["publishers"])) with \(count(room["tracks"])) tracks"),
      ("received", rate(room, "received") + "bit/s"),
      ("sent", rate(room, "sent") + "bit/s"),
      ("empty timeout", room["emptyTimeout"]?.double.map { Figures.span(seconds: $0) }),
      ("departure timeout", room["departureTimeout"]?.double.map { Figures.span(seconds: $0) }),
      ("metadata", room["metadata"]?.string),
    ])
  }

  static func count(_ value: StrictJSON?) -> String { value?.integer.map { String($0) } ?? "" }

  static func rate(_ of: StrictJSON, _ direction: String) -> String {
    of["bitrates"]?[direction]?.integer.map(Figures.rate) ?? ""
  }
}
