internal import CallDesk
internal import Calls
internal import Model
internal import Synchronization

/// Who is connected to the rooms of calls, and gets the events of the shared sessions in which they take part.
///
/// Who takes part is what the event itself says, as it was when that was decided. An event of a room in which no one listens is let
/// go: it is in the store, where each reader begins.
final class SessionFeeds: Sendable {
  private struct Place {
    var lines: [PersonID: [SessionLine]] = [:]
    /// Of sessions that had an event since the first line was opened, until they are over.
    var orders: [CallUUID: SessionOrder] = [:]
  }

  private let places = Mutex<[ExactName: Place]>([:])
  private let pause: @Sendable (Duration) async -> Void

  init(pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }) {
    self.pause = pause
  }

  /// From here on all that happens comes.
  func open(_ person: PersonID, in room: String) -> SessionLine {
    let line = SessionLine(person, in: room)
    places.withLock { $0[ExactName(room), default: Place()].lines[person, default: []].append(line) }
    return line
  }

  func close(_ line: SessionLine) {
    places.withLock { places in
      let room = ExactName(line.room)
      places[room]?.lines[line.person]?.removeAll { $0 === line }
      if places[room]?.lines[line.person]?.isEmpty == true { places[room]?.lines[line.person] = nil }
      if places[room]?.lines.isEmpty == true { places[room] = nil }
    }
    line.finish()
  }

  /// Rooms in which somebody listens, and sessions in them that are followed.
  var counts: (rooms: Int, sessions: Int) {
    places.withLock { places in (places.count, places.values.reduce(0) { $0 + $1.orders.count }) }
  }

  /// Something has happened, in whichever order it is said.
  func hand(_ events: [Aftermath.Shared]) {
    guard !events.isEmpty else { return }
    // Under the lock to the very lines: of two threads the one that is first in an order is first at each of them.
    let gaps = places.withLock { places in
      var gaps: [(shared: Aftermath.Shared, gap: Int)] = []
      for shared in events {
        guard let room = shared.room.map({ ExactName($0) }), places[room] != nil else { continue }
        let before = places[room]?.orders[shared.session]?.gap ?? 0
        let out = places[room]?.orders[shared.session, default: SessionOrder()].take(shared) ?? []
        let gap = places[room]?.orders[shared.session]?.gap ?? 0
        if gap > before { gaps.append((shared, gap)) }
        deliver(out, &places, room)
      }
      return gaps
    }
    for (shared, gap) in gaps {
      Task { [self] in
        await pause(SessionOrder.patience)
        giveUp(shared, gap)
      }
    }
  }

  /// What a session waited for hasn't come.
  private func giveUp(_ shared: Aftermath.Shared, _ gap: Int) {
    places.withLock { places in
      guard let room = shared.room.map({ ExactName($0) }),
        let order = places[room]?.orders[shared.session], order.gap == gap, order.waits
      else { return }
      deliver(places[room]?.orders[shared.session]?.giveUp() ?? [], &places, room)
    }
  }

  private func deliver(
    _ events: [Aftermath.Shared], _ places: inout [ExactName: Place], _ room: ExactName
  ) {
    for shared in events {
      let text = SessionText(shared)
      for person in shared.people {
        for line in places[room]?.lines[person] ?? [] { line.put(text) }
      }
      if shared.event.isLast { places[room]?.orders[shared.session] = nil }
    }
  }
}

extension SharedEvent {
  /// Nothing follows it.
  fileprivate var isLast: Bool {
    sender == nil && type == SystemEvent(seq: seq, what: .ended).type
  }
}
