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
  var counters = TrackCounters()
  /// By place.
  private var links: [PeerLinks?]
  /// Workers that got packets in this batch and are yet to be woken.
  var touched: UInt64 = 0

  /// What ties a peer to feeds, by receiver and by slot: indices of feeds, -1 for none.
  private struct PeerLinks {
    var tracks: [Int32] = []
    var slots: [Int32] = []
  }

  init(index: Int, places: Int, exchange: Exchange, samples: SampleTable) {
    self.index = index
    self.exchange = exchange
    self.samples = samples
    links = Array(repeating: nil, count: places)
  }

  @inline(__always)
  func pointer(_ feed: Int) -> UnsafeMutablePointer<TrackFeed> { table.pointer(feed) }

  func find(_ track: TrackKey) -> Int? { table.find(track) }

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
    while link.tracks.count < tracks { link.tracks.append(-1) }
    while link.slots.count < slots { link.slots.append(-1) }
    links[place] = link
  }

  mutating func leave(_ place: Int) { links[place] = nil }

  /// The feed of a peer's track.
  func feed(ofTrack track: Int, at place: Int) -> Int? {
    guard let tracks = links[place]?.tracks, tracks.indices.contains(track), tracks[track] >= 0 else {
      return nil
    }
    return Int(tracks[track])
  }

  /// The feed that a slot of a peer shows.
  func feed(ofSlot slot: Int, at place: Int) -> Int? {
    guard let slots = links[place]?.slots, slots.indices.contains(slot), slots[slot] >= 0 else { return nil }
    return Int(slots[slot])
  }

  /// Of all tracks that a peer publishes, in their order.
  func feedsOfTracks(at place: Int) -> [Int] {
    (links[place]?.tracks ?? []).filter { $0 >= 0 }.map { Int($0) }
  }

  func trackCount(at place: Int) -> Int { links[place]?.tracks.count ?? 0 }

  func slotCount(at place: Int) -> Int { links[place]?.slots.count ?? 0 }

  /// A track of the peer at that place begins; others may have asked for it already.
  mutating func publish(_ track: TrackKey, kind: MediaKind, at place: Int) -> Int {
    let feed =
      table.find(track) ?? table.insert(TrackFeed(key: track, kind: kind, source: .peer(place: place)))
    table.pointer(feed).pointee.source = .peer(place: place)
    links[place]!.tracks[Int(track.index)] = Int32(feed)
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
      if !isWanted { table.remove(feed) }
    }
    return relays
  }

  // MARK: - Consumers

  /// A track whose publisher isn't here is to come from a worker.
  /// - Returns: its feed.
  mutating func expect(_ track: TrackKey, kind: MediaKind, from worker: Int) -> Int {
    table.insert(TrackFeed(key: track, kind: kind, source: .relay(worker: worker)))
  }

  mutating func subscribe(_ consumer: TrackFeed.Consumer, to feed: Int) {
    table.pointer(feed).pointee.add(consumer)
    if case .here(.slot(let place, let slot)) = consumer { links[place]!.slots[slot] = Int32(feed) }
  }

  /// - Returns: the feed if it is of no use any more: relayed to here, and wanted by none.
  mutating func unsubscribe(_ consumer: TrackFeed.Consumer, from feed: Int) -> Int? {
    table.pointer(feed).pointee.remove(consumer)
    if case .here(.slot(let place, let slot)) = consumer { links[place]!.slots[slot] = -1 }
    let entry = table.pointer(feed)
    return entry.pointee.publisher == nil && entry.pointee.consumers.isEmptyHere ? feed : nil
  }

  mutating func remove(_ feed: Int) { table.remove(feed) }

  /// A track is over: other workers and sinks hear of it here.
  /// - Returns: slots that showed it, which are to fall silent.
  mutating func end(_ feed: Int) -> [(place: Int, slot: Int)] {
    let entry = table.pointer(feed)
    var slots: [(place: Int, slot: Int)] = []
    for position in 0..<entry.pointee.consumers.count {
      switch entry.pointee.consumers[position] {
      case .slot(let place, let slot):
        links[place]!.slots[slot] = -1
        slots.append((place, slot))
      case .sink(let number): sinks.remove(number)?.end()
      }
    }
    if let publisher = entry.pointee.publisher {
      samples.remove(entry.pointee.key)
      let track = Int(entry.pointee.key.index)
      if links[publisher]?.tracks.indices.contains(track) == true { links[publisher]!.tracks[track] = -1 }
    }
    for worker in SetBits(entry.pointee.consumers.relays) { post(.ended(entry.pointee.key), to: worker) }
    table.remove(feed)
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
