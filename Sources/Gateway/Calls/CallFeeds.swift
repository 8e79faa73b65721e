internal import CallDesk
internal import Calls
internal import HTTPServer
internal import Synchronization

/// What readers of people's events wait for: one signal for all devices of a person.
final class CallFeeds: Sendable {
  private struct Place { weak var feed: CallFeed? }
  /// A function that is itself the value of a generic type is wrapped again each time it is looked at in place, and each call goes
  /// through all of its wrappers; as a member of a structure it stays as it is.
  private struct Listener { var body: (@Sendable (PersonID) -> Void)? }

  private let places = Mutex<[PersonID: Place]>([:])
  private let listener = Mutex(Listener())

  /// From now on it is called as a device of a person begins to read events, and as one no longer does.
  func onReaders(_ body: @escaping @Sendable (PersonID) -> Void) { listener.withLock { $0.body = body } }

  func feed(of person: PersonID) -> CallFeed {
    places.withLock { places in
      if let feed = places[person]?.feed { return feed }
      let feed = CallFeed(
        isChanged: { [weak self] in self?.listener.withLock { $0.body }?(person) },
        isGone: { [weak self] in self?.tidy(person) })
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
  func isOpen(_ person: PersonID) -> Bool { found(person) != nil }

  /// Which of a person's devices read its events now.
  func readers(of person: PersonID) -> EventReaders { found(person)?.devices ?? EventReaders() }

  /// It is handed out of the lock: the last reference to it must not go while the table is locked.
  private func found(_ person: PersonID) -> CallFeed? { places.withLock { $0[person]?.feed } }

  /// How many people's events are read now, or were a moment ago.
  var count: Int { places.withLock { $0.count } }

  /// Those whose events are read now, in the order of their ids' bytes.
  func people(after person: PersonID?) -> [PersonID] {
    let feeds = places.withLock { places in
      places.compactMap { person, place in place.feed.map { (person, $0) } }
    }
    let open = feeds.map(\.0)
    let start = Array((person?.text ?? "").utf8)
    return open.map { ($0, Array($0.text.utf8)) }.filter { start.lexicographicallyPrecedes($0.1) }
      .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
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
  /// How many there are of each; nil: of those that don't say which device they are.
  private let readers = Mutex<[DeviceID?: Int]>([:])
  private let isChanged: @Sendable () -> Void
  private let isGone: @Sendable () -> Void

  init(isChanged: @escaping @Sendable () -> Void = {}, isGone: @escaping @Sendable () -> Void) {
    self.isChanged = isChanged
    self.isGone = isGone
  }

  deinit { isGone() }

  /// How often there was something: more than a reader has seen, and it looks again.
  var count: UInt64 { news.load(ordering: .acquiring) }

  var devices: EventReaders {
    readers.withLock { readers in
      EventReaders(Set(readers.keys.compactMap { $0 }), isAnyUnnamed: readers[DeviceID?.none] != nil)
    }
  }

  /// - Returns: false: there are so many already, and it isn't one of them.
  @discardableResult
  func begin(_ device: DeviceID?, most: Int = .max) -> Bool {
    let (hasBegun, isFirst) = readers.withLock { readers -> (Bool, Bool) in
      guard readers.values.reduce(0, +) < most else { return (false, false) }
      readers[device, default: 0] += 1
      return (true, readers[device] == 1)
    }
    if isFirst { isChanged() }
    return hasBegun
  }

  func end(_ device: DeviceID?) {
    let wasLast = readers.withLock { readers in
      let left = (readers[device] ?? 1) - 1
      readers[device] = left > 0 ? left : nil
      return left <= 0
    }
    if wasLast { isChanged() }
  }

  func wake() {
    news.add(1, ordering: .releasing)
    signal.raise()
  }
}
