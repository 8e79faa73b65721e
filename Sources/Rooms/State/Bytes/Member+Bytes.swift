internal import AccessTokens
internal import Model

extension Member {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(6))
    writer.write(id.text)
    writer.write(identity)
    writer.write(joined.milliseconds)
    writer.write(UInt64(firstEvent))
    writer.write(optional: name)
    writer.write(optional: metadata)
    writer.write(UInt32(attributes.count))
    for (key, value) in attributes.sorted(by: { $0.key < $1.key }) {
      writer.write(key)
      writer.write(value)
    }
    grants.encode(into: &writer)
    writer.write(optional: quality?.value.rawValue)
    if let quality { writer.write(quality.since) }
    presence.encode(into: &writer)
    standingMutes.encode(into: &writer)
    writer.write(transportsOpened)
    writer.write(UInt32(transports.count))
    for transport in transports { transport.encode(into: &writer) }
    writer.write(floor.isLastSpeaker)
    writer.write(optional: session)
    writer.write(sessionsBegun)
    writer.write(sessionGrants != nil)
    sessionGrants?.encode(into: &writer)
    stay.encode(into: &writer)
    writer.write(optional: floor.handRaised?.milliseconds)
  }

  init(from reader: inout StateReader, terms: RoomTerms) throws(StateError) {
    let version = try reader.version("member", upTo: 6)
    let id = ParticipantID(known: try reader.string(limit: stateTextLimit))
    let identity = try reader.string(limit: stateTextLimit)
    let joined = WallTime(milliseconds: try reader.integer())
    let firstEvent = Int(truncatingIfNeeded: try reader.integer(UInt64.self))
    var info = ParticipantInfo(
      id: id, identity: identity, name: try reader.optionalString(limit: stateTextLimit),
      metadata: try reader.optionalString(limit: stateTextLimit), tracks: [])
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      info.attributes[try reader.string(limit: stateTextLimit)] = try reader.string(limit: stateTextLimit)
    }
    let grants = try Grants(from: &reader)
    let value: ConnectionQuality? = try reader.bool() ? try reader.named("quality") : nil
    var quality: Quality?
    if let value { quality = Quality(value: value, since: try reader.instant()) }
    self.init(
      info, stateBytes: info.stateBytes, grants: grants, joined: joined, firstEvent: firstEvent,
      presence: try Presence(from: &reader, version: version, grace: terms.reconnectGrace))
    self.quality = quality
    standingMutes = try StandingMutes(from: &reader)
    let opened: UInt32 = try reader.integer()
    for _ in 0..<(try reader.count(limit: Transport.limit)) {
      add(try Transport(from: &reader, policy: terms.policy))
    }
    setTransportsOpened(opened)
    if version > 2 { floor.isLastSpeaker = try reader.bool() }
    // Before the fourth every participant had a handle.
    guard version > 3 else {
      restoreSessions(current: 1, begun: 1)
      return
    }
    restoreSessions(current: try reader.optionalInteger(), begun: try reader.integer())
    if try reader.bool() { sessionGrants = try Grants(from: &reader) }
    if version > 4 { stay = try Stay(from: &reader) }
    if version > 5 {
      floor.handRaised = try reader.optionalInteger().map { WallTime(milliseconds: $0) }
    }
  }
}

extension Grants {
  func encode(into writer: inout StateWriter) {
    writer.write(optional: room)
    for flag in [
      roomJoin, canPublish, canSubscribe, canPublishData, canUpdateOwnMetadata, hidden, recorder, roomCreate,
      roomList, roomAdmin,
    ] { writer.write(flag) }
    writer.write(canPublishSources != nil)
    if let sources = canPublishSources {
      writer.write(UInt32(sources.count))
      for source in sources.map(\.rawValue).sorted() { writer.write(source) }
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    room = try reader.optionalString(limit: stateTextLimit)
    roomJoin = try reader.bool()
    canPublish = try reader.bool()
    canSubscribe = try reader.bool()
    canPublishData = try reader.bool()
    canUpdateOwnMetadata = try reader.bool()
    hidden = try reader.bool()
    recorder = try reader.bool()
    roomCreate = try reader.bool()
    roomList = try reader.bool()
    roomAdmin = try reader.bool()
    guard try reader.bool() else { return }
    var sources: Set<TrackSource> = []
    for _ in 0..<(try reader.count(limit: TrackSource.allCases.count)) {
      sources.insert(try reader.named("source"))
    }
    canPublishSources = sources
  }
}

extension StandingMutes {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(UInt32(counts.count))
    let inOrder = counts.sorted {
      ($0.key.kind.rawValue, $0.key.source.rawValue) < ($1.key.kind.rawValue, $1.key.source.rawValue)
    }
    for (key, count) in inOrder {
      writer.write(key.kind.rawValue)
      writer.write(key.source.rawValue)
      writer.write(UInt32(count))
    }
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    var counts: [MutedKind: Int] = [:]
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      let key = MutedKind(kind: try reader.value("media kind"), source: try reader.named("source"))
      counts[key] = Int(try reader.integer(UInt32.self))
    }
    self.init(counts)
  }
}
