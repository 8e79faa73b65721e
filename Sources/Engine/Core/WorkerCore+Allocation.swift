internal import Congestion
internal import Media
internal import Model
internal import Peer

/// What every slot shows of what its track has, within what the path to its subscriber carries.
extension WorkerCore {
  /// Shares out what the paths of all peers carry, whose time has come.
  mutating func allocate(now: Instant) {
    for place in peers.occupied
    where peers.pointer(place).pointee.takesMedia && feeds.slotCount(at: place) > 0 {
      allocate(place, now: now)
    }
  }

  /// The same before its time, for those who are shown one of these tracks.
  mutating func allocate(now: Instant, showing tracks: Set<TrackKey>) {
    for place in peers.occupied where peers.pointer(place).pointee.takesMedia {
      let isShown = (0..<feeds.slotCount(at: place)).contains {
        feeds.feed(ofSlot: $0, at: place).map { tracks.contains(feeds.pointer($0).pointee.key.track) }
          ?? false
      }
      if isShown { allocate(place, now: now) }
    }
  }

  private mutating func allocate(_ place: Int, now: Instant) {
    let slots = (0..<feeds.slotCount(at: place)).filter { feeds.feed(ofSlot: $0, at: place) != nil }
    guard !slots.isEmpty else { return peers.pointer(place).pointee.want(0, next: nil, room: nil) }
    let demands = slots.map { demand(place, slot: $0) }
    let known = peers.pointer(place).pointee.capacity(
      now: now, heedsReports: context.heedsReports)
    #if PLANTED_DEFECTS
      let isIgnored = PlantedDefect.isOn(.targetIgnored)
      let target = isIgnored ? .infinity : known ?? .infinity
    #else
      let target = known ?? .infinity
    #endif
    if let known { times.targets.note(UInt64(max(known, 0))) }
    let repairs = repairs(place)
    let allocation = Allocator.allocate(budget(place, of: target), demands, now: now)
    peers.pointer(place).pointee.want(
      allocation.wanted + repairs, next: allocation.next.map { $0 + repairs },
      room: allocation.room.map { $0 + repairs })
    let isOver = isOver(allocation, demands, place, target: target)
    for slot in allocation.slots { apply(slot, place, isOver: isOver, now: now) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.audioPaused) {
        for slot in slots where peers.pointer(place).pointee.kind(ofSlot: slot) == .audio {
          _ = peers.pointer(place).pointee.setPaused(slot: slot, allocation.next != nil)
        }
      }
    #endif
  }

  /// Whether what leaves is more than the target, as long as slots show a better encoding than they are allotted: it goes on until the
  /// other one's key frame is there, which may take its publisher a while.
  private func isOver(
    _ allocation: Allocation, _ demands: [SlotDemand], _ place: Int, target: Double
  ) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.formerUncounted) { return false }
    #endif
    var rate = 0.0
    for (slot, demand) in zip(allocation.slots, demands) {
      guard let option = slot.option else { continue }
      let shown = feeds.feed(ofSlot: slot.slot, at: place).map { feeds.pointer($0).pointee.key.encoding }
      let former = demand.options.last { $0.encoding == shown && $0.encoding != option.encoding }
      rate += max(option.rate, former?.rate ?? 0)
    }
    return rate > target
  }

  func demand(_ place: Int, slot: Int) -> SlotDemand {
    let feed = feeds.pointer(feeds.feed(ofSlot: slot, at: place)!)
    let memory = peers.pointer(place).pointee.memory(ofSlot: slot)
    guard feed.pointee.kind == .video else {
      return SlotDemand(slot: slot, kind: .audio, options: [sound(place, slot: slot)], memory: memory)
    }
    let traits = feeds.groups.layers(of: feed.pointee.key)?.traits ?? []
    let most = peers.pointer(place).pointee.mostSpatial(ofSlot: slot)
    var options = feeds.groups.options(of: feed.pointee.key)
    if options.contains(where: { $0.spatial > most }) { options.removeAll { $0.spatial > most } }
    var demand = SlotDemand(slot: slot, kind: .video, options: options, memory: memory)
    demand.isScreen = traits.contains(.screen)
    demand.isSpeaking = traits.contains(.speaking)
    demand.picture = peers.pointer(place).pointee.picture(ofSlot: slot)
    return demand
  }

  /// What there is for media: packets that are sent again take from it.
  func budget(_ place: Int, of target: Double) -> Double { max(target - repairs(place), target / 2) }

  private func repairs(_ place: Int) -> Double {
    peers.key(place).map { slotRates.repairs(place, $0) } ?? 0
  }

  /// What a slot's sound takes. Of thirty participants few speak: what is silent takes next to nothing.
  private func sound(_ place: Int, slot: Int) -> LayerOption {
    let measured = peers.key(place).flatMap { slotRates.reserve(place, $0, slot: slot) }
    let rate = measured.map { $0 * Self.sealing } ?? Self.unmeasured
    return LayerOption(rate: rate, peak: rate)
  }

  /// Of sound that has just begun.
  private static let unmeasured = 56_000.0
  /// What SRTP and header extensions add.
  private static let sealing = 1.15

  private mutating func apply(_ allotted: Allocation.Slot, _ place: Int, isOver: Bool, now: Instant) {
    let slot = allotted.slot
    let before = peers.pointer(place).pointee.memory(ofSlot: slot)
    let wasStarved = before.isStarved
    // After a move, or where another source begins, the room believes what it heard last. Of a source that is silent nothing is known.
    let isNews =
      wasStarved != allotted.memory.isStarved || !before.isSaid && allotted.reason != .silent
    var memory = allotted.memory
    memory.isSaid = before.isSaid || isNews
    peers.pointer(place).pointee.setMemory(slot: slot, memory)
    guard let feed = feeds.feed(ofSlot: slot, at: place), feeds.pointer(feed).pointee.kind == .video else {
      return
    }
    record(allotted, before: (before.shown, wasStarved), place, now: now)
    if isNews, let key = peers.key(place) {
      let flow = SlotFlow(
        track: feeds.pointer(feed).pointee.key.track, isStarved: allotted.memory.isStarved)
      events.note(key) { $0.slots[UInt16(slot)] = flow }
    }
    // Of a track that sends nothing, or of which nothing is known yet after a move, no pause is ended.
    let wasPaused = peers.pointer(place).pointee.isPaused(slot: slot)
    var pauses =
      allotted.memory.isStarved || allotted.reason == .off || wasPaused && allotted.reason == .silent
    // All who get the track pay for the key frame with which a pause ends.
    if wasPaused, !pauses { pauses = !peers.pointer(place).pointee.beginsPicture(slot: slot, now: now) }
    let consumer = TrackFeed.Consumer.here(.slot(place: place, slot: slot))
    if peers.pointer(place).pointee.setPaused(slot: slot, pauses) {
      keyFrameNeeded(by: consumer, of: feed, now: now)
    } else if !pauses, peers.pointer(place).pointee.takesUpPicture(slot: slot, now: now) {
      keyFrameNeeded(by: consumer, of: feed, now: now)
    }
    // A slot that was off when its source was set is already paused, and may be fed from any encoding until the layers are known.
    #if PLANTED_DEFECTS
      let stands = PlantedDefect.isOn(.offStandsAnywhere)
    #else
      let stands = false
    #endif
    if pauses, !wasPaused || allotted.reason == .off && !stands { rest(place, slot: slot) }
    if pauses, allotted.reason == .off { peers.pointer(place).pointee.forgetWaiting(slot: slot) }
    if !pauses, let option = allotted.option { show(option, allotted, place, isOver: isOver, now: now) }
  }

  /// Has a slot show what it is allotted, which isn't paused.
  /// - Parameter isOver: more leaves than the path carries.
  private mutating func show(
    _ option: LayerOption, _ allotted: Allocation.Slot, _ place: Int, isOver: Bool, now: Instant
  ) {
    let slot = allotted.slot
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    let shown = feeds.pointer(feed).pointee.key
    let known = feeds.groups.layers(of: shown)
    let layers = known?.bounds(option) ?? (.max, .max)
    let sheds =
      (allotted.reason == .bandwidth || isOver) && known?.isBelow(option.encoding, shown.encoding) ?? false
    let hasSizes = known?.hasSizes(option.encoding) ?? false
    let spatial = hasSizes ? mostLayer(layers.spatial, option, allotted, place, now: now) : layers.spatial
    let isOverdue = peers.pointer(place).pointee.setLayers(
      slot: slot, of: option.encoding, spatial: spatial, temporal: layers.temporal, sheds: sheds, now: now)
    // What has no room, or has stopped, has to go on elsewhere, however often; all else its subscriber asks for.
    let isForced = sheds || known?.isActive(shown.encoding) == false
    goOn(place, slot: slot, to: option.encoding, isForced: isForced, now: now)
    // What waits for the lower encoding's key frame shows nothing until it is there.
    guard isOverdue, peers.pointer(place).pointee.giveUpEncoding(slot: slot),
      let former = feeds.goOn(place, slot: slot)
    else { return }
    if let unused = feeds.leave(former, place: place, slot: slot) { drop(unused) }
  }

  /// Up to which layer of size a slot is to show the encoding that it has: all who get the track pay for the key frame that another
  /// takes. What has no room goes, however often, since what comes back is paid for.
  private mutating func mostLayer(
    _ spatial: UInt8, _ option: LayerOption, _ allotted: Allocation.Slot, _ place: Int, now: Instant
  ) -> UInt8 {
    let peer = peers.pointer(place)
    guard
      let way = peer.pointee.layerCrossing(slot: allotted.slot, of: option.encoding, spatial: spatial)
    else { return spatial }
    if allotted.reason == .bandwidth, way.nextLayer < way.layer { return spatial }
    let begins = peer.pointee.beginsPicture(slot: allotted.slot, crossing: way, now: now)
    return begins ? spatial : way.layer
  }
}

extension TrackLayers {
  /// Each layer of each encoding that comes, from the cheapest to the best.
  var options: [LayerOption] {
    var options: [LayerOption] = []
    for number in ranking {
      let encoding = encodings[Int(number)]
      for layer in encoding.layers {
        let picture = layer.picture.pixels > 0 ? layer.picture : encoding.picture
        // The cheapest is for those who have nothing: it is shown as it is.
        let assumed = options.isEmpty ? 0 : layer.assumed
        // Of a second that was measured one picture may have come just before.
        let frameRate = layer.frameRate == 0 ? 0 : UInt8(clamping: Int(layer.frameRate) + 1)
        options.append(
          LayerOption(
            encoding: number, spatial: layer.spatial, temporal: layer.temporal, width: picture.width,
            height: picture.height, frameRate: frameRate, rate: Double(max(layer.rate, assumed)),
            peak: Double(max(layer.peak, assumed)), steady: Double(layer.steady)))
      }
    }
    return options
  }

  /// Whether an encoding has layers of size.
  fileprivate func hasSizes(_ encoding: UInt8) -> Bool {
    encodings.indices.contains(Int(encoding))
      && encodings[Int(encoding)].layers.contains { $0.spatial > 0 }
  }

  fileprivate func isActive(_ encoding: UInt8) -> Bool {
    encodings.indices.contains(Int(encoding)) && encodings[Int(encoding)].isActive
  }

  /// Whether an encoding is cheaper than another; of one that has stopped nothing is known.
  fileprivate func isBelow(_ encoding: UInt8, _ other: UInt8) -> Bool {
    guard encoding != other, let place = ranking.firstIndex(of: encoding),
      let above = ranking.firstIndex(of: other)
    else { return false }
    return place < above
  }

  /// Up to which layers an option goes. The highest that is known is shown with all that come above it before they are measured.
  fileprivate func bounds(_ option: LayerOption) -> (spatial: UInt8, temporal: UInt8) {
    guard encodings.indices.contains(Int(option.encoding)) else { return (.max, .max) }
    let known = encodings[Int(option.encoding)].layers
    return (
      known.allSatisfy { $0.spatial <= option.spatial } ? .max : option.spatial,
      known.allSatisfy { $0.temporal <= option.temporal } ? .max : option.temporal
    )
  }
}
