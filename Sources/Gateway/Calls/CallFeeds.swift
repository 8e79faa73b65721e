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
  func isOpen(_ person: PersonID) -> Bool { found(person)?.isRead ?? false }

  /// Whether a device of a person may begin to read now; see `CallFeed.admits`.
  /// - Parameter now: in milliseconds, on the clock that doesn't jump.
  func admits(_ person: PersonID, _ device: DeviceID?, at now: Int64) -> Bool {
    found(person)?.admits(device, at: now) ?? true
  }

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
    let open = feeds.filter { $0.1.isRead }.map(\.0)
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
  /// How many read at once, and how often one ends for another.
  struct Bounds: Sendable {
    /// As many as a person may have devices, and as many that are lost and not yet known to be.
    var ofPerson = 32
    /// Of a device that says which it is.
    var ofDevice = 4
    /// Within `span` milliseconds, for one device and for all of the person's together.
    var replacementsOfDevice = 8
    var replacementsOfPerson = 64
    var span: Int64 = 10_000
  }

  /// One who reads, from its beginning to its end.
  struct Place: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Reader {
    let number: UInt64
    /// nil: it doesn't say which it is.
    let device: DeviceID?
  }

  private struct Table {
    /// In the order in which they began.
    var readers: [Reader] = []
    var last: UInt64 = 0
    /// For which devices another one ended lately, in the order of the times.
    var replacements: [(device: DeviceID?, at: Int64)] = []

    func has(_ device: DeviceID?) -> Bool { readers.contains { $0.device == device } }

    /// Which one ends for another one of a device; nil: there is room. A device that begins once more has mostly lost the stream before,
    /// so that it is the oldest of its own. Where it has none, the device that has the most can spare one.
    func spared(for device: DeviceID?, within bounds: Bounds) -> Int? {
      let own = readers.indices.filter { readers[$0].device == device }
      if device != nil, own.count >= bounds.ofDevice { return own.first }
      guard readers.count >= bounds.ofPerson else { return nil }
      if let oldest = own.first { return oldest }
      let counts = Dictionary(readers.map { ($0.device, 1) }, uniquingKeysWith: +)
      let most = counts.values.max()
      return readers.firstIndex { counts[$0.device] == most }
    }
  }

  let signal = HTTPBodySignal()
  private let news = Atomic<UInt64>(1)
  private let table = Mutex(Table())
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
    let devices = table.withLock { table in table.readers.map(\.device) }
    return EventReaders(Set(devices.compactMap { $0 }), isAnyUnnamed: devices.contains(DeviceID?.none))
  }

  var isRead: Bool { table.withLock { !$0.readers.isEmpty } }

  /// Whether one may begin to read. As long as there is room it may. Where another one would end for it, it may for so many times: streams
  /// that are begun again as soon as they end would end each other for ever, and each time that costs a request and a write. A device that
  /// has no stream, and for which none has ended lately, may in any case: whatever other devices of the person do, it isn't kept out.
  /// - Parameter now: in milliseconds, on the clock that doesn't jump.
  func admits(_ device: DeviceID?, at now: Int64, within bounds: Bounds = Bounds()) -> Bool {
    table.withLock { table in
      guard table.spared(for: device, within: bounds) != nil else { return true }
      table.replacements.removeAll { now &- $0.at >= bounds.span }
      let own = table.replacements.count { $0.device == device }
      if own == 0, !table.has(device) { return true }
      return own < bounds.replacementsOfDevice && table.replacements.count < bounds.replacementsOfPerson
    }
  }

  /// One begins to read, in any case: where there are as many as may be, another one ends for it, and that is counted. One that may begin
  /// and then doesn't counts for nothing.
  /// - Parameter now: in milliseconds, on the clock that doesn't jump.
  @discardableResult
  func begin(_ device: DeviceID?, at now: Int64, within bounds: Bounds = Bounds()) -> Place {
    let (place, hasChanged, hasEnded) = table.withLock { table -> (Place, Bool, Bool) in
      let isFirst = !table.has(device)
      var spared: Reader?
      if let index = table.spared(for: device, within: bounds) {
        spared = table.readers.remove(at: index)
        if table.replacements.count >= bounds.replacementsOfPerson { table.replacements.removeFirst() }
        table.replacements.append((device: device, at: now))
      }
      table.last += 1
      table.readers.append(Reader(number: table.last, device: device))
      let isLast = spared.map { !table.has($0.device) } ?? false
      return (Place(number: table.last), isFirst || isLast, spared != nil)
    }
    if hasChanged { isChanged() }
    // It says so, and is over.
    if hasEnded { signal.raise() }
    return place
  }

  /// Whether one reads still, and hasn't ended for another.
  func has(_ place: Place) -> Bool {
    table.withLock { table in table.readers.contains { $0.number == place.number } }
  }

  func end(_ place: Place) {
    let hasChanged = table.withLock { table -> Bool in
      guard let index = table.readers.firstIndex(where: { $0.number == place.number }) else { return false }
      let device = table.readers.remove(at: index).device
      return !table.has(device)
    }
    if hasChanged { isChanged() }
  }

  func wake() {
    news.add(1, ordering: .releasing)
    signal.raise()
  }
}
