internal import Calls
internal import Synchronization

/// Requests under the same key of a person, one after the other: the second finds what the first was answered by.
///
/// Bounded by the requests that there are at once.
final class KeyedTurns: Sendable {
  /// Whose key, byte for byte.
  struct Place: Hashable, Sendable {
    let person: PersonID
    let key: [UInt8]

    init(_ key: String, of person: PersonID) {
      self.person = person
      self.key = Array(key.utf8)
    }
  }

  /// Those that wait, of each place that is taken.
  private let lines = Mutex<[Place: [CheckedContinuation<Void, Never>]]>([:])

  /// Comes back when no other has the place. It has to be given back.
  func take(_ place: Place) async {
    await withCheckedContinuation { continuation in
      let isFree = lines.withLock { lines in
        guard lines[place] != nil else {
          lines[place] = []
          return true
        }
        lines[place]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack(_ place: Place) {
    let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
      guard let line = lines[place], let next = line.first else {
        lines[place] = nil
        return nil
      }
      lines[place] = Array(line.dropFirst())
      return next
    }
    next?.resume()
  }
}
