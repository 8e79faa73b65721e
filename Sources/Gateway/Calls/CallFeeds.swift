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

  /// Whether a person's events are read now.
  func isOpen(_ person: PersonID) -> Bool { places.withLock { $0[person]?.feed != nil } }

  /// Those of a person's devices that read its events now, as far as they have said which they are.
  func devices(of person: PersonID) -> Set<DeviceID> {
    places.withLock { $0[person]?.feed }?.devices ?? []
  }

  /// Those whose events are read now, in the order of their ids' bytes.
  func people(after person: PersonID?, limit: Int) -> [PersonID] {
    let open = places.withLock { places in places.compactMap { $0.value.feed == nil ? nil : $0.key } }
    let start = Array((person?.text ?? "").utf8)
    return Array(
      open.map { ($0, Array($0.text.utf8)) }.filter { start.lexicographicallyPrecedes($0.1) }
        .sorted { $0.1.lexicographicallyPrecedes($1.1) }.prefix(limit).map(\.0))
  }

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
  private let readers = Mutex<[DeviceID: Int]>([:])
  private let isGone: @Sendable () -> Void

  init(isGone: @escaping @Sendable () -> Void) { self.isGone = isGone }

  deinit { isGone() }

  /// How often there was something: more than a reader has seen, and it looks again.
  var count: UInt64 { news.load(ordering: .acquiring) }

  var devices: Set<DeviceID> { readers.withLock { Set($0.keys) } }

  func begin(_ device: DeviceID) { readers.withLock { $0[device, default: 0] += 1 } }

  func end(_ device: DeviceID) {
    readers.withLock { readers in
      let left = (readers[device] ?? 1) - 1
      readers[device] = left > 0 ? left : nil
    }
  }

  func wake() {
    news.add(1, ordering: .releasing)
    signal.raise()
  }
}
