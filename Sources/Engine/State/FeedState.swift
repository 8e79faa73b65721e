internal import Media
internal import Model

/// One track's feed; peers by key.
struct FeedState: Sendable {
  struct Slot: Sendable {
    var peer: PeerKey
    var slot: UInt16
  }

  struct Packet: Sendable {
    var info: PacketInfo
    var bytes: [UInt8]
  }

  var key: TrackKey
  var kind: MediaKind
  /// The worker that it comes from; nil where its peer is here.
  var relayedFrom: UInt8?
  var slots: [Slot] = []
  var relays: UInt64 = 0
  var clock: ClockMapping?
  var picture = PictureStart()
  /// The oldest first.
  var packets: [Packet] = []

  init(key: TrackKey, kind: MediaKind) {
    self.key = key
    self.kind = kind
  }

  /// All that are named.
  var workers: [Int] { (relayedFrom.map { [Int($0)] } ?? []) + Array(SetBits(relays)) }

  func encode(into writer: inout StateWriter) {
    writer.write(key.peer.rawValue)
    writer.write(key.index)
    writer.write(key.encoding)
    writer.write(kind == .video)
    writer.write(relayedFrom != nil)
    writer.write(relayedFrom ?? 0)
    writer.write(UInt32(slots.count))
    for slot in slots {
      writer.write(slot.peer.rawValue)
      writer.write(slot.slot)
    }
    writer.write(relays)
    writer.write(clock != nil)
    if let clock {
      writer.write(clock.timestamp)
      writer.write(clock.ntp)
      writer.write(clock.rate)
      writer.write(clock.measured)
      writer.write(clock.isReported)
    }
    picture.encode(into: &writer)
    writer.write(UInt32(packets.count))
    var info = [UInt8](repeating: 0, count: PacketInfo.wireSize)
    for packet in packets {
      info.withUnsafeMutableBytes { packet.info.encode(into: $0) }
      writer.write(info)
      writer.write(packet.bytes)
    }
  }

  /// Layers of which builds of before encodings kept the packets.
  private static let oldLayers = 4

  /// - Parameter version: of the section; the first knows one encoding of each track.
  init(from reader: inout StateReader, _ version: UInt16) throws(StateError) {
    let peer = PeerKey(rawValue: try reader.integer())
    key = TrackKey(peer: peer, index: try reader.integer())
    if version > 1 {
      let offset = reader.offset
      key.encoding = try reader.integer()
      guard key.encoding < ReceiveSection.mostEncodings else {
        throw .invalid(field: "encoding of a track", offset: offset)
      }
    }
    kind = try reader.bool() ? .video : .audio
    let isRelayed = try reader.bool()
    let worker: UInt8 = try reader.integer()
    relayedFrom = isRelayed ? worker : nil
    for _ in 0..<(try reader.count(limit: 1 << 20)) {
      let peer = PeerKey(rawValue: try reader.integer())
      slots.append(Slot(peer: peer, slot: try reader.integer()))
    }
    relays = try reader.integer()
    if try reader.bool() {
      var clock = ClockMapping(
        timestamp: try reader.integer(), ntp: NTPTime(rawValue: try reader.integer()),
        rate: try reader.integer(), isReported: false)
      clock.measured = try reader.integer()
      clock.isReported = try reader.bool()
      self.clock = clock
    }
    picture = try PictureStart(from: &reader)
    for _ in 0..<(try reader.count(limit: TrackFeed.mostKept * Self.oldLayers)) {
      let offset = reader.offset
      let info = try reader.array(limit: PacketInfo.wireSize)
      let bytes = try reader.array(limit: 2_048)
      let read = info.withUnsafeBytes { try? PacketInfo(decoding: $0, packetSize: bytes.count) }
      guard let read, PictureStart.numbers.contains(read.extendedSequence) else {
        throw .invalid(field: "packet info", offset: offset)
      }
      packets.append(Packet(info: read, bytes: bytes))
    }
  }
}

extension TrackFeeds {
  /// - Parameter key: of the peer at a place; nil where it is left behind.
  func state(_ key: (Int) -> PeerKey?) -> [FeedState] {
    table.all.compactMap { feed in
      let entry = table.pointer(feed)
      // Its peer is left behind.
      if let publisher = entry.pointee.publisher, key(publisher) == nil { return nil }
      var state = FeedState(key: entry.pointee.key, kind: entry.pointee.kind)
      if case .relay(let worker) = entry.pointee.source {
        state.relayedFrom = UInt8(truncatingIfNeeded: worker)
      }
      for position in 0..<entry.pointee.consumers.count {
        // One that is to go on to this feed asks for it again.
        guard case .slot(let place, let slot) = entry.pointee.consumers[position], let peer = key(place),
          self.feed(ofSlot: slot, at: place) == feed
        else { continue }
        state.slots.append(FeedState.Slot(peer: peer, slot: UInt16(truncatingIfNeeded: slot)))
      }
      state.relays = entry.pointee.consumers.relays
      state.clock = entry.pointee.clock
      state.picture = entry.pointee.picture
      entry.pointee.forEachKept { state.packets.append(.init(info: $1, bytes: Array($0))) }
      return state
    }
  }

  /// Puts a feed in where there is none for the track; its peers have entered their places.
  /// - Parameter here: the places of peers that are here; others of the state didn't come.
  mutating func restore(_ state: FeedState, places here: [PeerKey: Int]) {
    let feed: Int
    if let worker = state.relayedFrom {
      feed = expect(state.key, kind: state.kind, from: Int(worker))
    } else if let place = here[state.key.peer], Int(state.key.index) < trackCount(at: place) {
      feed = publish(state.key, kind: state.kind, at: place)
    } else {
      return
    }
    for slot in state.slots {
      guard let place = here[slot.peer], Int(slot.slot) < slotCount(at: place) else { continue }
      subscribe(.here(.slot(place: place, slot: Int(slot.slot))), to: feed)
    }
    for worker in SetBits(state.relays) { subscribe(.relay(worker: worker), to: feed) }
    let entry = table.pointer(feed)
    entry.pointee.clock = state.clock
    entry.pointee.picture = state.picture
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.packetsNotCarried) { return }
    #endif
    if !state.packets.isEmpty { entry.pointee.keepHistory() }
    for packet in state.packets { packet.bytes.withUnsafeBytes { entry.pointee.restore($0, packet.info) } }
  }
}
