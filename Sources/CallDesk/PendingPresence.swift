internal import Calls
internal import Synchronization

/// Media that has come and gone and isn't written down yet: the last word of each.
final class PendingPresence: Sendable {
  /// Whose media it is.
  enum Source: Hashable, Sendable {
    /// Of a session of a call.
    case session(CallUUID, of: PersonID, in: CallUUID)
    /// Of a person in the room of a call: by whichever session it is in the call.
    case room(String, PersonID)
  }

  private let words = Mutex<[Source: Bool]>([:])

  func say(_ stands: Bool, of source: Source) { words.withLock { $0[source] = stands } }

  var isEmpty: Bool { words.withLock { $0.isEmpty } }

  func take() -> [(source: Source, stands: Bool)] {
    words.withLock { words in
      defer { words = [:] }
      return words.map { ($0.key, $0.value) }
    }
  }

  /// What couldn't be written, unless more was said since.
  func putBack(_ old: some Sequence<(source: Source, stands: Bool)>) {
    words.withLock { words in
      for (source, stands) in old where words[source] == nil { words[source] = stands }
    }
  }
}
