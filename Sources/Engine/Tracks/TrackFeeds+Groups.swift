internal import Media
internal import Model

/// The encodings of tracks: what is known of them, and who hears of it.
extension TrackFeeds {
  /// - Parameter description: of an encoding of a peer, by its place: what its packets say of it.
  /// - Returns: tracks whose layers have changed.
  mutating func sampleGroups(now: Instant, description: (Int, TrackKey) -> EncodingDescription) -> [TrackKey]
  {
    // Out of its place meanwhile, so that it has one owner: two would have all of it copied.
    var groups = TrackGroups()
    swap(&groups, &self.groups)
    defer { swap(&groups, &self.groups) }
    return groups.sample(now: now) { track in
      guard let feed = table.find(track), let place = table.pointer(feed).pointee.publisher else {
        return nil
      }
      let entry = table.pointer(feed)
      return (entry.pointee.bytes, entry.pointee.frames, description(place, track))
    }
  }

  /// - Returns: tracks of peers here of which other encodings are watched than their publishers know.
  mutating func watchGroups(now: Instant) -> [(track: TrackKey, encodings: UInt8)] {
    var groups = TrackGroups()
    swap(&groups, &self.groups)
    defer { swap(&groups, &self.groups) }
    return groups.watch(now: now) { track in
      guard let feed = table.find(track) else { return false }
      let entry = table.pointer(feed)
      return !entry.pointee.consumers.isEmptyHere || entry.pointee.consumers.relays != 0
    }
  }

  /// Every worker that gets an encoding of the track hears which there are.
  func sendLayers(_ track: TrackKey, _ layers: TrackLayers) {
    var workers: UInt64 = 0
    for feed in encodings(of: track) { workers |= table.pointer(feed).pointee.consumers.relays }
    for worker in SetBits(workers) { post(.layers(track.track, layers), to: worker) }
  }

  /// The feeds of a track's encodings, as far as they are here.
  func encodings(of track: TrackKey) -> [Int] {
    (0..<ReceiveSection.mostEncodings).compactMap {
      table.find(TrackKey(peer: track.peer, index: track.index, encoding: UInt8($0)))
    }
  }

  /// A slot has gone on from that feed.
  /// - Returns: the feed if it is of no use any more.
  mutating func leave(_ feed: Int, place: Int, slot: Int) -> Int? {
    unsubscribe(.here(.slot(place: place, slot: slot)), from: feed)
  }
}
