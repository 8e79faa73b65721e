internal import AccessTokens
internal import Configuration
internal import HTTPClient

extension OperatorRequest {
  /// What carries it out; nil: a stream of events does, or a session in a room.
  func task(_ style: Style) -> (any OperatorTask)? {
    switch deed {
    case .listRooms(let page): ListTask(.rooms, limit: page.limit, after: page.after, style: style)
    case .showRoom(let room): SingleTask(Ask(["rooms", room], right: .list), .room, style: style)
    case .createRoom(let room, let change):
      SingleTask(
        Ask(
          .post, ["rooms"], right: .create,
          body: .object(change.members.merging(["name": .string(room)]) { _, name in name })),
        .newRoom, style: style)
    case .updateRoom(let room, let change):
      SingleTask(
        Ask(.patch, ["rooms", room], right: .administer(room), body: .object(change.members)), .room,
        style: style)
    case .closeRoom(let room):
      SingleTask(
        Ask(.delete, ["rooms", room], right: .create),
        .done("closed \(room)", .object(["closed": .string(room)])), style: style)
    case .listParticipants(let room, let page):
      ListTask(.participants(room), limit: page.limit, after: page.after, style: style)
    case .showParticipant(let room, let identity):
      SingleTask(Ask(Self.path(room, identity), right: .administer(room)), .participant, style: style)
    case .updateParticipant(let room, let identity, let change):
      SingleTask(
        Ask(.patch, Self.path(room, identity), right: .administer(room), body: .object(change.members)),
        .participant, style: style)
    case .removeParticipant(let room, let identity):
      SingleTask(
        Ask(.delete, Self.path(room, identity), right: .administer(room)),
        .done(
          "removed \(identity) from \(room); tokens of before let it in no more",
          .object(["removed": .string(identity), "room": .string(room)])), style: style)
    case .mute(let room, let identity, let track, let muted):
      MuteTask(room: room, identity: identity, track: track, muted: muted, style: style)
    case .events(let wanted):
      wanted.follows ? nil : EventsTask(wanted.source, limit: wanted.page.limit, style: style)
    case .publish, .record: nil
    }
  }

  private static func path(_ room: String, _ identity: String) -> [String] {
    ["rooms", room, "participants", identity]
  }

  /// Whom advice about an error names.
  func advice(signs: Bool) -> Advice {
    switch deed {
    case .listRooms: Advice(signs: signs)
    case .showRoom(let room), .createRoom(let room, _), .updateRoom(let room, _), .closeRoom(let room),
      .listParticipants(let room, _):
      Advice(signs: signs, room: room)
    case .showParticipant(let room, let identity), .updateParticipant(let room, let identity, _),
      .removeParticipant(let room, let identity), .mute(let room, let identity, _, _):
      Advice(signs: signs, room: room, identity: identity)
    case .events(let wanted): Advice(signs: signs, room: wanted.room)
    case .publish(let wanted): Advice(signs: signs, room: wanted.session.room)
    case .record(let wanted): Advice(signs: signs, room: wanted.session.room)
    }
  }
}

extension EventsWanted {
  var source: EventSource { EventSource(room: room, roomID: roomID, after: page.after) }
}

extension RoomChange {
  /// A merge patch (RFC 7396).
  var members: [String: StrictJSON] {
    var members: [String: StrictJSON] = [:]
    members["metadata"] = metadata.json { .string($0) }
    members["maxParticipants"] = maxParticipants.json { .number(Double($0)) }
    members["emptyTimeout"] = emptyTimeout.json { .number(Double($0)) }
    members["departureTimeout"] = departureTimeout.json { .number(Double($0)) }
    return members
  }
}

extension ParticipantChange {
  /// A merge patch (RFC 7396).
  var members: [String: StrictJSON] {
    var members: [String: StrictJSON] = [:]
    members["name"] = name.json { .string($0) }
    members["metadata"] = metadata.json { .string($0) }
    if clearsAttributes {
      members["attributes"] = .null
    } else if !attributes.isEmpty {
      members["attributes"] = .object(attributes.mapValues { $0.map { .string($0) } ?? .null })
    }
    var permitted: [String: StrictJSON] = [:]
    for (permission, allowed) in permissions { permitted[permission.member] = .boolean(allowed) }
    permitted["canPublishSources"] = sources.json { .array($0.map { .string($0) }) }
    if !permitted.isEmpty { members["permissions"] = .object(permitted) }
    return members
  }
}

extension ParticipantChange.Permission {
  fileprivate var member: String {
    switch self {
    case .publish: "canPublish"
    case .subscribe: "canSubscribe"
    case .data: "canPublishData"
    case .updateMetadata: "canUpdateOwnMetadata"
    }
  }
}

extension Change {
  /// - Returns: nil: nothing is said of it.
  fileprivate func json(_ value: (Value) -> StrictJSON) -> StrictJSON? {
    switch self {
    case .keep: nil
    case .set(let new): value(new)
    case .clear: .null
    }
  }
}
