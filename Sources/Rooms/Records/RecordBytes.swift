internal import AccessTokens
package import Model

/// Events, participants and tracks as the rows of a journal have them: a version, then the fields. A build reads what every
/// earlier one wrote; one that writes another version has a schema of its own, so that an older server doesn't start on it.
enum RecordBytes {
  /// Of participants and tracks; the second has raised hands.
  private static let version: UInt8 = 2
  /// The second has recordings, the third calls, the fourth raised hands, who waits, and a room's settings.
  private static let eventVersion: UInt8 = 4
  /// Texts are as long as rooms let them be; this only keeps a reader from taking a length at its word.
  private static let textLimit = 1_048_576
  private static let countLimit = 65_536

  // MARK: - Events

  /// Without what the columns beside it have: its position, its room's id, its number and time.
  static func bytes(of event: RoomEvent) -> [UInt8] {
    var writer = StateWriter()
    writer.write(eventVersion)
    writer.write(event.room.name)
    writer.write(event.kind.rawValue)
    // It is part of this event alone.
    writer.write(optional: event.kind == .roomUpdated ? event.room.metadata : nil)
    switch event.participant {
    case nil: writer.write(UInt8(0))
    case .named(let name):
      writer.write(UInt8(1))
      writer.write(name.id.text)
      writer.write(name.identity)
      writer.write(optional: name.name)
    case .whole(let info):
      writer.write(UInt8(2))
      write(info, to: &writer)
    }
    writer.write(event.track != nil)
    if let track = event.track { write(track, to: &writer) }
    writer.write(optional: event.reason?.rawValue)
    writer.write(optional: event.recording?.id.text)
    if let recording = event.recording {
      writer.write(recording.isActive)
      writer.write(optional: recording.reason?.rawValue)
    }
    writer.write(event.call != nil)
    if let call = event.call { write(call, to: &writer) }
    writer.write(event.waiting != nil)
    if let waiting = event.waiting { write(waiting, to: &writer) }
    // As its metadata, part of this event alone.
    if event.kind == .roomUpdated {
      writer.write(event.room.admission)
      writer.write(event.room.isLocked)
    }
    return writer.bytes
  }

  static func event(
    _ bytes: [UInt8], id: Int, time: WallTime, of room: RoomID
  ) throws(StateError) -> RoomEvent {
    var reader = StateReader(bytes)
    let version = try reader.version("event", upTo: eventVersion)
    let name = try reader.string(limit: textLimit)
    let kind: RoomEvent.Kind = try reader.named("event")
    let metadata = try reader.optionalString(limit: textLimit)
    var known = RoomInfo(id: room, name: name, metadata: metadata)
    var event = RoomEvent(id: id, time: time, room: known, kind: kind)
    let start = reader.offset
    switch try reader.integer(UInt8.self) {
    case 0: break
    case 1:
      event.participant = .named(
        ParticipantName(
          id: ParticipantID(known: try reader.string(limit: textLimit)),
          identity: try reader.string(limit: textLimit), name: try reader.optionalString(limit: textLimit)))
    case 2: event.participant = .whole(try participant(&reader, hasHand: version >= 4))
    default: throw .invalid(field: "participant", offset: start)
    }
    if try reader.bool() { event.track = try track(&reader) }
    event.reason = try reader.bool() ? try reader.named("reason") : nil
    if version >= 2, let id = try reader.optionalString(limit: textLimit) {
      event.recording = EventRecording(
        id: RecordingID(known: id), isActive: try reader.bool(),
        reason: try reader.bool() ? try reader.named("reason of a recording") : nil)
    }
    if version >= 3, try reader.bool() { event.call = try call(&reader) }
    if version >= 4, try reader.bool() { event.waiting = try waiting(&reader) }
    if version >= 4, kind == .roomUpdated {
      known.admission = try reader.bool()
      known.isLocked = try reader.bool()
      event.room = known
    }
    try reader.finish()
    return event
  }

  private static func write(_ waiting: EventWaiting, to writer: inout StateWriter) {
    writer.write(waiting.waiter.id.text)
    writer.write(waiting.waiter.identity)
    writer.write(optional: waiting.waiter.name)
    writer.write(waiting.waiter.since.milliseconds)
    writer.write(waiting.waiter.until.milliseconds)
    writer.write(optional: waiting.reason?.rawValue)
  }

  private static func waiting(_ reader: inout StateReader) throws(StateError) -> EventWaiting {
    let waiter = Waiter(
      id: WaitingID(known: try reader.string(limit: textLimit)),
      identity: try reader.string(limit: textLimit), name: try reader.optionalString(limit: textLimit),
      since: WallTime(milliseconds: try reader.integer()),
      until: WallTime(milliseconds: try reader.integer()))
    return EventWaiting(
      waiter: waiter, reason: try reader.bool() ? try reader.named("reason of a wait") : nil)
  }

  private static func write(_ call: EventCall, to writer: inout StateWriter) {
    for text in [call.id, call.callerId, call.path, call.media] { writer.write(text) }
    writer.write(UInt32(call.people.count))
    for person in call.people { writer.write(person) }
    writer.write(optional: call.outcome)
    writer.write(call.duration != nil)
    writer.write(Int64(call.duration ?? 0))
    writer.write(optional: call.session)
    writer.write(optional: call.experience)
  }

  private static func call(_ reader: inout StateReader) throws(StateError) -> EventCall {
    var call = EventCall(
      id: try reader.string(limit: textLimit), callerId: try reader.string(limit: textLimit),
      path: try reader.string(limit: textLimit), media: try reader.string(limit: textLimit), people: [])
    let offset = reader.offset
    let count = Int(try reader.integer(UInt32.self))
    guard count <= countLimit else { throw .invalid(field: "people of a call", offset: offset) }
    for _ in 0..<count { call.people.append(try reader.string(limit: textLimit)) }
    call.outcome = try reader.optionalString(limit: textLimit)
    let hasDuration = try reader.bool()
    let duration = Int(try reader.integer(Int64.self))
    call.duration = hasDuration ? duration : nil
    call.session = try reader.optionalString(limit: textLimit)
    call.experience = try reader.optionalString(limit: textLimit)
    return call
  }

  // MARK: - Participants and tracks

  static func bytes(of info: ParticipantInfo) -> [UInt8] {
    var alone = info
    // They have rows of their own.
    alone.tracks = []
    var writer = StateWriter()
    writer.write(version)
    write(alone, to: &writer)
    return writer.bytes
  }

  static func participant(_ bytes: [UInt8]) throws(StateError) -> ParticipantInfo {
    var reader = StateReader(bytes)
    let hasHand = try reader.version("participant", upTo: version) >= 2
    let info = try participant(&reader, hasHand: hasHand)
    try reader.finish()
    return info
  }

  static func bytes(of info: TrackInfo) -> [UInt8] {
    var writer = StateWriter()
    writer.write(version)
    write(info, to: &writer)
    return writer.bytes
  }

  static func track(_ bytes: [UInt8]) throws(StateError) -> TrackInfo {
    var reader = StateReader(bytes)
    _ = try reader.version("track", upTo: version)
    let info = try track(&reader)
    try reader.finish()
    return info
  }

  private static func write(_ info: ParticipantInfo, to writer: inout StateWriter) {
    writer.write(info.id.text)
    writer.write(info.identity)
    writer.write(optional: info.name)
    writer.write(optional: info.metadata)
    writer.write(UInt32(info.attributes.count))
    for (key, value) in info.attributes.sorted(by: { $0.key.isBefore($1.key) }) {
      writer.write(key)
      writer.write(value)
    }
    writer.write(info.permissions.canPublish)
    writer.write(info.permissions.canSubscribe)
    writer.write(info.permissions.canPublishData)
    writer.write(info.permissions.canUpdateOwnMetadata)
    writer.write(info.permissions.canPublishSources != nil)
    if let sources = info.permissions.canPublishSources {
      writer.write(UInt32(sources.count))
      for source in sources.map(\.rawValue).sorted() { writer.write(source) }
    }
    writer.write(UInt32(info.tracks.count))
    for track in info.tracks { write(track, to: &writer) }
    writer.write(optional: info.handRaised?.milliseconds)
  }

  /// - Parameter hasHand: the row says whether its hand is raised.
  private static func participant(
    _ reader: inout StateReader, hasHand: Bool
  ) throws(StateError) -> ParticipantInfo {
    var info = ParticipantInfo(
      id: ParticipantID(known: try reader.string(limit: textLimit)),
      identity: try reader.string(limit: textLimit), name: try reader.optionalString(limit: textLimit),
      metadata: try reader.optionalString(limit: textLimit), tracks: [])
    var attributes: [String: String] = [:]
    for _ in 0..<(try reader.count(limit: countLimit)) {
      attributes[try reader.string(limit: textLimit)] = try reader.string(limit: textLimit)
    }
    info.attributes = attributes
    var permissions = Permissions()
    permissions.canPublish = try reader.bool()
    permissions.canSubscribe = try reader.bool()
    permissions.canPublishData = try reader.bool()
    permissions.canUpdateOwnMetadata = try reader.bool()
    if try reader.bool() {
      var sources: Set<TrackSource> = []
      for _ in 0..<(try reader.count(limit: TrackSource.allCases.count)) {
        sources.insert(try reader.named("source"))
      }
      permissions.canPublishSources = sources
    }
    info.permissions = permissions
    var tracks: [TrackInfo] = []
    for _ in 0..<(try reader.count(limit: countLimit)) { tracks.append(try track(&reader)) }
    info.tracks = tracks
    if hasHand { info.handRaised = try reader.optionalInteger().map { WallTime(milliseconds: $0) } }
    return info
  }

  private static func write(_ info: TrackInfo, to writer: inout StateWriter) {
    writer.write(info.id.text)
    writer.write(info.kind.rawValue)
    writer.write(info.source.rawValue)
    writer.write(optional: info.name)
    writer.write(info.mutedByPublisher)
    writer.write(info.mutedByAdmin)
    writer.write(info.isEncrypted)
  }

  private static func track(_ reader: inout StateReader) throws(StateError) -> TrackInfo {
    TrackInfo(
      id: TrackID(known: try reader.string(limit: textLimit)), kind: try reader.value("media kind"),
      source: try reader.named("source"), name: try reader.optionalString(limit: textLimit),
      mutedByPublisher: try reader.bool(), mutedByAdmin: try reader.bool(), isEncrypted: try reader.bool())
  }
}

extension RoomEvent {
  /// What it has as a row, about, with what it takes to wait; found without a look at its texts.
  var storedBytes: Int {
    var bytes = 300 + room.name.utf8.count + (kind == .roomUpdated ? room.metadata?.utf8.count ?? 0 : 0)
    switch participant {
    case .whole(let info):
      bytes += info.identity.utf8.count + (info.name?.utf8.count ?? 0) + (info.metadata?.utf8.count ?? 0)
      for (key, value) in info.attributes { bytes += 16 + key.utf8.count + value.utf8.count }
      for track in info.tracks { bytes += 64 + (track.name?.utf8.count ?? 0) }
    case .named(let name): bytes += name.identity.utf8.count + (name.name?.utf8.count ?? 0)
    case nil: break
    }
    if let waiting { bytes += waiting.bytes }
    return bytes + (track?.name?.utf8.count ?? 0)
  }

  /// A journal's row as this build writes it, whatever build wrote it; for those who test readers.
  package static func rewritten(_ bytes: [UInt8]) throws(StateError) -> [UInt8] {
    RecordBytes.bytes(
      of: try RecordBytes.event(
        bytes, id: 1, time: WallTime(milliseconds: 0), of: RoomID(naming: "RM_x")))
  }
}
