internal import AccessTokens
internal import Model
internal import Negotiation

extension Transport {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(6))
    writer.write(id.number)
    writer.write(role.rawValue)
    writer.write(negotiator != nil)
    negotiator?.encode(into: &writer)
    writer.write(optional: peer?.rawValue)
    writer.write(optional: reserved?.rawValue)
    writer.write(UInt32(plan.tracks.count))
    for track in plan.tracks { track.encode(into: &writer) }
    writer.write(Int64(bitrates.received))
    writer.write(Int64(bitrates.sent))
    writer.write(UInt32(published.count))
    for track in published { track.encode(into: &writer) }
    slots.encode(into: &writer)
    writer.write(UInt32(announced.count))
    for (track, state) in announced.sorted(by: { $0.key.text < $1.key.text }) {
      writer.write(track.text)
      writer.write(state.number)
    }
    writer.write(UInt32(withdrawn.count))
    for (key, source) in withdrawn.sorted(by: { $0.key.index < $1.key.index }) {
      writer.write(key)
      writer.write(source.rawValue)
    }
    writer.write(UInt32(requested.audio))
    writer.write(UInt32(requested.video))
    codecChanges.encode(into: &writer)
    writer.write(UInt32(starved.count))
    for (slot, track) in starved.sorted(by: { $0.key < $1.key }) {
      writer.write(slot)
      writer.write(track)
    }
    for track in published { writer.write(track.watched) }
    for track in published { writer.write(track.info.isEncrypted) }
    for track in published { writer.write(track.knowsCodecs) }
    writer.write(standalone != nil)
    standalone?.encode(into: &writer)
  }

  init(from reader: inout StateReader, policy: NegotiationPolicy) throws(StateError) {
    let version = try reader.version("transport", upTo: 6)
    self.init(id: TransportID(number: try reader.integer()), role: try reader.value("role"))
    if try reader.bool() { negotiator = try Negotiator(from: &reader, policy: policy) }
    peer = try reader.optionalInteger().map { PeerKey(rawValue: $0) }
    reserved = try reader.optionalInteger().map { PeerKey(rawValue: $0) }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      plan.tracks.append(try TrackAnnouncement(from: &reader))
    }
    bitrates = Bitrates(
      received: Int(try reader.integer(Int64.self)), sent: Int(try reader.integer(Int64.self)))
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      published.append(try PublishedTrack(from: &reader))
    }
    slots = try SlotPolicy(from: &reader)
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      let track = TrackID(known: try reader.string(limit: stateTextLimit))
      let start = reader.offset
      guard let state = StreamState(number: try reader.integer()) else {
        throw .invalid(field: "stream state", offset: start)
      }
      announced[track] = state
    }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      withdrawn[try reader.trackKey()] = try reader.named("source")
    }
    requested = SlotCount(
      audio: Int(try reader.integer(UInt32.self)), video: Int(try reader.integer(UInt32.self)))
    // The first version applied each change at once.
    if version >= 2 { codecChanges = try CodecChanges(from: &reader) }
    guard version >= 3 else { return }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      starved[try reader.integer()] = try reader.trackKey()
    }
    for index in published.indices { published[index].watched = try reader.integer() }
    guard version >= 4 else { return }
    for index in published.indices { published[index].info.isEncrypted = try reader.bool() }
    guard version >= 5 else { return }
    for index in published.indices { published[index].knowsCodecs = try reader.bool() }
    guard version >= 6 else { return }
    if try reader.bool() { standalone = try Standalone(from: &reader) }
  }
}

extension Standalone {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(id)
    writer.write(tag)
    grants.encode(into: &writer)
    writer.write(optional: selection.participant)
    writer.write(optional: selection.track)
    for texts in [group, options] {
      writer.write(UInt32(texts.count))
      for text in texts { writer.write(text) }
    }
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    func texts(_ reader: inout StateReader) throws(StateError) -> [String] {
      var texts: [String] = []
      for _ in 0..<(try reader.count(limit: stateCountLimit)) {
        texts.append(try reader.string(limit: stateTextLimit))
      }
      return texts
    }
    self.init(
      id: try reader.string(limit: stateTextLimit), tag: try reader.string(limit: stateTextLimit),
      grants: try Grants(from: &reader),
      selection: TrackSelection(
        participant: try reader.optionalString(limit: stateTextLimit),
        track: try reader.optionalString(limit: stateTextLimit)), group: try texts(&reader),
      options: try texts(&reader))
  }
}

extension CodecChanges {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(optional: applied)
    writer.write(UInt32(waiting.count))
    for (track, codec) in waiting.sorted(by: { $0.key.text < $1.key.text }) {
      writer.write(track.text)
      writer.write(codec.rawValue)
    }
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    let applied = try reader.optionalInstant()
    var waiting: [TrackID: CodecFormat] = [:]
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      waiting[TrackID(known: try reader.string(limit: stateTextLimit))] = try reader.codec()
    }
    self.init(waiting: waiting, applied: applied)
  }
}

extension PublishedTrack {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(info.id.text)
    writer.write(info.kind.rawValue)
    writer.write(info.source.rawValue)
    writer.write(optional: info.name)
    writer.write(info.mutedByPublisher)
    writer.write(info.mutedByAdmin)
    writer.write(key)
    writer.write(mid)
    writer.write(optional: codec?.rawValue)
    writer.write(hasStarted)
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    let info = TrackInfo(
      id: TrackID(known: try reader.string(limit: stateTextLimit)), kind: try reader.value("media kind"),
      source: try reader.named("source"), name: try reader.optionalString(limit: stateTextLimit),
      mutedByPublisher: try reader.bool(), mutedByAdmin: try reader.bool())
    self.init(
      info: info, key: try reader.trackKey(), mid: try reader.string(limit: stateTextLimit),
      codec: try reader.optionalCodec(), hasStarted: try reader.bool())
  }
}

extension StateReader {
  mutating func optionalCodec() throws(StateError) -> CodecFormat? {
    guard try bool() else { return nil }
    return try codec()
  }

  mutating func codec() throws(StateError) -> CodecFormat {
    let start = offset
    guard let codec = CodecFormat(rawValue: try integer()) else {
      throw .invalid(field: "codec format", offset: start)
    }
    return codec
  }
}

extension StreamState {
  fileprivate var number: UInt8 {
    switch self {
    case .active: 0
    case .paused(.codec): 1
    case .paused(.noMedia): 2
    case .waiting(.noSlot): 3
    case .paused(.bandwidth): 4
    case .paused(.off): 5
    }
  }

  fileprivate init?(number: UInt8) {
    switch number {
    case 0: self = .active
    case 1: self = .paused(.codec)
    case 2: self = .paused(.noMedia)
    case 3: self = .waiting(.noSlot)
    case 4: self = .paused(.bandwidth)
    case 5: self = .paused(.off)
    default: return nil
    }
  }
}
