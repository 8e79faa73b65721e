internal import Calls
internal import Synchronization

/// Media that has come and gone and isn't written down yet: the last word of each session.
final class PendingPresence: Sendable {
  /// Of one session of a call.
  struct Word: Hashable, Sendable {
    var call: CallUUID
    var person: PersonID
    var stands: Bool
  }

  private let words = Mutex<[CallUUID: Word]>([:])

  func say(_ word: Word, of session: CallUUID) { words.withLock { $0[session] = word } }

  var isEmpty: Bool { words.withLock { $0.isEmpty } }

  func take() -> [CallUUID: Word] {
    words.withLock { words in
      defer { words = [:] }
      return words
    }
  }

  /// What couldn't be written, unless more was said since.
  func putBack(_ old: [CallUUID: Word]) { words.withLock { $0.merge(old) { new, _ in new } } }
}
