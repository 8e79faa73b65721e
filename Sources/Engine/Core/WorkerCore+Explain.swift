internal import Congestion
internal import Media
internal import Model
internal import Peer

/// Why subscribers get what they get.
extension WorkerCore {
  /// What is known of those that are asked about, as far as they are here.
  mutating func explain(_ question: MediaQuestion, now: Instant) -> WorkerExplanation {
    var answer = WorkerExplanation()
    for key in question.peers {
      if let place = peers.find(key) { answer.peers.append(explain(place, key, now: now)) }
    }
    for track in question.tracks {
      for feed in feeds.encodings(of: track) {
        let entry = feeds.pointer(feed)
        answer.feeds.append(
          FeedExplanation(
            track: entry.pointee.key, keyFrame: entry.pointee.picture.lastKeyFrame,
            request: entry.pointee.lastRequest))
      }
    }
    return answer
  }

  /// The allocation is a pure function: asked once more, with what it remembers, it says what it would decide now.
  private func explain(_ place: Int, _ key: PeerKey, now: Instant) -> PeerExplanation {
    let peer = peers.pointer(place)
    var found = PeerExplanation(peer: key, roundTrip: peer.pointee.session.roundTrip)
    found.takesMedia = peer.pointee.takesMedia
    found.target = peer.pointee.target(now: now, heedsReports: context.heedsReports)
    found.acknowledged = peer.pointee.session.estimator.arriving
    found.loss = peer.pointee.session.estimator.loss
    found.probe = peer.pointee.session.estimator.lastProbe
    let slots = (0..<feeds.slotCount(at: place)).filter { feeds.feed(ofSlot: $0, at: place) != nil }
    // By what the allocation goes, not by what a queue takes of it for a moment.
    let target = peer.pointee.capacity(now: now, heedsReports: context.heedsReports) ?? .infinity
    let demands = slots.map { demand(place, slot: $0) }
    let allocation = Allocator.allocate(budget(place, of: target), demands, now: now)
    (found.allotted, found.wanted, found.next) = (allocation.rate, allocation.wanted, allocation.next)
    for (demand, allotted) in zip(demands, allocation.slots) {
      found.slots.append(explain(demand, allotted, place, key, target: target, now: now))
    }
    return found
  }

  private func explain(
    _ demand: SlotDemand, _ allotted: Allocation.Slot, _ place: Int, _ key: PeerKey, target: Double,
    now: Instant
  ) -> SlotExplanation {
    let slot = demand.slot
    let peer = peers.pointer(place)
    let feed = feeds.pointer(feeds.feed(ofSlot: slot, at: place)!)
    let track = feed.pointee.key
    var found = SlotExplanation(slot: UInt16(slot), track: track.track)
    found.reason = allotted.reason
    found.isHeld = allotted.reason == .bandwidth && demand.memory.isHeld(target, now: now)
    found.isPaused = peer.pointee.isPaused(slot: slot)
    found.needsKeyFrame = peer.pointee.needsKeyFrame(slot: slot)
    found.bitrate = slotRates.rate(place, key, slot: slot)
    let reports = peer.pointee.reports(ofSlot: slot)
    found.loss = Double(reports.fractionLost) / 256
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.explainsLossAsWritten) { found.loss = Double(reports.fractionLost) }
    #endif
    found.roundTrip = reports.roundTrip
    guard demand.kind == .video else { return found }
    found.picture = demand.picture
    found.next = peer.pointee.nextEncoding(ofSlot: slot)
    found.best = demand.options.last
    guard let layers = feeds.groups.layers(of: track) else { return found }
    found.missingEncodings = layers.encodings.count - layers.ranking.count
    if !found.isPaused { found.sent = sent(slot, place, demand.options) }
    return found
  }

  /// The layer that leaves: of the encoding that the stream shows, the best up to where its filter cuts.
  private func sent(_ slot: Int, _ place: Int, _ options: [LayerOption]) -> LayerOption? {
    let peer = peers.pointer(place)
    let encoding = peer.pointee.encoding(ofSlot: slot)
    let (spatial, temporal) = peer.pointee.shownLayers(ofSlot: slot)
    return options.last {
      $0.encoding == encoding && $0.spatial <= spatial && $0.temporal <= temporal
    }
  }

  /// Looks at how much has left in each slot.
  mutating func sampleSlots(now: Instant) {
    for place in peers.occupied {
      guard let key = peers.key(place), peers.pointer(place).pointee.takesMedia else { continue }
      let count = feeds.slotCount(at: place)
      guard count > 0 else { continue }
      var counts: [(slot: Int, packets: UInt32, octets: UInt32)] = []
      for slot in 0..<count where feeds.feed(ofSlot: slot, at: place) != nil {
        let reports = peers.pointer(place).pointee.reports(ofSlot: slot)
        counts.append((slot, reports.packets, reports.octets))
      }
      slotRates.sample(place, key, now: now, counts, repaired: peers.pointer(place).pointee.repaired)
    }
  }
}
