package import Media
package import Model
internal import Synchronization

/// A consumer of one track outside the workers: plain RTP with its `PacketInfo`, through a ring of its own to the thread
/// that takes it. Full means dropped and counted, so that a slow sink harms no other consumer.
///
/// Feedback goes to the worker that serves it, as messages: the same that another worker sends.
package final class TrackSink: Sendable {
  package static let ringSize = 1 << 20

  /// What comes first.
  package enum Beginning: Equatable, Sendable {
    /// Whatever comes next; a key frame is asked for.
    case next
    /// The last key frame, where all of it is kept; else what comes next, of which `asks` says whether a key frame is asked for.
    /// Of a simulcast it is the encoding that costs least, at the worker that has the publisher: there is the history.
    case kept(asks: Bool)
  }

  package let track: TrackKey
  let begins: Beginning
  let ring: CrossingRing
  private let wake: @Sendable () -> Void
  private let ended = Atomic<Bool>(false)
  private let refused = Atomic<Bool>(false)
  private let lost = Atomic<UInt64>(0)
  private let mapping = Mutex<ClockMapping?>(nil)

  /// - Parameter wake: called on the worker's thread at the end of a turn that brought something.
  package init(
    _ track: TrackKey, begins: Beginning = .next, ringSize: Int = TrackSink.ringSize,
    wake: @escaping @Sendable () -> Void
  ) {
    self.track = track
    self.begins = begins
    self.wake = wake
    ring = CrossingRing(size: ringSize, headerSize: MemoryLayout<Crossing>.stride)
  }

  deinit { ring.deallocate() }

  /// The track is over: nothing comes any more.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }

  /// It ended because the worker serves as many as it may.
  package var isRefused: Bool { refused.load(ordering: .acquiring) }

  /// Where the timestamps of its packets stand on the server's time line, as is known by now.
  package var clock: ClockMapping? { mapping.withLock { $0 } }

  /// Packets that came while the ring was full.
  package var dropped: UInt64 { lost.load(ordering: .relaxed) }

  /// A few times a second at most: each sender report brings one.
  func setClock(_ new: ClockMapping) { mapping.withLock { $0 = new } }

  func noteDropped() { lost.wrappingAdd(1, ordering: .relaxed) }

  func end() {
    ended.store(true, ordering: .releasing)
    wake()
  }

  func refuse() {
    refused.store(true, ordering: .releasing)
    end()
  }

  func poke() { wake() }

  /// On the sink's thread: everything that waits, in order.
  package func take(_ body: (UnsafeRawBufferPointer, PacketInfo) -> Void) {
    while let record = ring.peek() {
      body(UnsafeRawBufferPointer(record.payload), record.header.load(as: Crossing.self).info)
      ring.advance(past: record)
    }
  }
}

/// The sinks that a worker serves, by number.
struct SinkTable: ~Copyable {
  /// More are refused: one worker serves recorders and nodes, not subscribers.
  static let limit = 256

  private struct Entry {
    var sink: TrackSink
    /// Apart from the class, so that writing a packet counts no reference.
    var ring: CrossingRing
    var feed: Int
    var isTouched = false
  }

  private var entries: [Entry?] = []
  private var touched = false

  var count: Int { entries.count { $0 != nil } }

  /// - Returns: nil when there are as many as may be.
  mutating func insert(_ sink: TrackSink, feed: Int) -> Int? {
    let entry = Entry(sink: sink, ring: sink.ring, feed: feed)
    if let free = entries.firstIndex(where: { $0 == nil }) {
      entries[free] = entry
      return free
    }
    guard entries.count < Self.limit else { return nil }
    entries.append(entry)
    return entries.count - 1
  }

  func find(_ sink: TrackSink) -> Int? { entries.firstIndex { $0?.sink === sink } }

  func feed(of number: Int) -> Int? {
    entries.indices.contains(number) ? entries[number]?.feed : nil
  }

  mutating func remove(_ number: Int) -> TrackSink? {
    guard entries.indices.contains(number) else { return nil }
    defer { entries[number] = nil }
    return entries[number]?.sink
  }

  /// The worker ends: each sink has to be added to another one.
  mutating func endAll() {
    for case let entry? in entries { entry.sink.end() }
    entries = []
  }

  /// - Returns: false when its ring is full.
  mutating func write(_ packet: UnsafeRawBufferPointer, _ crossing: inout Crossing, to number: Int) -> Bool {
    guard entries.indices.contains(number), entries[number] != nil else { return false }
    touched = true
    entries[number]!.isTouched = true
    let ring = entries[number]!.ring
    if withUnsafeBytes(of: &crossing, { ring.write(header: $0.baseAddress!, payload: packet) }) {
      return true
    }
    entries[number]!.sink.noteDropped()
    return false
  }

  func setClock(_ mapping: ClockMapping, of number: Int) {
    guard entries.indices.contains(number) else { return }
    entries[number]?.sink.setClock(mapping)
  }

  /// Wakes the sinks that have something to read. Called at the end of a turn.
  mutating func wake() {
    guard touched else { return }
    touched = false
    for number in entries.indices where entries[number]?.isTouched == true {
      entries[number]!.isTouched = false
      entries[number]!.sink.poke()
    }
  }
}
