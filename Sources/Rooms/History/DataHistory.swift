internal import Model

/// Messages that a room keeps for those who come later: the newest, within bounds in number, time and bytes.
///
/// A value: it is given the time, and the terms, which may have changed since a message was kept.
struct DataHistory: Sendable {
  /// Of all messages together, as `KeptMessage.bytes` counts them.
  static let byteLimit = 262_144

  struct Entry: Equatable, Sendable {
    let message: KeptMessage
    /// Of the sender, also of one that is hidden; nil: the server's own.
    let sender: String?
    let at: Instant
  }

  /// The oldest first.
  private(set) var entries: [Entry] = []
  private(set) var bytes = 0
  private var wire = SharedText()

  /// - Parameter entries: the oldest first.
  init(_ entries: [Entry] = []) {
    self.entries = entries
    bytes = entries.reduce(0) { $0 + $1.message.bytes }
  }

  /// Keeps a message, in place of the oldest where there are too many.
  mutating func keep(_ entry: Entry, _ terms: DataHistoryTerms) {
    guard terms.topics.contains(entry.message.topic), entry.message.bytes <= Self.byteLimit else { return }
    entries.append(entry)
    bytes += entry.message.bytes
    wire = SharedText()
    trim(terms, now: entry.at)
  }

  /// Drops what the terms don't keep, or keep no longer.
  /// - Parameter terms: nil: nothing is kept.
  mutating func apply(_ terms: DataHistoryTerms?, now: Instant) {
    guard let terms else { return drop { _ in true } }
    drop { !terms.topics.contains($0.message.topic) }
    trim(terms, now: now)
  }

  /// When the oldest is to be dropped.
  func forgets(_ terms: DataHistoryTerms?) -> Instant {
    guard let terms, let oldest = entries.first else { return .never }
    return oldest.at + .seconds(terms.seconds)
  }

  /// A removed identity's messages go with it.
  mutating func forget(_ identity: String) { drop { $0.sender?.isExactly(identity) == true } }

  /// Drops the oldest, as long as there are more bytes.
  mutating func shrink(to bytes: Int) { dropOldest { _, _, left in left > bytes } }

  private mutating func trim(_ terms: DataHistoryTerms, now: Instant) {
    dropOldest { oldest, count, bytes in
      count > terms.max || bytes > Self.byteLimit || now - oldest.at >= .seconds(terms.seconds)
    }
  }

  /// - Parameter isGone: of the oldest that is left, with how many there are then, and their bytes.
  private mutating func dropOldest(while isGone: (Entry, _ count: Int, _ bytes: Int) -> Bool) {
    var count = 0
    while count < entries.count, isGone(entries[count], entries.count - count, bytes) {
      bytes -= entries[count].message.bytes
      count += 1
    }
    guard count > 0 else { return }
    entries.removeFirst(count)
    wire = SharedText()
  }

  private mutating func drop(where isGone: (Entry) -> Bool) {
    let before = entries.count
    entries.removeAll(where: isGone)
    guard entries.count < before else { return }
    bytes = entries.reduce(0) { $0 + $1.message.bytes }
    wire = SharedText()
  }

  /// What there is.
  var kept: KeptMessages { KeptMessages(messages: entries.map(\.message), wire: wire) }
}
