internal import HTTPServer
internal import Rooms
internal import Synchronization

/// What readers of events wait for: one signal for all readers of a room, and one for those of all rooms, each raised by one watch
/// on the log. So an event costs its room the same whether one reads it or a thousand do.
final class EventFeeds: Sendable {
  private struct Place { weak var feed: EventFeed? }

  private let log: EventLog
  private let places = Mutex<[RoomID?: Place]>([:])

  init(of log: EventLog) { self.log = log }

  /// - Parameter room: nil: all of them.
  func feed(of room: RoomID?) -> EventFeed {
    places.withLock { places in
      if let feed = places[room]?.feed { return feed }
      let signal = HTTPBodySignal()
      let feed = EventFeed(signal, log.watch(room) { signal.raise() }) { [weak self] in self?.tidy(room) }
      places[room] = Place(feed: feed)
      return feed
    }
  }

  /// How many are watched.
  var count: Int { places.withLock { $0.count } }

  /// No reader has it any more, unless it was made again.
  private func tidy(_ room: RoomID?) {
    // What was made again may end here, and then comes back to this: not while the table is locked.
    _ = places.withLock { places -> EventFeed? in
      let feed = places[room]?.feed
      if feed == nil { places[room] = nil }
      return feed
    }
  }
}

/// Held by its readers, and gone with the last of them.
final class EventFeed: Sendable {
  let signal: HTTPBodySignal
  private let watch: EventWatch
  private let isGone: @Sendable () -> Void

  init(_ signal: HTTPBodySignal, _ watch: EventWatch, isGone: @escaping @Sendable () -> Void) {
    self.signal = signal
    self.watch = watch
    self.isGone = isGone
  }

  deinit { isGone() }
}
