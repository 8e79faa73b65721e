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

/// What was said of calls without a request, and may not be written down yet: media that has come and gone, and what those who run rooms
/// have done. Each word has the time at which it was said, so that it is as good later.
///
/// Words are numbered in the order in which they come here. A call remembers the number of the last one that is in it, in the same
/// transaction, so that a word may be written twice, and one is kept here until it surely is.
final class PendingWords: Sendable {
  /// Who or what a word is about.
  enum Source: Hashable, Sendable {
    /// The media of a session of a call.
    case session(CallUUID, of: PersonID, in: CallUUID)
    /// The media of a person in the room of a call, by a stay in the call: by whichever session of it the person is there.
    case room(String, PersonID, stay: CallUUID)
    /// A person's direct calls: which of its devices read its events.
    case readers(PersonID)
    /// A person who was taken out of the room of a call, and the room of a call that was closed.
    case removal(String, PersonID)
    case end(String)

    /// Of one who runs the room, and not of media.
    var isOrder: Bool {
      switch self {
      case .removal, .end: true
      case .session, .room, .readers: false
      }
    }
  }

  enum What: Hashable, Sendable {
    case media(CallPresence)
    case read(by: EventReaders)
    case removed
    case ended

    /// No media stands by it.
    fileprivate var isGap: Bool {
      switch self {
      case .media(let presence): presence != .stands
      case .read(let readers): readers.devices.isEmpty && !readers.isAnyUnnamed
      case .removed, .ended: false
      }
    }
  }

  struct Word: Hashable, Sendable {
    let source: Source
    let what: What
    let number: UInt64
    let at: CallTime
  }

  private struct State {
    /// In order.
    var words: [Source: [Word]] = [:]
    var last: UInt64 = 0
    var orders = 0
  }

  /// Words of one source. Beyond, the oldest gaps are forgotten, as if the media had stood meanwhile.
  private static let mostOfSource = 32
  /// People who were removed, and rooms that were closed.
  private static let mostOrders = 65_536

  private let state = Mutex(State())

  /// - Returns: whether it is kept: there may be too many orders. Media is of those alone who are there.
  @discardableResult
  func say(_ what: What, of source: Source, at now: CallTime) -> Bool {
    state.withLock { state in
      let known = state.words[source]
      if source.isOrder {
        // Once is enough: it holds for good.
        if known != nil { return true }
        guard state.orders < Self.mostOrders else { return false }
        state.orders += 1
      }
      state.last += 1
      var words = known ?? []
      words.append(Word(source: source, what: what, number: state.last, at: now))
      if words.count > Self.mostOfSource { words.remove(at: words[0].what.isGap ? 0 : 1) }
      state.words[source] = words
      return true
    }
  }

  /// The number of the last word.
  var last: UInt64 { state.withLock { $0.last } }

  var isEmpty: Bool { state.withLock { $0.words.isEmpty } }

  /// The number of the last word, and all that something was said of; orders first.
  var sources: (all: [Source], last: UInt64) {
    state.withLock { state in
      let all = Array(state.words.keys)
      return (all.filter(\.isOrder) + all.filter { !$0.isOrder }, state.last)
    }
  }

  func has(_ source: Source) -> Bool { state.withLock { $0.words[source] != nil } }

  /// What was said of some, in order.
  func words(of sources: [Source]) -> [Word] {
    let found = state.withLock { state -> [Word] in
      guard !state.words.isEmpty else { return [] }
      var found: [Word] = []
      for source in sources { found += state.words[source] ?? [] }
      return found
    }
    return found.sorted { $0.number < $1.number }
  }

  /// What was said of some up to a word is written down, or is of no call that goes on.
  func forget(_ sources: [Source], upTo number: UInt64) {
    state.withLock { state in
      for source in sources {
        guard var words = state.words[source] else { continue }
        words.removeAll { $0.number <= number }
        state.words[source] = words.isEmpty ? nil : words
        if words.isEmpty, source.isOrder { state.orders -= 1 }
      }
    }
  }
}
