internal import Calls
internal import Synchronization

/// How media stands.
public enum CallPresence: Hashable, Sendable {
  case stands
  /// It may come back at once.
  case gone
  /// It was waited for already.
  case lost
}

/// Media that has come and gone and isn't written down yet: the last word of each.
final class PendingPresence: Sendable {
  /// Whose media it is.
  enum Source: Hashable, Sendable {
    /// Of a session of a call.
    case session(CallUUID, of: PersonID, in: CallUUID)
    /// Of a person in the room of a call: by whichever session it is in the call.
    case room(String, PersonID)
    /// Of a person's direct calls: which of its devices read its events, is asked as it is written.
    case readers(PersonID)
  }

  private let words = Mutex<[Source: CallPresence]>([:])

  func say(_ presence: CallPresence, of source: Source) { words.withLock { $0[source] = presence } }

  var isEmpty: Bool { words.withLock { $0.isEmpty } }

  func take() -> [(source: Source, presence: CallPresence)] {
    words.withLock { words in
      defer { words = [:] }
      return words.map { ($0.key, $0.value) }
    }
  }

  /// What couldn't be written, unless more was said since.
  func putBack(_ old: some Sequence<(source: Source, presence: CallPresence)>) {
    words.withLock { words in
      for (source, presence) in old where words[source] == nil { words[source] = presence }
    }
  }
}
