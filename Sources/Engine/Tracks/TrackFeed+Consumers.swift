internal import Model

extension TrackFeed {
  /// A consumer comes; one that is there already stays where it is. Packets are kept from now on if it is at this worker.
  mutating func add(_ consumer: Consumer) {
    consumers.add(consumer)
    if !consumers.isEmptyHere { keepHistory() }
  }

  mutating func remove(_ consumer: Consumer) { consumers.remove(consumer) }
}

/// Who gets a track: those of this worker in the order in which they came, and other workers as a bit each, since these
/// are served by one pass through the rings and asked after with each packet.
struct ConsumerList: ~Copyable {
  /// A slot by its peer's place, or with `sink` in place of it a sink.
  private struct Entry: BitwiseCopyable, Equatable {
    static let sink: Int32 = -1
    var place: Int32
    var number: Int32
  }

  private var entries: UnsafeMutablePointer<Entry>
  private var capacity = 4
  /// Slots and sinks.
  private(set) var count = 0
  /// Workers that the track is relayed to, a bit each.
  private(set) var relays: UInt64 = 0

  init() { entries = .allocate(capacity: 4) }

  deinit { entries.deallocate() }

  /// Whether no slot and no sink of this worker gets it.
  var isEmptyHere: Bool { count == 0 }

  /// A slot or a sink; `position` is below `count`.
  @inline(__always)
  subscript(position: Int) -> TrackFeed.Listener {
    let entry = entries[position]
    return entry.place == Entry.sink
      ? .sink(Int(entry.number)) : .slot(place: Int(entry.place), slot: Int(entry.number))
  }

  private static func entry(_ listener: TrackFeed.Listener) -> Entry {
    switch listener {
    case .slot(let place, let slot): Entry(place: Int32(place), number: Int32(slot))
    case .sink(let number): Entry(place: Entry.sink, number: Int32(number))
    }
  }

  mutating func add(_ consumer: TrackFeed.Consumer) {
    switch consumer {
    case .relay(let worker): relays |= 1 << UInt64(worker)
    case .here(let listener): add(Self.entry(listener))
    }
  }

  private mutating func add(_ entry: Entry) {
    for position in 0..<count where entries[position] == entry { return }
    if count == capacity {
      let grown = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
      grown.update(from: entries, count: count)
      entries.deallocate()
      entries = grown
      capacity *= 2
    }
    entries[count] = entry
    count += 1
  }

  mutating func remove(_ consumer: TrackFeed.Consumer) {
    switch consumer {
    case .relay(let worker): relays &= ~(1 << UInt64(worker))
    case .here(let listener): remove(Self.entry(listener))
    }
  }

  private mutating func remove(_ entry: Entry) {
    for position in 0..<count where entries[position] == entry {
      // The order of consumers is the order in which they are served: the rest moves up.
      for next in position..<count - 1 { entries[next] = entries[next + 1] }
      count -= 1
      return
    }
  }

  /// The relays go elsewhere, with their source.
  mutating func takeRelays() -> UInt64 {
    defer { relays = 0 }
    return relays
  }
}
