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

  /// Whether a slot, by its peer's place, shows nothing of an encoding: its subscriber wants nothing of the track, or it has yet to begin
  /// and goes on to another encoding.
  typealias IsOff = (_ place: Int, _ slot: Int, _ goesOn: Bool) -> Bool

  /// - Returns: tracks of peers here of which other encodings are watched than their publishers know.
  mutating func watchGroups(now: Instant, isOff: IsOff) -> [(track: TrackKey, encodings: UInt8)] {
    var groups = TrackGroups()
    swap(&groups, &self.groups)
    defer { swap(&groups, &self.groups) }
    return groups.watch(now: now) { track in
      guard let feed = table.find(track) else { return false }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.farViewersUncounted) { return isWatched(feed, isOff: isOff) }
      #endif
      return isWatched(feed, isOff: isOff) || table.pointer(feed).pointee.isWatchedElsewhere(now: now)
    }
  }

  /// Whether a consumer at this worker shows it. One that is paused for want of bandwidth waits for it, and counts.
  private func isWatched(_ feed: Int, isOff: IsOff) -> Bool {
    let entry = table.pointer(feed)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.offIsWatched) { return !entry.pointee.consumers.isEmptyHere }
    #endif
    for position in 0..<entry.pointee.consumers.count {
      switch entry.pointee.consumers[position] {
      case .sink: return true
      case .slot(let place, let slot):
        let next = nextFeed(ofSlot: slot, at: place)
        #if PLANTED_DEFECTS
          let goesOn = next != nil && next != feed && !PlantedDefect.isOn(.passingWatched)
        #else
          let goesOn = next != nil && next != feed
        #endif
        if !isOff(place, slot, goesOn) { return true }
      }
    }
    return false
  }

  /// The workers that have the publishers hear, again and again, which of what they relay to here is watched. It is at two looks in a row:
  /// the word is believed for long, and who looks at an encoding for a moment alone is no reason to have it sent.
  func sayWatched(now: Instant, isOff: IsOff) {
    for track in groups.relayed {
      for feed in encodings(of: track) {
        let entry = table.pointer(feed)
        guard case .relay(let worker) = entry.pointee.source else { continue }
        guard isWatched(feed, isOff: isOff) else {
          entry.pointee.watchWord = WatchWord()
          continue
        }
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.momentWatched) { entry.pointee.watchWord.isLookedAt = true }
        #endif
        guard entry.pointee.watchWord.isLookedAt else {
          entry.pointee.watchWord.isLookedAt = true
          continue
        }
        if let said = entry.pointee.watchWord.said, now - said < TrackFeed.watchPace { continue }
        entry.pointee.watchWord.said = now
        post(.watched(entry.pointee.key), to: worker)
      }
    }
  }

  /// What isn't sent any more because none watches it begins with a picture of its own once it is: the last one is of the past, and is
  /// shown to none.
  mutating func forgetPictures(now: Instant) {
    for track in groups.takeOver(now: now) {
      guard let feed = table.find(track) else { continue }
      table.pointer(feed).pointee.picture.forget()
      for worker in SetBits(table.pointer(feed).pointee.consumers.relays) { post(.over(track), to: worker) }
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
