internal import Calls
internal import Synchronization

/// The number of the last event that was given to each person. Bounded: of those beyond it isn't known, and their signals count as
/// waiting for longer than they do.
final class HeardEvents: Sendable {
  private static let capacity = 100_000

  private let numbers = Mutex<[PersonID: Int64]>([:])

  func note(_ number: Int64, by person: PersonID) {
    numbers.withLock { numbers in
      guard numbers[person] != nil || numbers.count < Self.capacity else { return }
      numbers[person] = max(numbers[person] ?? 0, number)
    }
  }

  subscript(_ person: PersonID) -> Int64 { numbers.withLock { $0[person] ?? 0 } }

  func forget(_ person: PersonID) { numbers.withLock { $0[person] = nil } }
}
