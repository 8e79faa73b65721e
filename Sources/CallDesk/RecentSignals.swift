internal import Calls
internal import Synchronization

/// How many bytes of signals people were sent within the last second, in each call. They count as waiting, read or not, for everybody alike:
/// by a burst the sender would else see how fast it is read, and of one who has blocked the sender nothing is ever to be read.
///
/// Bounded: beyond, all are forgotten, and what was sent counts as waiting until it is read.
final class RecentSignals: Sendable {
  /// Milliseconds.
  static let span: Int64 = 1_000
  private static let step: Int64 = 100

  private struct Place: Hashable {
    let call: CallUUID
    let person: PersonID
  }

  /// What was sent from a moment on, for `step`.
  private struct Lot {
    let begun: Int64
    var bytes: Int64

    func isRecent(at now: Int64) -> Bool { now &- begun < RecentSignals.span }
  }

  private let capacity: Int
  private let table = Mutex<[Place: [Lot]]>([:])

  init(capacity: Int = 10_000) { self.capacity = capacity }

  /// - Parameter now: in milliseconds, on the clock that doesn't jump.
  func bytes(for person: PersonID, in call: CallUUID, at now: Int64) -> Int64 {
    let lots = table.withLock { $0[Place(call: call, person: person)] ?? [] }
    return lots.reduce(0) { sum, lot in lot.isRecent(at: now) ? sum &+ lot.bytes : sum }
  }

  /// So many were sent.
  func note(_ bytes: Int, for person: PersonID, in call: CallUUID, at now: Int64) {
    let place = Place(call: call, person: person)
    table.withLock { table in
      if table[place] == nil, table.count >= capacity {
        table = table.filter { entry in entry.value.contains { lot in lot.isRecent(at: now) } }
        if table.count >= capacity { table = [:] }
      }
      var lots = (table[place] ?? []).filter { lot in lot.isRecent(at: now) }
      if let last = lots.indices.last, now &- lots[last].begun < Self.step {
        lots[last].bytes &+= Int64(bytes)
      } else {
        lots.append(Lot(begun: now, bytes: Int64(bytes)))
      }
      table[place] = lots
    }
  }
}
