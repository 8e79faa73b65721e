internal import Calls
internal import Synchronization

/// The number of the last event that was given to each person. Bounded: beyond, that of which nothing was said for the longest is
/// forgotten, and the person's signals count as waiting until something is said of it again.
final class HeardEvents: Sendable {
  private struct Entry {
    var number: Int64
    /// Of the last word, among all.
    var turn: UInt64
  }

  private struct Table {
    var entries: [PersonID: Entry] = [:]
    /// In the order of the words, from `first` on; among them those that another has followed.
    var line: [(person: PersonID, turn: UInt64)] = []
    var first = 0
    var turn: UInt64 = 0
  }

  private let capacity: Int
  private let table = Mutex(Table())

  init(capacity: Int = 100_000) { self.capacity = capacity }

  func note(_ number: Int64, by person: PersonID) {
    table.withLock { table in
      table.turn += 1
      let known = table.entries[person]?.number ?? 0
      table.entries[person] = Entry(number: max(known, number), turn: table.turn)
      table.line.append((person, table.turn))
      if table.entries.count > capacity { Self.removeOldest(&table) }
      if table.line.count >= 2 * capacity { Self.close(&table) }
    }
  }

  subscript(_ person: PersonID) -> Int64 { table.withLock { $0.entries[person]?.number ?? 0 } }

  /// Another number each time that something was given to a person; 0: nothing that is remembered.
  func word(of person: PersonID) -> UInt64 { table.withLock { $0.entries[person]?.turn ?? 0 } }

  func forget(_ person: PersonID) { table.withLock { $0.entries[person] = nil } }

  private static func removeOldest(_ table: inout Table) {
    while table.first < table.line.count {
      let (person, turn) = table.line[table.first]
      table.first += 1
      if table.entries[person]?.turn == turn {
        table.entries[person] = nil
        return
      }
    }
  }

  /// What stands in the line for nothing goes.
  private static func close(_ table: inout Table) {
    let entries = table.entries
    table.line = table.line[table.first...].filter { entries[$0.person]?.turn == $0.turn }
    table.first = 0
  }
}
