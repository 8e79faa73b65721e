internal import Calls
internal import HTTPServer
internal import Synchronization

/// What readers of people's events wait for: one signal for all devices of a person.
final class CallFeeds: Sendable {
  private struct Place { weak var feed: CallFeed? }

  private let places = Mutex<[PersonID: Place]>([:])

  func feed(of person: PersonID) -> CallFeed {
    places.withLock { places in
      if let feed = places[person]?.feed { return feed }
      let feed = CallFeed { [weak self] in self?.tidy(person) }
      places[person] = Place(feed: feed)
      return feed
    }
  }

  /// People have events that they haven't heard.
  func wake(_ people: Set<PersonID>) {
    let feeds = places.withLock { places in people.compactMap { places[$0]?.feed } }
    for feed in feeds { feed.wake() }
  }

  /// Whether somebody reads a person's events now.
  func isOpen(_ person: PersonID) -> Bool { places.withLock { $0[person]?.feed != nil } }

  private func tidy(_ person: PersonID) {
    // What was made again may end here, and then comes back to this: not while the table is locked.
    _ = places.withLock { places -> CallFeed? in
      let feed = places[person]?.feed
      if feed == nil { places[person] = nil }
      return feed
    }
  }
}

/// Held by its readers, and gone with the last of them.
final class CallFeed: Sendable {
  let signal = HTTPBodySignal()
  private let news = Atomic<UInt64>(1)
  private let isGone: @Sendable () -> Void

  init(isGone: @escaping @Sendable () -> Void) { self.isGone = isGone }

  deinit { isGone() }

  /// How often there was something: more than a reader has seen, and it looks again.
  var count: UInt64 { news.load(ordering: .acquiring) }

  func wake() {
    news.add(1, ordering: .releasing)
    signal.raise()
  }
}
