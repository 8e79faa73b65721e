internal import Calls
internal import Synchronization

/// How much of the signals that are kept from a person who has blocked the other counts as read: all that was sent before its streams or
/// pages were read the last time. So the sender is refused as often as for one who reads as much and has blocked no one.
///
/// Bounded: beyond, all are forgotten, and what was sent counts as waiting until the person reads again, as behind a restart.
final class UnheardSignals: Sendable {
  struct Sum: Hashable, Sendable {
    var count: Int64 = 0
    var bytes: Int64 = 0
  }

  private struct Place: Hashable {
    let call: CallUUID
    let person: PersonID
  }

  private struct Entry {
    var read = Sum()
    /// The last word of the person's reading that is counted in.
    var word: UInt64
  }

  private let capacity: Int
  private let table = Mutex<[Place: Entry]>([:])

  init(capacity: Int = 10_000) { self.capacity = capacity }

  /// - Parameters:
  ///   - sent: all that was sent to the person in the call.
  ///   - word: another one each time that the person has read something.
  ///   - isReading: a stream of the person's is open, and has read all by now.
  /// - Returns: what waits.
  func waiting(
    of sent: Sum, for person: PersonID, in call: CallUUID, word: UInt64, isReading: Bool
  ) -> Sum {
    table.withLock { table in
      let place = Place(call: call, person: person)
      if table[place] == nil, table.count >= capacity { table = [:] }
      var entry = table[place] ?? Entry(word: word)
      if isReading || entry.word != word { entry = Entry(read: sent, word: word) }
      table[place] = entry
      return Sum(
        count: max(sent.count - entry.read.count, 0), bytes: max(sent.bytes - entry.read.bytes, 0))
    }
  }
}

/// What makes a block look like no answer.
struct Unheard: Sendable {
  let pushes = SeenPushes()
  let signals = UnheardSignals()
  let recent = RecentSignals()
}
