import Foundation

/// Random numbers that a seed decides.
struct SeededDraw {
  var state: UInt64
  mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
  mutating func one<T>(of items: [T]) -> T { items[below(items.count)] }
}

/// A model of who may know what of calls. What people say has words that stand nowhere else, so that each text that somebody is given
/// shows what it gives away.
///
/// Who may read a word once may have read it since: readers are added, and never taken away.
struct CallKnowledge {
  /// Where a word was put.
  enum Place: Equatable {
    /// The metadata of a call.
    case call
    /// The kind of something that people of a call share.
    case session
    /// An event or a snapshot of that.
    case shared
    /// What is for one person: a signal, a key that is wrapped.
    case letter
    case name(of: String)
    /// The part of a device's token that is shown to no one.
    case device
  }

  struct Word {
    let place: Place
    /// nil: it is of none.
    var call: String?
    /// Those in which it stands; a snapshot may be copied.
    var sessions: Set<String> = []
    var readers: Set<String> = []
  }

  struct Call {
    let id: String
    var isEncrypted = false
    var room: String?
    /// For whom there is such a call.
    var open: Set<String> = []
    /// Everyone who is of it, also those whom it is hidden from.
    var people: Set<String> = []
    /// Those who are rung or in it.
    var present: Set<String> = []
    var active: Set<String> = []
    var removed: Set<String> = []
    var isOver = false
    /// The number of its last key.
    var keyIndex = 0
  }

  private(set) var words: [String: Word] = [:]
  var calls: [String: Call] = [:]
  /// Of whom, by whom.
  var blocks: Set<[String]> = []
  /// The call of each session, and who took part in it.
  private(set) var sessions: [String: (call: String, people: Set<String>)] = [:]
  /// Texts that were looked at, and words that were found in them.
  private(set) var judged = (texts: 0, words: 0)

  // MARK: - What is said

  /// A word of its own: twelve characters, which are base64 too.
  /// - Parameter person: who says it, and so knows it; nil: it is shown to none, not even to its owner.
  mutating func word(
    _ place: Place, in call: String? = nil, session: String? = nil, by person: String? = nil
  ) -> String {
    let digits = String(words.count + 1)
    let word = "Mark" + String(repeating: "0", count: 8 - digits.count) + digits
    words[word] = Word(
      place: place, call: call, sessions: session.map { [$0] } ?? [], readers: person.map { [$0] } ?? [])
    return word
  }

  /// What was for one person has come to it.
  mutating func deliver(_ word: String, to person: String) { words[word]?.readers.insert(person) }

  /// Somebody begins a call, or rings others in it.
  mutating func ring(_ others: [String], in id: String, by person: String) {
    guard let before = calls[id] else { return }
    for other in others where other != person {
      calls[id]?.people.insert(other)
      guard !before.present.contains(other), !before.removed.contains(other) else { continue }
      // Who has blocked the other learns nothing by it.
      if !blocks.contains([other, person]) { calls[id]?.open.insert(other) }
    }
  }

  mutating func begin(session: String, in call: String, by person: String, from earlier: String? = nil) {
    sessions[session] = (call, [person])
    guard let earlier else { return }
    for (word, known) in words where known.sessions.contains(earlier) {
      words[word]?.sessions.insert(session)
    }
  }

  mutating func join(session: String, _ person: String) { sessions[session]?.people.insert(person) }

  /// Who may read what was said so far, as people are by now.
  mutating func settle() {
    for (text, word) in words {
      switch word.place {
      case .call:
        if let call = word.call.flatMap({ calls[$0] }) { words[text]?.readers.formUnion(call.open) }
      case .session:
        guard let call = word.call.flatMap({ calls[$0] }) else { continue }
        words[text]?.readers.formUnion(call.open.subtracting(call.removed))
      case .shared:
        for session in word.sessions {
          guard let known = sessions[session], let call = calls[known.call] else { continue }
          words[text]?.readers.formUnion(call.active.union(known.people).subtracting(call.removed))
        }
      case .name(let person):
        for call in calls.values where call.people.contains(person) {
          words[text]?.readers.formUnion(call.open)
        }
      case .letter, .device: continue
      }
    }
  }

  // MARK: - What is heard

  /// What is wrong with a text.
  /// - Parameter reader: who was given it; nil: one who runs every room, and may read calls and names.
  /// - Returns: nil: nothing is.
  mutating func fault(in text: String, given reader: String?) -> String? {
    judged.texts += 1
    var rest = text[...]
    while let mark = rest.range(of: "Mark") {
      let found = String(rest[mark.lowerBound...].prefix(12))
      rest = rest[mark.upperBound...]
      guard let word = words[found] else { continue }
      judged.words += 1
      if let reader, !word.readers.contains(reader) { return "\(reader) is given \(found), \(word)" }
      guard reader == nil else { continue }
      switch word.place {
      case .call, .name: continue
      case .session, .shared, .letter, .device: return "an administrator is given \(found), \(word)"
      }
    }
    guard let reader else { return nil }
    for call in calls.values where !call.open.contains(reader) {
      if text.contains(call.id) || call.room.map({ text.contains($0) }) ?? false {
        return "\(reader) is given the id of a call that it is not of"
      }
    }
    return nil
  }
}
