/// Judges each text by its reader.
extension CallLedger {
  /// What is wrong with a text.
  /// - Parameter reader: who was given it.
  /// - Returns: nil: nothing is.
  mutating func fault(in text: [UInt8], given reader: Reader) -> String? {
    judged.texts += 1
    for name in Self.names(in: text) {
      if calls[name] != nil {
        judged.words += 1
        if !mayKnow(call: name, reader) { return "\(reader) is given the id of call \(name)" }
      } else if let word = words[name] {
        judged.words += 1
        if !mayRead(word, reader) { return "\(reader) is given \(name), \(word)" }
      } else if let call = callOfRoom(name), !mayKnow(call: call, reader) {
        return "\(reader) is given the room of call \(call)"
      }
    }
    return nil
  }

  private func callOfRoom(_ id: String) -> String? {
    let room = "call-" + id
    return calls.first { $0.value.room == room }?.key
  }

  private func mayKnow(call: String, _ reader: Reader) -> Bool {
    guard case .person(let person, _) = reader else { return true }
    return isOpen(call, to: person)
  }

  private func mayRead(_ word: Word, _ reader: Reader) -> Bool {
    guard !word.isForgotten else { return false }
    guard case .person(let person, let device) = reader else {
      switch word.place {
      case .call, .name: return true
      case .session, .shared, .letter, .secret: return false
      }
    }
    if isBrought(word, person, device) { return true }
    switch word.place {
    case .call: return word.call.map { isOpen($0, to: person) } ?? false
    case .session: return word.call.map { mayShare(in: $0, person, since: word.turn) } ?? false
    case .shared:
      return word.sessions.contains { session, turn in
        guard let known = sessions[session], mayShare(in: known.call, person, since: turn) else {
          return false
        }
        return known.people.contains(person) || calls[known.call]?.lastActive[person] ?? -1 >= turn
      }
    case .name(let owner):
      return owner == person
        || calls.values.contains { $0.open.contains(person) && $0.people.contains(owner) }
    case .letter, .secret: return false
    }
  }

  /// Whether it has said it, or it was brought to it; of what is for one device another has nothing.
  private func isBrought(_ word: Word, _ person: String, _ device: String?) -> Bool {
    if word.readers.contains(.person(person)) { return true }
    if let device { return word.readers.contains(.person(person, device: device)) }
    return word.readers.contains { reader in
      if case .person(let other, _) = reader { other == person } else { false }
    }
  }

  /// Whether there is such a call for a person, and it was not taken out of it before that turn.
  private func mayShare(in call: String, _ person: String, since turn: Int) -> Bool {
    guard let known = calls[call], known.open.contains(person) else { return false }
    return known.removed[person].map { $0 >= turn } ?? true
  }

  // MARK: - Words in texts

  /// Words and ids that stand in a text.
  static func names(in text: [UInt8]) -> [String] {
    var found: [String] = []
    var place = 0
    while place < text.count {
      if isMark(text, at: place) {
        found.append(String(decoding: text[place..<place + 12], as: UTF8.self))
        place += 12
      } else if isID(text, around: place) {
        found.append(String(decoding: text[place - 8..<place + 28], as: UTF8.self))
        place += 28
      } else {
        place += 1
      }
    }
    return found
  }

  private static let mark = Array("Mark".utf8)

  private static func isMark(_ text: [UInt8], at place: Int) -> Bool {
    guard text[place] == mark[0], place + 12 <= text.count else { return false }
    return text[place..<place + 4].elementsEqual(mark)
      && text[place + 4..<place + 12].allSatisfy { (48...57).contains($0) }
  }

  /// - Parameter place: of its first hyphen.
  private static func isID(_ text: [UInt8], around place: Int) -> Bool {
    let hyphen = UInt8(ascii: "-")
    guard text[place] == hyphen, place >= 8, place + 28 <= text.count else { return false }
    for offset in -8..<28 {
      let byte = text[place + offset]
      if [0, 5, 10, 15].contains(offset) {
        guard byte == hyphen else { return false }
      } else {
        guard (48...57).contains(byte) || (97...102).contains(byte) else { return false }
      }
    }
    return true
  }
}
