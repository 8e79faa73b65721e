internal import AccessTokens

/// Participants with their tracks and subscriptions, as the server shows them, for people.
enum ParticipantView {
  static func table(_ participants: [StrictJSON]) -> Table {
    var table = Table([
      Table.Column(title: "IDENTITY", isFlexible: true), Table.Column(title: "NAME", isFlexible: true),
      Table.Column(title: "QUALITY"), Table.Column(title: "TRACKS", isRight: true),
      Table.Column(title: "GETS", isRight: true), Table.Column(title: "IN bit/s", isRight: true),
      Table.Column(title: "OUT bit/s", isRight: true), Table.Column(title: ""),
    ])
    for participant in participants {
      let gets = participant["subscriptions"]?.array?.filter { $0["state"]?.string == "active" }.count
      table.add([
        participant["identity"]?.string ?? "", participant["name"]?.string ?? "",
        participant["quality"]?.string ?? "", participant["tracks"]?.array.map { String($0.count) } ?? "",
        gets.map { String($0) } ?? "", RoomView.rate(participant, "received"),
        RoomView.rate(participant, "sent"),
        participant["hidden"]?.boolean == true ? "hidden" : "",
      ])
    }
    return table
  }

  static func text(_ participant: StrictJSON, width: Int?) -> String {
    let attributes = (participant["attributes"]?.object ?? [:]).sorted { $0.key < $1.key }
    var text = Table.of(
      [
        ("participant", participant["identity"]?.string),
        ("name", participant["name"]?.string),
        ("id", participant["id"]?.string),
        ("joined", Figures.time(participant["joinedAt"]?.string)),
        ("quality", participant["quality"]?.string),
        ("hidden", participant["hidden"]?.boolean == true ? "from the others" : nil),
        ("may", permissions(participant["permissions"])),
        ("received", RoomView.rate(participant, "received") + "bit/s"),
        ("sent", RoomView.rate(participant, "sent") + "bit/s"),
        ("metadata", participant["metadata"]?.string),
      ] + attributes.map { ("attribute", "\($0.key)=\($0.value.string ?? "")") }
    ).text(width: width)
    if let found = participant["tracks"]?.array, !found.isEmpty {
      text += "\n" + tracks(found).text(width: width)
    }
    if let found = participant["subscriptions"]?.array, !found.isEmpty {
      text += "\n" + subscriptions(found).text(width: width)
    }
    return text
  }

  /// What is allowed, in a line.
  private static func permissions(_ permissions: StrictJSON?) -> String? {
    guard let permissions else { return nil }
    var words: [String] = []
    if permissions["canPublish"]?.boolean == true {
      let sources = permissions["canPublishSources"]?.array?.compactMap(\.string) ?? []
      words.append("publish" + (sources.isEmpty ? "" : " (\(sources.joined(separator: ", ")))"))
    }
    for (name, word) in [
      ("canSubscribe", "subscribe"), ("canPublishData", "data"), ("canUpdateOwnMetadata", "update-metadata"),
    ] where permissions[name]?.boolean == true { words.append(word) }
    return words.isEmpty ? "nothing" : words.joined(separator: ", ")
  }

  static func tracks(_ tracks: [StrictJSON]) -> Table {
    var table = Table([
      Table.Column(title: "TRACK"), Table.Column(title: "SOURCE"), Table.Column(title: "KIND"),
      Table.Column(title: "NAME", isFlexible: true), Table.Column(title: "MUTED"), Table.Column(title: ""),
    ])
    for track in tracks {
      let byAdmin = track["mutedByAdmin"]?.boolean == true
      table.add([
        track["id"]?.string ?? "", track["source"]?.string ?? "", track["kind"]?.string ?? "",
        track["name"]?.string ?? "", byAdmin ? "by admin" : track["muted"]?.boolean == true ? "yes" : "no",
        track["encrypted"]?.boolean == true ? "encrypted" : "",
      ])
    }
    return table
  }

  private static func subscriptions(_ subscriptions: [StrictJSON]) -> Table {
    var table = Table([
      Table.Column(title: "GETS"), Table.Column(title: "STATE"), Table.Column(title: "WHY"),
      Table.Column(title: "SECTION", isFlexible: true),
    ])
    for subscription in subscriptions {
      table.add([
        subscription["track"]?.string ?? "", subscription["state"]?.string ?? "",
        subscription["reason"]?.string ?? "", subscription["mid"]?.string ?? "",
      ])
    }
    return table
  }
}
