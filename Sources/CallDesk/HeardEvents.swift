internal import Calls
internal import Synchronization

/// The number of the last event that was given to each device of each person. What is for one device alone is heard once that one has it,
/// however far the person's others are. Bounded: beyond, that of which nothing was said for the longest is forgotten, and what is for it
/// counts as waiting until something is said of it again. So is one who is erased; a stream of that person's that is still open says how far
/// it is with its next event.
final class HeardEvents: Sendable {
  private struct Entry {
    var number: Int64
    /// Of the last word, among all.
    var turn: UInt64
  }

  private struct Table {
    /// By the devices of each person; nil: those that don't say which they are, and so are given what is for any.
    var people: [PersonID: [DeviceID?: Entry]] = [:]
    var count = 0
    /// In the order of the words, from `first` on; among them those that another has followed.
    var line: [(person: PersonID, device: DeviceID?, turn: UInt64)] = []
    var first = 0
    var turn: UInt64 = 0
  }

  /// Devices of one person; beyond, the one of which nothing was said for the longest is forgotten, and none of other people.
  static let mostOfPerson = 32

  private let capacity: Int
  private let table = Mutex(Table())

  init(capacity: Int = 100_000) { self.capacity = capacity }

  /// - Parameter device: nil: it doesn't say which it is.
  func note(_ number: Int64, by person: PersonID, _ device: DeviceID?) {
    table.withLock { table in
      table.turn += 1
      let known = table.people[person]?[device]
      if known == nil {
        if (table.people[person]?.count ?? 0) >= Self.mostOfPerson { Self.removeOldest(of: person, &table) }
        table.count += 1
      }
      let entry = Entry(number: max(known?.number ?? 0, number), turn: table.turn)
      table.people[person, default: [:]][device] = entry
      table.line.append((person, device, table.turn))
      if table.count > capacity { Self.removeOldest(&table) }
      if table.line.count >= 2 * capacity { Self.close(&table) }
    }
  }

  /// How far a device has heard.
  /// - Parameter device: nil: whichever of the person's has heard most.
  func number(of person: PersonID, by device: DeviceID?) -> Int64 {
    table.withLock { table in
      guard let devices = table.people[person] else { return 0 }
      guard let device else { return devices.values.map(\.number).max() ?? 0 }
      return max(devices[device]?.number ?? 0, devices[DeviceID?.none]?.number ?? 0)
    }
  }

  /// Another number each time that something was given to a person; 0: nothing is remembered of it, which says of no event that it was given.
  func word(of person: PersonID) -> UInt64 {
    table.withLock { table in table.people[person]?.values.map(\.turn).max() ?? 0 }
  }

  func forget(_ person: PersonID) {
    table.withLock { table in
      table.count -= table.people[person]?.count ?? 0
      table.people[person] = nil
    }
  }

  private static func removeOldest(_ table: inout Table) {
    while table.first < table.line.count {
      let (person, device, turn) = table.line[table.first]
      table.first += 1
      if table.people[person]?[device]?.turn == turn { return remove(person, device, &table) }
    }
  }

  private static func removeOldest(of person: PersonID, _ table: inout Table) {
    guard let oldest = table.people[person]?.min(by: { $0.value.turn < $1.value.turn }) else { return }
    remove(person, oldest.key, &table)
  }

  private static func remove(_ person: PersonID, _ device: DeviceID?, _ table: inout Table) {
    guard table.people[person]?.removeValue(forKey: device) != nil else { return }
    table.count -= 1
    if table.people[person]?.isEmpty ?? false { table.people[person] = nil }
  }

  /// What stands in the line for nothing goes.
  private static func close(_ table: inout Table) {
    let people = table.people
    table.line = table.line[table.first...].filter { people[$0.person]?[$0.device]?.turn == $0.turn }
    table.first = 0
  }
}
