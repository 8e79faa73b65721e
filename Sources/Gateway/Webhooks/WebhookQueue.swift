package import Model

/// What is still to be said to one URL, in the order of each room; given the time, it says what to send or to read, and when to look
/// again.
///
/// It is a window on the store. Of a room that gets through, the next notices are here; of one that doesn't, or has many more, only
/// where they go on in the store, from where they are read when it is their turn. So nothing is given up for want of memory.
///
/// Of a room one notice is on its way at a time, and the next leaves once it has arrived, so the order holds however often one is
/// sent again. Rooms don't wait for each other: one whose notice is refused is tried again later, and later, while others go on.
/// Only when nothing gets through at all the URL as a whole is left alone for a while, and then tried by one.
package struct WebhookQueue: Sendable {
  package private(set) var counters = Counters()
  /// Of all that is here, with what a room takes for itself.
  package private(set) var bytes = 0
  private var settled: [Settled] = []
  private let limits: Limits
  private var rooms: [String: WebhookRoom] = [:]
  /// Rooms that may have a turn, those first that have had none for longest.
  private var ready: [String] = []
  /// Rooms whose next notice is to be tried again, by the moment.
  private var paused: [(until: Instant, room: String)] = []
  private var underWay = 0
  /// Failures one after the other, of whatever rooms; of one room alone, 1.
  private var failures = 0
  /// The room of the first of them.
  private var failed: String?
  private var pausedUntil = Instant(nanoseconds: .min)
  /// While the URL is left alone: when a room that hasn't failed may be tried all the same.
  private var freshUntil = Instant(nanoseconds: .min)
  /// As the receiver has asked for; time alone ends it.
  private var askedUntil = Instant(nanoseconds: .min)
  private var givenUp: UInt64 = 0

  package init(limits: Limits = Limits()) { self.limits = limits }

  /// How many notices wait, here and in the store: about, where some of the store's were given up.
  package var count: Int { rooms.values.reduce(0) { $0 + $1.count } }
  package var isEmpty: Bool { rooms.isEmpty }
  /// Whether more is to be read of what has happened in all rooms.
  package var hasSpace: Bool { bytes < limits.bytes }

  // MARK: - What comes

  /// A further event of its room.
  /// - Parameter body: asked for where the notice is kept here.
  package mutating func add(_ id: EventID, at position: UInt64, body: () -> [UInt8]) {
    guard position > givenUp else { return }
    let mark = Mark(number: id.number, position: position)
    if rooms[id.roomId] == nil {
      rooms[id.roomId] = WebhookRoom(last: mark)
      bytes += WebhookRoom.bytes
      ready.append(id.roomId)
    }
    rooms[id.roomId]?.know(mark)
    let isKept = rooms[id.roomId].map { $0.left == nil && $0.bytes < limits.roomBytes } ?? false
    if isKept {
      keep(Notice(id: id, position: position, body: body()))
    } else {
      rooms[id.roomId]?.leave(from: mark)
    }
  }

  /// What the store has of a room that was to be read.
  /// - Parameters:
  ///   - notices: the first of its span; some may be gone.
  ///   - rest: from where on there is more of the span; nil: there is none.
  package mutating func came(_ notices: [Notice], rest: Mark?, of room: String) {
    guard rooms[room]?.turn == .reading else { return }
    underWay -= 1
    for notice in notices where notice.position > givenUp { keep(notice) }
    rooms[room]?.hasRead(rest)
    // It has waited for its turn.
    settleDown(room, isNext: true)
  }

  /// The store can't be read.
  package mutating func cameNot(of room: String, now: Instant) {
    guard rooms[room]?.turn == .reading else { return }
    underWay -= 1
    let first = rooms[room]?.left?.first
    rooms[room]?.hasRead(first)
    settleDown(room, until: now + limits.shortestPause)
  }

  private mutating func keep(_ notice: Notice) {
    rooms[notice.id.roomId]?.append(notice)
    bytes += notice.size
  }

  /// What became of the notice of that room that was sent last.
  package mutating func answered(_ name: String, _ outcome: Outcome, now: Instant) {
    guard rooms[name]?.turn == .sending else { return }
    underWay -= 1
    if outcome == .arrived {
      counters.arrived &+= 1
      (failures, pausedUntil) = (0, now)
      drop(in: name)
      return settleDown(name)
    }
    counters.failed &+= 1
    if case .failed(let pause) = outcome {
      // One that fails alone, however often, may do so by its own fault.
      if failures == 0 { failed = name }
      if failures != 1 || failed != name { failures += 1 }
      if failures > 1 { pausedUntil = now + self.pause(after: failures - 1) }
      if let pause { askedUntil = max(askedUntil, now + min(pause, limits.longestPause)) }
    }
    let tries = rooms[name]?.fail(isRefused: outcome == .refused, now: now) ?? 1
    if let since = rooms[name]?.refusedSince, now - since >= limits.refusals {
      counters.refused &+= 1
      drop(in: name)
      return settleDown(name)
    }
    bytes -= rooms[name]?.putBack(givenUp: givenUp) ?? 0
    settleDown(name, until: now + self.pause(after: tries))
  }

  private func pause(after failures: Int) -> Duration {
    var pause = limits.shortestPause
    for _ in 1..<max(failures, 1) where pause < limits.longestPause { pause = pause * 2 }
    return min(pause, limits.longestPause)
  }

  /// The first notice of a room is done with.
  private mutating func drop(in name: String) {
    guard let dropped = rooms[name]?.drop() else { return }
    bytes -= dropped.size
    settled.append(
      Settled(id: dropped.id, position: dropped.position, next: rooms[name]?.next?.position))
  }

  /// Where a room belongs that had its turn.
  /// - Parameters:
  ///   - until: when it may have its next one; nil: at once.
  ///   - isNext: before all others.
  private mutating func settleDown(_ name: String, until: Instant? = nil, isNext: Bool = false) {
    guard let room = rooms[name] else { return }
    guard room.next != nil else {
      let last = EventID(roomId: name, number: room.last.number)
      // Its last may be one that the store doesn't have any more.
      if settled.last?.id != last {
        settled.append(Settled(id: last, position: room.last.position, next: nil))
      }
      return forget(name)
    }
    rooms[name]?.turn = until == nil ? .ready : .paused
    guard let until else { return ready.insert(name, at: isNext ? 0 : ready.count) }
    let place = paused.firstIndex { $0.until > until } ?? paused.count
    paused.insert((until, name), at: place)
  }

  private mutating func forget(_ name: String) {
    if rooms.removeValue(forKey: name) != nil { bytes -= WebhookRoom.bytes }
  }

  // MARK: - What is to be done

  /// - Parameter now: by a clock that is never stepped.
  package mutating func next(now: Instant) -> Action {
    while let first = paused.first, first.until <= now {
      paused.removeFirst()
      rooms[first.room]?.turn = .ready
      ready.append(first.room)
    }
    guard now >= askedUntil else { return .wait(until: askedUntil) }
    // As long as nothing gets through, one tries.
    guard underWay < (failures > 1 ? 1 : limits.atOnce) else { return .wait(until: .never) }
    let isEarly = now < pausedUntil
    if isEarly {
      // What fails may be those rooms' own.
      guard ready.contains(where: isFresh) else { return .wait(until: pausedUntil) }
      guard now >= freshUntil else { return .wait(until: min(freshUntil, pausedUntil)) }
    }
    while let name = takeTurn(isEarly) {
      guard let room = rooms[name] else { continue }
      guard let notice = room.head else {
        guard let left = room.left else { continue }
        underWay += 1
        rooms[name]?.beginReading()
        // Of one that may not get through its first alone.
        let isNarrow = room.failures > 0 || !hasSpace
        return .read(
          Span(room: name, first: left.first, last: left.last),
          bytes: isNarrow ? 1 : limits.roomBytes / 4)
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.noticesAtOnce) {
          drop(in: name)
          ready.append(name)
          return .send(notice)
        }
      #endif
      rooms[name]?.turn = .sending
      underWay += 1
      if isEarly { freshUntil = now + limits.freshPause }
      return .send(notice)
    }
    return .wait(until: paused.first?.until ?? .never)
  }

  /// Whether nothing of a room has failed yet: it isn't kept waiting for the sake of others, however many of them fail meanwhile.
  private func isFresh(_ name: String) -> Bool { rooms[name]?.failures == 0 }

  /// The room whose turn it is. As long as nothing gets through, those that haven't failed by themselves are before the others.
  private mutating func takeTurn(_ isEarly: Bool) -> String? {
    if isEarly { return ready.firstIndex(where: isFresh).map { ready.remove(at: $0) } }
    guard failures > 1, let fresh = ready.firstIndex(where: { rooms[$0]?.failures == 0 }) else {
      return ready.isEmpty ? nil : ready.removeFirst()
    }
    return ready.remove(at: fresh)
  }

  /// What has arrived or was given up here since it was asked for last.
  package mutating func takeSettled() -> [Settled] {
    defer { settled = [] }
    return settled
  }

  /// Of whatever room: what waits up to this position is not sent any more, unless it is on its way.
  package mutating func giveUp(upTo position: UInt64) {
    guard position > givenUp else { return }
    givenUp = position
    var gone: Set<String> = []
    for name in Array(rooms.keys) {
      bytes -= rooms[name]?.giveUp(upTo: position) ?? 0
      guard let room = rooms[name], room.next == nil, room.turn == .ready || room.turn == .paused else {
        continue
      }
      forget(name)
      gone.insert(name)
    }
    guard !gone.isEmpty else { return }
    ready.removeAll { gone.contains($0) }
    paused.removeAll { gone.contains($0.room) }
  }
}
