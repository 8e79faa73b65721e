internal import Media
internal import Model

/// What is taken out of what waits, where not all of it can leave in its time: first what no other frame refers to, then what has waited for
/// too long, with what can't be decoded without it.
///
///     slot 0   0 2 1 2 0 2 1 2     layers of frame rate; 2 is free
///              0 · 1 · 0 · 1 ·     behind 100 ms
///              0 · × · 0 · · ·     1 has waited for 300 ms: it is gone on to where the source says so
///              ×                   0 has: nothing leaves before a key frame
extension Peer {
  @inline(never)
  mutating func dropOverdue(now: Instant, _ context: inout PeerContext) {
    while let slot = egress.queue.takeFree(now: now, longer: Self.longWait) { shedWaiting(slot) }
    // Each walks through all that waits in its slot.
    var walks = 0
    while let overdue = egress.queue.takeOverdue(now: now) {
      walks += 1
      if walks > Self.mostWalks || !goesOn(without: overdue, now: now, &context) {
        cutOff(overdue, now: now, &context)
      }
    }
  }
  private static var mostWalks: Int { 16 }

  // MARK: - What no other refers to

  /// Takes out all pictures of a slot that no other refers to and that haven't begun.
  private mutating func shedWaiting(_ slot: Int) {
    var walk = session.shedding(slot: slot)
    var (place, before) = (egress.queue.begin(ofSlot: slot), Int32(-1))
    var picture: CutPicture?
    var isFree = false
    while place >= 0 {
      let departure = egress.queue[place]
      var isOfPicture = picture?.has(departure.frame, departure.selection) ?? false
      if !isOfPicture, !departure.selection.isLate {
        let next = waitingPicture(from: place)
        (picture, isOfPicture) = (next, true)
        isFree = session.isFree(next, slot: slot, in: walk)
      }
      if isOfPicture, isFree {
        place = takeOut(place, behind: before, slot: slot, &walk)
      } else {
        (before, place) = stay(place, behind: before, slot: slot, walk)
      }
    }
  }

  /// What waits of the picture that begins at a place.
  private func waitingPicture(from first: Int32) -> CutPicture {
    let departure = egress.queue[first]
    var picture = CutPicture(
      departure.frame, departure.selection, sequence: departure.packet.sequence)
    var place = egress.queue.place(behind: first)
    while place >= 0 {
      let other = egress.queue[place]
      if picture.has(other.frame, other.selection) {
        picture.add(other.frame, other.selection, sequence: other.packet.sequence)
      } else if !other.selection.isLate {
        picture.meet(other.selection, sequence: other.packet.sequence)
        break
      }
      place = egress.queue.place(behind: place)
    }
    return picture
  }

  // MARK: - What can't leave

  /// A packet can't leave, and is no longer in the queue: the rest of its picture goes with it, and what refers to that.
  /// - Returns: false where nothing of its slot can be decoded then before a key frame.
  mutating func goesOn(without departure: Departure, now: Instant, _ context: inout PeerContext) -> Bool {
    let slot = Int(departure.slot)
    // One that came late is missed in its own place, and may be asked for.
    guard session.isJoined(slot: slot), !departure.selection.isLate else { return false }
    var picture = CutPicture(
      departure.frame, departure.selection, sequence: departure.packet.sequence)
    var place = egress.queue.begin(ofSlot: slot)
    while place >= 0 {
      let other = egress.queue[place]
      if picture.has(other.frame, other.selection) {
        picture.add(other.frame, other.selection, sequence: other.packet.sequence)
      } else if !other.selection.isLate {
        picture.meet(other.selection, sequence: other.packet.sequence)
      }
      place = egress.queue.place(behind: place)
    }
    guard var walk = session.thinning(without: picture, slot: slot), canThin(slot, without: picture, walk)
    else { return false }
    context.media.counters.count(.tooLateToLeave)
    session.takeOut(
      departure.frame, departure.selection, sequence: departure.packet.sequence, slot: slot, &walk)
    thin(slot, without: picture, &walk, &context)
    flight.note(.thinned(slot: slot), now: now, context.flight)
    return true
  }

  /// Whether every picture that a walk takes out can go, before it takes out any.
  private mutating func canThin(_ slot: Int, without picture: CutPicture, _ walk: StreamThinning) -> Bool {
    guard walk.isBlocking else { return true }
    var walk = walk
    var place = egress.queue.begin(ofSlot: slot)
    var present: CutPicture?
    var isTaken = false
    while place >= 0 {
      var departure = egress.queue[place]
      if !departure.selection.isLate, !picture.has(departure.frame, departure.selection) {
        let isBlocked = walk.blocks(departure.frame, departure.selection)
        if let present, present.has(departure.frame, departure.selection) {
          guard isBlocked == isTaken || departure.frame.namesReferences else { return false }
        } else {
          let next = waitingPicture(from: place)
          (present, isTaken) = (next, isBlocked)
          guard !isBlocked || session.canGo(next, slot: slot) else { return false }
        }
        if !isBlocked { walk.pass(departure.frame, &departure.selection) }
      }
      place = egress.queue.place(behind: place)
    }
    return true
  }

  private mutating func thin(
    _ slot: Int, without picture: CutPicture, _ walk: inout StreamThinning, _ context: inout PeerContext
  ) {
    var (place, before) = (egress.queue.begin(ofSlot: slot), Int32(-1))
    while place >= 0 {
      let departure = egress.queue[place]
      let isCut = picture.has(departure.frame, departure.selection)
      if isCut { context.media.counters.count(.tooLateToLeave) }
      if isCut || walk.blocks(departure.frame, departure.selection) {
        place = takeOut(place, behind: before, slot: slot, &walk)
      } else {
        walk.pass(departure.frame, &egress.queue[place].selection)
        (before, place) = stay(place, behind: before, slot: slot, walk)
      }
    }
    session.finish(walk, slot: slot)
  }

  /// - Returns: the place behind it.
  private mutating func takeOut(
    _ place: Int32, behind before: Int32, slot: Int, _ walk: inout StreamThinning
  ) -> Int32 {
    let taken = egress.queue[place]
    session.takeOut(taken.frame, taken.selection, sequence: taken.packet.sequence, slot: slot, &walk)
    if before >= 0 {
      let kept = egress.queue[before]
      egress.queue[before].selection = StreamThinning.ended(
        kept.frame, kept.selection, without: taken.frame, taken.selection)
    }
    return egress.queue.remove(place, behind: before, ofSlot: slot)
  }

  /// - Returns: the last that stays so far, and the place behind it.
  private mutating func stay(
    _ place: Int32, behind before: Int32, slot: Int, _ walk: StreamThinning
  ) -> (before: Int32, place: Int32) {
    guard walk.isMoving else { return (place, egress.queue.place(behind: place)) }
    let kept = egress.queue[place]
    guard
      let moved = session.movedUp(kept.selection, sequence: kept.packet.sequence, slot: slot, walk)
    else { return (before, egress.queue.remove(place, behind: before, ofSlot: slot)) }
    egress.queue[place].selection = moved
    return (place, egress.queue.place(behind: place))
  }

  /// Nothing of a slot leaves before a key frame: what lies behind would only hold up that one.
  mutating func cutOff(_ departure: Departure, now: Instant, _ context: inout PeerContext) {
    let slot = Int(departure.slot)
    // It waits already where the source is another by now, and no other is asked for.
    if !departure.isUrgent, !departure.selection.isLate, session.isJoined(slot: slot),
      egress.queue.hasJoint(ofSlot: slot)
    {
      context.media.counters.count(.tooLateToLeave)
      while egress.queue.takeContinuation(ofSlot: slot) != nil {
        context.media.counters.count(.tooLateToLeave)
      }
      return
    }
    drop(departure, now: now, &context)
    guard session.needsKeyFrame(slot: slot) || session.isPaused(slot: slot) else { return }
    while let useless = egress.queue.takeContinuation(ofSlot: slot) { drop(useless, now: now, &context) }
  }

  mutating func drop(_ departure: Departure, now: Instant, _ context: inout PeerContext) {
    let slot = Int(departure.slot)
    session.drop(departure.selection, departure.packet.sequence, slot: slot, context: &context.media)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.cutUnasked) { return }
    #endif
    // A pause that came first doesn't make a key frame one that got through.
    let isBroken =
      session.needsKeyFrame(slot: slot) || departure.isUrgent && session.isPaused(slot: slot)
    guard isBroken, !egress.cut.contains(slot) else { return }
    egress.cut.append(slot)
    session.noteCut(slot: slot, isKeyFrame: departure.isUrgent)
    flight.note(.cut(slot: slot), now: now, context.flight)
  }
}
