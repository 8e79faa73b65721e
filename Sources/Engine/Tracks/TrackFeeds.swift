internal import Media
internal import Model
internal import Polling

/// The tracks of one worker, who gets them, and what is said of them to other workers.
///
/// It knows peers by their places alone: which feed a place's track is, and which feed a place's slot shows. What has to be
/// done to a peer, its caller does.
struct TrackFeeds: ~Copyable {
  let index: Int
  let exchange: Exchange
  let samples: SampleTable
  var table = TrackFeedTable()
  var sinks = SinkTable()
  var groups = TrackGroups()
  var counters = TrackCounters()
  /// By place.
  private var links: [PeerLinks?]
  /// Workers that got packets in this batch and are yet to be woken.
  var touched: UInt64 = 0

  /// What ties a peer to feeds: indices of feeds, -1 for none.
  private struct PeerLinks {
    /// By track, so many for each as it may have encodings.
    var tracks: [Int32] = []
    /// By slot: the feed that it shows, and the one that it goes on to.
    var slots: [SlotLink] = []
  }

  private struct SlotLink {
    var shown: Int32 = -1
    var next: Int32 = -1
  }

  private static let encodings = ReceiveSection.mostEncodings

  init(index: Int, places: Int, exchange: Exchange, samples: SampleTable) {
    self.index = index
    self.exchange = exchange
    self.samples = samples
    links = Array(repeating: nil, count: places)
  }

  @inline(__always)
  func pointer(_ feed: Int) -> UnsafeMutablePointer<TrackFeed> { table.pointer(feed) }

  func find(_ track: TrackKey) -> Int? { table.find(track) }

  @inline(__always)
  func find(_ packet: PacketReference) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    table.find(packet)
  }

  /// A packet of a feed, for what is to leave later.
  @inline(__always)
  func reference(_ sequence: Int64, of feed: Int) -> PacketReference {
    PacketReference(track: feed, serial: table.pointer(feed).pointee.serial, sequence: sequence)
  }

  /// As `find`, of tracks whose source is elsewhere.
  func findRelayed(_ track: TrackKey) -> Int? {
    guard let feed = table.find(track), table.pointer(feed).pointee.publisher == nil else { return nil }
    return feed
  }

  /// As `find`, of tracks whose source is a peer of this worker.
  func findPublished(_ track: TrackKey) -> Int? {
    guard let feed = table.find(track), table.pointer(feed).pointee.publisher != nil else { return nil }
    return feed
  }

  func post(_ message: TrackMessage, to worker: Int) {
    guard worker >= 0 && worker < exchange.count else { return }
    _ = exchange.mailboxes[worker].post(.track(message), force: true)
  }

  // MARK: - Peers

  /// A peer came to that place: room for so many tracks and slots, which may grow.
  mutating func enter(_ place: Int, tracks: Int, slots: Int) {
    var link = links[place] ?? PeerLinks()
    while link.tracks.count < tracks * Self.encodings { link.tracks.append(-1) }
    while link.slots.count < slots { link.slots.append(SlotLink()) }
    links[place] = link
  }

  mutating func leave(_ place: Int) { links[place] = nil }

  /// The feed of an encoding of a peer's track.
  func feed(ofTrack track: Int, encoding: Int, at place: Int) -> Int? {
    let entry = track * Self.encodings + encoding
    guard let tracks = links[place]?.tracks, tracks.indices.contains(entry), tracks[entry] >= 0 else {
      return nil
    }
    return Int(tracks[entry])
  }

  /// The feed that a slot of a peer shows.
  func feed(ofSlot slot: Int, at place: Int) -> Int? { link(place, slot).flatMap { Self.index($0.shown) } }

  /// The feed that a slot of a peer goes on to.
  func nextFeed(ofSlot slot: Int, at place: Int) -> Int? { link(place, slot).flatMap { Self.index($0.next) } }

  private func link(_ place: Int, _ slot: Int) -> SlotLink? {
    guard let slots = links[place]?.slots, slots.indices.contains(slot) else { return nil }
    return slots[slot]
  }

  private static func index(_ feed: Int32) -> Int? { feed >= 0 ? Int(feed) : nil }

  /// Of all tracks that a peer publishes, in their order.
  func feedsOfTracks(at place: Int) -> [Int] {
    (links[place]?.tracks ?? []).filter { $0 >= 0 }.map { Int($0) }
  }

  func trackCount(at place: Int) -> Int { (links[place]?.tracks.count ?? 0) / Self.encodings }

  func slotCount(at place: Int) -> Int { links[place]?.slots.count ?? 0 }

  private static func entry(_ track: TrackKey) -> Int { Int(track.index) * encodings + Int(track.encoding) }

  /// An encoding of a track of the peer at that place begins; others may have asked for it already.
  mutating func publish(_ track: TrackKey, kind: MediaKind, at place: Int) -> Int {
    let feed =
      table.find(track) ?? table.insert(TrackFeed(key: track, kind: kind, source: .peer(place: place)))
    table.pointer(feed).pointee.source = .peer(place: place)
    links[place]!.tracks[Self.entry(track)] = Int32(feed)
    return feed
  }

  /// The peer goes to another worker: its tracks come from there from now on.
  /// - Returns: each track with the workers that get it, a bit each, this one among them where it has consumers.
  mutating func handOn(_ place: Int, to worker: Int) -> [(TrackKey, UInt64)] {
    var relays: [(TrackKey, UInt64)] = []
    for feed in feedsOfTracks(at: place) {
      let entry = table.pointer(feed)
      var workers = entry.pointee.consumers.takeRelays()
      entry.pointee.source = .relay(worker: worker)
      let isWanted = !entry.pointee.consumers.isEmptyHere
      if isWanted { workers |= 1 << UInt64(index) }
      relays.append((entry.pointee.key, workers))
      if !isWanted { remove(feed) }
    }
    return relays
  }

  // MARK: - Consumers

  /// A track whose publisher isn't here is to come from a worker.
  /// - Returns: its feed.
  mutating func expect(_ track: TrackKey, kind: MediaKind, from worker: Int) -> Int {
    table.insert(TrackFeed(key: track, kind: kind, source: .relay(worker: worker)))
  }

  /// - Parameter isNext: a slot shows another feed until it can go on to this one.
  mutating func subscribe(_ consumer: TrackFeed.Consumer, to feed: Int, isNext: Bool = false) {
    table.pointer(feed).pointee.add(consumer)
    guard case .here(.slot(let place, let slot)) = consumer else { return }
    if isNext {
      links[place]!.slots[slot].next = Int32(feed)
    } else {
      links[place]!.slots[slot].shown = Int32(feed)
    }
  }

  /// The slot has gone on to its next feed.
  /// - Returns: the one that it showed before.
  mutating func goOn(_ place: Int, slot: Int) -> Int? {
    guard let link = link(place, slot), link.next >= 0 else { return nil }
    links[place]!.slots[slot] = SlotLink(shown: link.next)
    return Self.index(link.shown)
  }

  /// The slot shows that feed and goes on to none. It may be that feed's only consumer already, so the others are left last.
  /// - Returns: feeds that are of no use any more.
  mutating func move(_ place: Int, slot: Int, to right: Int) -> [Int] {
    let consumer = TrackFeed.Consumer.here(.slot(place: place, slot: slot))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.formerLeftFirst) {
        let left = [feed(ofSlot: slot, at: place), nextFeed(ofSlot: slot, at: place)].compactMap { $0 }
        let unused = left.compactMap { unsubscribe(consumer, from: $0) }
        subscribe(consumer, to: right)
        return unused
      }
    #endif
    let former = [feed(ofSlot: slot, at: place), nextFeed(ofSlot: slot, at: place)].compactMap { $0 }
    if !former.contains(right) { subscribe(consumer, to: right) }
    let unused = former.filter { $0 != right }.compactMap { unsubscribe(consumer, from: $0) }
    links[place]!.slots[slot] = SlotLink(shown: Int32(right))
    return unused
  }

  /// - Returns: the feed if it is of no use any more: relayed to here, and wanted by none.
  mutating func unsubscribe(_ consumer: TrackFeed.Consumer, from feed: Int) -> Int? {
    table.pointer(feed).pointee.remove(consumer)
    if case .here(.slot(let place, let slot)) = consumer { unlink(place, slot, feed) }
    let entry = table.pointer(feed)
    return entry.pointee.publisher == nil && entry.pointee.consumers.isEmptyHere ? feed : nil
  }

  private mutating func unlink(_ place: Int, _ slot: Int, _ feed: Int) {
    if links[place]!.slots[slot].shown == Int32(feed) { links[place]!.slots[slot].shown = -1 }
    if links[place]!.slots[slot].next == Int32(feed) { links[place]!.slots[slot].next = -1 }
  }

  mutating func remove(_ feed: Int) {
    let track = table.pointer(feed).pointee.key
    table.remove(feed)
    if encodings(of: track).isEmpty { groups.remove(track) }
  }

  /// A track is over: other workers and sinks hear of it here.
  /// - Returns: slots that showed it, which are to fall silent, or were to go on to it, which stay where they are.
  mutating func end(_ feed: Int) -> [(place: Int, slot: Int, wasShown: Bool)] {
    let entry = table.pointer(feed)
    var slots: [(place: Int, slot: Int, wasShown: Bool)] = []
    for position in 0..<entry.pointee.consumers.count {
      switch entry.pointee.consumers[position] {
      case .slot(let place, let slot):
        slots.append((place, slot, self.feed(ofSlot: slot, at: place) == feed))
        unlink(place, slot, feed)
      case .sink(let number): sinks.remove(number)?.end()
      }
    }
    if let publisher = entry.pointee.publisher {
      samples.remove(entry.pointee.key)
      let track = Self.entry(entry.pointee.key)
      if links[publisher]?.tracks.indices.contains(track) == true { links[publisher]!.tracks[track] = -1 }
    }
    for worker in SetBits(entry.pointee.consumers.relays) { post(.ended(entry.pointee.key), to: worker) }
    remove(feed)
    return slots
  }

  // MARK: - Packets

  /// Passes on how loud a track of ours is, about ten times a second.
  @inline(__always)
  mutating func measure(_ info: PacketInfo, feed: Int) {
    let entry = table.pointer(feed)
    if let level = entry.pointee.meter.note(info) {
      samples.set(entry.pointee.key, level, place: &entry.pointee.levelPlace)
    }
  }

  /// Writes a packet into the rings of the workers that get the track.
  mutating func relay(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int) {
    var crossing = Crossing(kind: .packet, from: UInt8(truncatingIfNeeded: index))
    crossing.track = table.pointer(feed).pointee.key
    crossing.info = info
    for worker in SetBits(table.pointer(feed).pointee.consumers.relays) {
      let ring = exchange.ring(to: worker, from: index)
      let written = withUnsafeBytes(of: &crossing) { ring.write(header: $0.baseAddress!, payload: packet) }
      if written {
        counters.relayed &+= 1
        touched |= 1 << UInt64(worker)
      } else {
        counters.relayDropped &+= 1
      }
    }
  }

  /// Writes a packet into a sink's ring.
  @inline(never)
  mutating func send(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int, toSink number: Int) {
    var crossing = Crossing(kind: .packet, from: UInt8(truncatingIfNeeded: index))
    crossing.track = table.pointer(feed).pointee.key
    crossing.info = info
    if !sinks.write(packet, &crossing, to: number) { counters.sinkDropped &+= 1 }
  }

  /// A packet of a track that is relayed to here; nil if none of its consumers is left.
  mutating func arrived(_ track: TrackKey, from worker: Int) -> Int? {
    counters.relayReceived &+= 1
    guard let feed = table.find(track) else { return nil }
    // Its publisher may have come here since: what its former worker sent, that one has sent to all.
    if table.pointer(feed).pointee.publisher == nil {
      table.pointer(feed).pointee.source = .relay(worker: worker)
    }
    return feed
  }

  // MARK: - Clocks and mutes

  /// The clocks of the tracks of a peer moved: other workers hear of it.
  mutating func sendClock(_ feed: Int, now: Instant) {
    let entry = table.pointer(feed)
    guard entry.pointee.consumers.relays != 0, entry.pointee.pace.maySendClock(at: now) else { return }
    for worker in SetBits(entry.pointee.consumers.relays) { sendClock(feed, to: worker) }
  }

  func sendClock(_ feed: Int, to worker: Int) {
    let entry = table.pointer(feed)
    guard let clock = entry.pointee.clock else { return }
    post(.clock(entry.pointee.key, clock, from: index), to: worker)
  }

  /// A track of ours is muted: who comes while it is, or after it, isn't shown what it showed before.
  mutating func mute(_ feed: Int, incarnation: UInt8) {
    let entry = table.pointer(feed)
    entry.pointee.picture.mute(incarnation)
    for worker in SetBits(entry.pointee.consumers.relays) {
      post(.muted(entry.pointee.key, incarnation: incarnation), to: worker)
    }
  }
}
