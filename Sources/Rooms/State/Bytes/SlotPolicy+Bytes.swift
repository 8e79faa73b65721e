internal import Model

extension SlotPolicy {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(2))
    writer.write(UInt32(slots.count))
    for slot in slots { slot.encode(into: &writer) }
    writer.write(UInt32(tracks.count))
    for track in tracks.values.sorted(by: { $0.arrival < $1.arrival }) { track.encode(into: &writer) }
    writer.write(UInt64(arrivals))
    writer.write(UInt32(speaking.count))
    for group in speaking.sorted() { writer.write(group) }
    writer.write(UInt32(lastSpoke.count))
    for (group, moment) in lastSpoke.sorted(by: { $0.key < $1.key }) {
      writer.write(group)
      writer.write(moment)
    }
    writer.write(UInt32(handedOut.count))
    for (slot, track) in handedOut.sorted(by: { $0.key < $1.key }) {
      writer.write(slot)
      writer.write(track.text)
    }
    for track in tracks.values.sorted(by: { $0.arrival < $1.arrival }) { track.picture.encode(into: &writer) }
    writer.write(UInt32(handedOutPictures.count))
    for (slot, picture) in handedOutPictures.sorted(by: { $0.key < $1.key }) {
      writer.write(slot)
      picture.encode(into: &writer)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    var order: [TrackID] = []
    let version = try reader.version("slots", upTo: 2)
    for _ in 0..<(try reader.count(limit: stateCountLimit)) { slots.append(try Slot(from: &reader)) }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      let track = try Track(from: &reader)
      tracks[track.id] = track
      order.append(track.id)
    }
    arrivals = Int(truncatingIfNeeded: try reader.integer(UInt64.self))
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      speaking.insert(try reader.string(limit: stateTextLimit))
    }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      lastSpoke[try reader.string(limit: stateTextLimit)] = try reader.instant()
    }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      handedOut[try reader.integer()] = TrackID(known: try reader.string(limit: stateTextLimit))
    }
    guard version >= 2 else { return }
    for track in order { tracks[track]?.picture = try PicturePreference(from: &reader) }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      handedOutPictures[try reader.integer()] = try PicturePreference(from: &reader)
    }
  }
}

extension SlotPolicy.Slot {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(index)
    writer.write(mid)
    writer.write(kind.rawValue)
    writer.write(streamID)
    writer.write(UInt32(codecs.count))
    for codec in codecs { writer.write(codec.rawValue) }
    writer.write(optional: track?.text)
    writer.write(since)
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    let index: UInt16 = try reader.integer()
    let mid = try reader.string(limit: stateTextLimit)
    let kind: MediaKind = try reader.value("media kind")
    let streamID = try reader.string(limit: stateTextLimit)
    var codecs: [CodecFormat] = []
    for _ in 0..<(try reader.count(limit: stateCountLimit)) { codecs.append(try reader.codec()) }
    self.init(
      index: index, mid: mid, kind: kind, streamID: streamID, codecs: codecs,
      track: try reader.optionalString(limit: stateTextLimit).map { TrackID(known: $0) },
      since: try reader.instant())
  }
}

extension SlotPolicy.Track {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(id.text)
    writer.write(key)
    writer.write(kind.rawValue)
    writer.write(owner)
    writer.write(group)
    writer.write(isScreen)
    writer.write(optional: codec?.rawValue)
    switch preference {
    case .automatic: writer.write(UInt8(0))
    case .none: writer.write(UInt8(1))
    case .explicit(let mid):
      writer.write(UInt8(2))
      writer.write(optional: mid)
    }
    writer.write(UInt64(arrival))
    writer.write(UInt32(ordinal))
    writer.write(isLeading)
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    self.init(
      id: TrackID(known: try reader.string(limit: stateTextLimit)), key: try reader.trackKey(),
      kind: try reader.value("media kind"), owner: try reader.string(limit: stateTextLimit),
      group: try reader.string(limit: stateTextLimit), isScreen: try reader.bool(),
      codec: try reader.optionalCodec())
    let start = reader.offset
    switch try reader.integer(UInt8.self) {
    case 0: preference = .automatic
    case 1: preference = .none
    case 2: preference = .explicit(mid: try reader.optionalString(limit: stateTextLimit))
    default: throw .invalid(field: "preference", offset: start)
    }
    arrival = Int(truncatingIfNeeded: try reader.integer(UInt64.self))
    ordinal = Int(try reader.integer(UInt32.self))
    isLeading = try reader.bool()
  }
}
