internal import Calls
internal import Synchronization

/// The signals that each person in a call was sent within the last two seconds. They count as waiting for everybody, read or not: otherwise
/// a burst would show the sender how fast the recipient reads, and a recipient who has blocked the sender reads nothing. The span is two
/// seconds because a stream that has overdrawn its reading budget is held back for one.
///
/// Bounded: beyond, all are forgotten, and what was sent counts as waiting until it is read.
final class RecentSignals: Sendable {
  /// Milliseconds.
  static let span: Int64 = 2_000
  private static let step: Int64 = 100

  private struct Place: Hashable {
    let call: CallUUID
    let person: PersonID
  }

  /// What was sent from a moment on, for `step`.
  private struct Lot {
    let begun: Int64
    var sum: UnheardSignals.Sum

    func isRecent(at now: Int64) -> Bool { now &- begun < RecentSignals.span }
  }

  private let capacity: Int
  private let table = Mutex<[Place: [Lot]]>([:])

  init(capacity: Int = 10_000) { self.capacity = capacity }

  /// - Parameter now: in milliseconds, on the clock that doesn't jump.
  func sum(for person: PersonID, in call: CallUUID, at now: Int64) -> UnheardSignals.Sum {
    let lots = table.withLock { $0[Place(call: call, person: person)] ?? [] }
    return lots.reduce(into: UnheardSignals.Sum()) { sum, lot in
      guard lot.isRecent(at: now) else { return }
      sum.count &+= lot.sum.count
      sum.bytes &+= lot.sum.bytes
    }
  }

  /// One was sent, of so many bytes.
  func note(bytes: Int, for person: PersonID, in call: CallUUID, at now: Int64) {
    let place = Place(call: call, person: person)
    table.withLock { table in
      if table[place] == nil, table.count >= capacity {
        table = table.filter { entry in entry.value.contains { lot in lot.isRecent(at: now) } }
        if table.count >= capacity { table = [:] }
      }
      var lots = (table[place] ?? []).filter { lot in lot.isRecent(at: now) }
      if let last = lots.indices.last, now &- lots[last].begun < Self.step {
        lots[last].sum.count &+= 1
        lots[last].sum.bytes &+= Int64(bytes)
      } else {
        lots.append(Lot(begun: now, sum: UnheardSignals.Sum(count: 1, bytes: Int64(bytes))))
      }
      table[place] = lots
    }
  }
}
