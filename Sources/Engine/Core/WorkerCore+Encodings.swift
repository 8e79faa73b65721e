internal import Media
internal import Model
internal import Peer

/// Which encoding of its track a slot shows.
extension WorkerCore {
  /// Has a slot go on to an encoding of its track at that one's next key frame; the one that it shows goes on until then.
  /// - Parameter isForced: the shown encoding has no room or has stopped, so the subscriber's limit does not apply.
  mutating func goOn(_ place: Int, slot: Int, to encoding: UInt8, isForced: Bool, now: Instant) {
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    let shown = feeds.pointer(feed).pointee.key
    let peer = peers.pointer(place)
    guard peer.pointee.encoding(ofSlot: slot) == shown.encoding else {
      // It has gone on to the next one, and is fed by it alone once what waits has left: until then both stay.
      if !joined.contains(where: { $0 == (place, slot) }) { feedAgain(place, slot: slot) }
      return
    }
    guard peer.pointee.nextEncoding(ofSlot: slot) != encoding else { return }
    if let next = feeds.nextFeed(ofSlot: slot, at: place) {
      peer.pointee.setNextEncoding(slot: slot, nil, clock: nil)
      if let unused = feeds.unsubscribe(.here(.slot(place: place, slot: slot)), from: next) { drop(unused) }
    }
    let crossing = EncodingCrossing(from: shown.encoding, to: encoding)
    guard encoding != shown.encoding,
      isForced || peer.pointee.beginsPicture(slot: slot, crossing: crossing, now: now)
    else { return }
    let wanted = TrackKey(peer: shown.peer, index: shown.index, encoding: encoding)
    guard let next = self.feed(for: wanted, kind: .video) else { return }
    let consumer = TrackFeed.Consumer.here(.slot(place: place, slot: slot))
    feeds.subscribe(consumer, to: next, isNext: true)
    peers.pointer(place).pointee.setNextEncoding(
      slot: slot, encoding, clock: feeds.pointer(next).pointee.clock)
    if peers.pointer(place).pointee.takesMedia { requestKeyFrame(of: next, now: now) }
  }

  /// A slot that is paused stands at the cheapest encoding that comes, so that no better one is sent for it, and begins with that.
  mutating func rest(_ place: Int, slot: Int) {
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    let shown = feeds.pointer(feed).pointee.key
    let cheapest = feeds.groups.first(of: shown)
    let peer = peers.pointer(place)
    guard cheapest != shown, peer.pointee.encoding(ofSlot: slot) == shown.encoding,
      feeds.groups.layers(of: shown)?.ranking.isEmpty == false
    else { return }
    let consumer = TrackFeed.Consumer.here(.slot(place: place, slot: slot))
    if let next = feeds.nextFeed(ofSlot: slot, at: place), feeds.pointer(next).pointee.key != cheapest {
      peer.pointee.setNextEncoding(slot: slot, nil, clock: nil)
      if let unused = feeds.unsubscribe(consumer, from: next) { drop(unused) }
    }
    if feeds.nextFeed(ofSlot: slot, at: place) == nil {
      guard let next = self.feed(for: cheapest, kind: .video) else { return }
      feeds.subscribe(consumer, to: next, isNext: true)
      peers.pointer(place).pointee.setNextEncoding(
        slot: slot, cheapest.encoding, clock: feeds.pointer(next).pointee.clock)
    }
    guard peers.pointer(place).pointee.giveUpEncoding(slot: slot),
      let former = feeds.goOn(place, slot: slot)
    else { return }
    if let unused = feeds.leave(former, place: place, slot: slot) { drop(unused) }
  }

  /// Feeds a slot from the encoding that it stands at, whichever it was fed from.
  mutating func feedAgain(_ place: Int, slot: Int) {
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    var track = feeds.pointer(feed).pointee.key
    track.encoding = peers.pointer(place).pointee.encoding(ofSlot: slot)
    guard track != feeds.pointer(feed).pointee.key, let right = self.feed(for: track, kind: .video) else {
      return
    }
    for unused in feeds.move(place, slot: slot, to: right) { drop(unused) }
    if let clock = feeds.pointer(right).pointee.clock {
      peers.pointer(place).pointee.setClock(slot: slot, encoding: track.encoding, clock)
    }
  }

  /// Slots have gone on to their next encoding: what they showed before is of no use to them any more.
  mutating func finishSwitches() {
    guard !joined.isEmpty else { return }
    var waiting: [(place: Int, slot: Int)] = []
    for (place, slot) in joined {
      // What waits of what was shown before is found in its feed. Where a full path never lets everything leave, all else that
      // waits is no reason to stay.
      if peers.key(place) != nil, let former = feeds.feed(ofSlot: slot, at: place),
        peers.pointer(place).pointee.departs(slot: slot, from: former)
      {
        waiting.append((place, slot))
        continue
      }
      // It may have got another track since.
      guard let next = feeds.nextFeed(ofSlot: slot, at: place),
        peers.pointer(place).pointee.encoding(ofSlot: slot) == feeds.pointer(next).pointee.key.encoding,
        let former = feeds.goOn(place, slot: slot)
      else { continue }
      if let unused = feeds.leave(former, place: place, slot: slot) { drop(unused) }
    }
    swap(&joined, &waiting)
  }

  /// Looks at which encodings come, and what their layers take; other workers hear of it.
  mutating func sampleEncodings(now: Instant) {
    let changed = feeds.sampleGroups(now: now) { place, track in
      peers.pointer(place).pointee.description(ofReceiver: Int(track.index), encoding: Int(track.encoding))
    }
    // What was asked for and never came is not asked for again and again.
    for track in feeds.groups.keyless {
      guard let place = peers.find(track.peer) else { continue }
      peers.pointer(place).pointee.forgetKeyFrameRequest(
        receiver: Int(track.index), encoding: Int(track.encoding))
    }
    let watched = feeds.watchGroups(now: now) { Self.isOff(peers, $0, slot: $1, goesOn: $2) }
    for (track, encodings) in watched { events.note(track.peer) { $0.watched[track.index] = encodings } }
    feeds.forgetPictures(now: now)
    feeds.sayWatched(now: now) { Self.isOff(peers, $0, slot: $1, goesOn: $2) }
    for track in changed {
      guard let layers = feeds.groups.layers(of: track) else { continue }
      feeds.sendLayers(track, layers)
    }
  }

  /// Whether a slot shows nothing of an encoding that feeds it. One that stood at the cheapest while it was turned off is no reason to
  /// have that sent, where it waits for a better one.
  private static func isOff(_ peers: borrowing PeerTable, _ place: Int, slot: Int, goesOn: Bool) -> Bool {
    let peer = peers.pointer(place)
    return peer.pointee.picture(ofSlot: slot).quality == .off
      || goesOn && peer.pointee.needsKeyFrame(slot: slot)
  }
}
