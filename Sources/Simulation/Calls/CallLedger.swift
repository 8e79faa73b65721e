/// A model of who may know what of calls, kept from what was asked and answered, and from how calls stand; never from what the server
/// decides by.
///
/// Each thing that a person says contains a word that occurs nowhere else, as ids do: a text that a person receives shows by its words
/// what it gives away. Turns number what happens: one who might have read a word since it was said may read it.
struct CallLedger {
  enum Reader: Hashable {
    /// By that device; nil: it isn't known by which.
    case person(String, device: String? = nil)
    /// One who runs rooms: it may read calls, and names in them.
    case administrator
  }

  /// Where a word was put.
  enum Place: Equatable {
    /// The metadata of a call.
    case call
    /// What people of a call share: its kind, and its id.
    case session
    /// An event or a snapshot of that.
    case shared
    /// What is for one person or one device: a signal, a wrapped key, a ring.
    case letter
    case name(of: String)
    /// What is shown to no one, such as a device's token.
    case secret
  }

  struct Word {
    let place: Place
    /// nil: it is of none.
    let call: String?
    let turn: Int
    /// Those in which it stands, and since which turn; a snapshot may be copied.
    var sessions: [String: Int] = [:]
    /// Those who wrote the word, and those who received it.
    var readers: Set<Reader> = []
    /// Its person has been forgotten since.
    var isForgotten = false
  }

  struct Call {
    var isEncrypted = false
    var isDirect = false
    /// The people who can see that the call exists. No one is taken out: what a person has seen, the person knows.
    var open: Set<String>
    /// Every member, including people who cannot see the call because of a block.
    var people: Set<String>
    var standing: CallStanding?
    /// In which turn each was seen in it last.
    var lastActive: [String: Int] = [:]
    /// Those who were taken out of it, and in which turn that was seen first.
    var removed: [String: Int] = [:]
    /// Who is alone in it, and since when; nil: no one is.
    var alone: (person: String, since: Int64)?
    /// The number of its last key.
    var keyIndex = 0

    var room: String? { standing?.room }
    var isOver: Bool { standing?.isOver ?? false }
    func stand(of person: String) -> CallStanding.Stand? { standing?.stand(of: person) }
    /// In the order in which they came.
    var active: [String] { standing?.people.filter(\.stand.isActive).map(\.id) ?? [] }
  }

  struct Session {
    let call: String
    /// Who has taken part in it.
    var people: Set<String>
  }

  struct Block: Hashable {
    var of: String
    var by: String
  }

  private(set) var words: [String: Word] = [:]
  private(set) var calls: [String: Call] = [:]
  private(set) var sessions: [String: Session] = [:]
  var blocks: Set<Block> = []
  private(set) var turn = 0
  /// Texts that were looked at, and words that were found in them.
  var judged = (texts: 0, words: 0)

  mutating func begin(turn: Int) { self.turn = turn }

  // MARK: - What is said

  /// A word of its own: twelve characters, which are base64 too.
  /// - Parameter person: who says it, and so knows it; nil: it is shown to none, not even to its owner.
  mutating func word(
    _ place: Place, in call: String? = nil, session: String? = nil, by person: String? = nil
  ) -> String {
    let digits = String(words.count + 1)
    let word = "Mark" + String(repeating: "0", count: 8 - digits.count) + digits
    add(word, place, in: call, session: session, by: person)
    return word
  }

  /// What already has a name, such as an id.
  mutating func add(
    _ word: String, _ place: Place, in call: String? = nil, session: String? = nil, by person: String? = nil
  ) {
    guard words[word] == nil else { return }
    words[word] = Word(
      place: place, call: call, turn: turn, sessions: session.map { [$0: turn] } ?? [:],
      readers: person.map { [.person($0)] } ?? [])
  }

  /// What is for one person has come to it.
  mutating func bring(_ word: String, to reader: Reader) { words[word]?.readers.insert(reader) }

  /// - Returns: what is wrong with it: it is another's.
  mutating func claim(_ id: String, for person: String) -> String? {
    add(id, .letter, by: person)
    guard let word = words[id], word.readers.contains(.person(person)) else {
      return "\(person) is given \(id), which is another's"
    }
    return nil
  }

  // MARK: - What is done

  /// Records a call that a person started.
  mutating func begin(
    call id: String, by person: String, ringing others: [String], isEncrypted: Bool = false,
    isDirect: Bool = false
  ) {
    guard calls[id] == nil else { return }
    calls[id] = Call(isEncrypted: isEncrypted, isDirect: isDirect, open: [person], people: [person])
    ring(others, in: id, by: person)
  }

  /// Records that a person rings others in a call. Members who are rung or in the call are not rung again, and neither are members who
  /// were removed. A person who has blocked the caller does not learn of the call.
  mutating func ring(_ others: [String], in id: String, by person: String) {
    guard let before = calls[id] else { return }
    for other in others where other != person {
      calls[id]?.people.insert(other)
      guard before.stand(of: other)?.isPresent != true, before.removed[other] == nil,
        !blocks.contains(Block(of: person, by: other))
      else { continue }
      calls[id]?.open.insert(other)
    }
  }

  mutating func noteKey(_ index: Int, of call: String) { calls[call]?.keyIndex = index }

  mutating func begin(session id: String, in call: String, by person: String, from earlier: String? = nil) {
    guard sessions[id] == nil else { return }
    sessions[id] = Session(call: call, people: [person])
    add(id, .session, in: call, by: person)
    guard let earlier else { return }
    for (text, word) in words where word.sessions[earlier] != nil { words[text]?.sessions[id] = turn }
  }

  mutating func join(session: String, _ person: String) { sessions[session]?.people.insert(person) }

  /// A person is forgotten: nothing says its names of before any more.
  mutating func forget(_ person: String) {
    for (text, word) in words where word.place == .name(of: person) { words[text]?.isForgotten = true }
    blocks = blocks.filter { $0.of != person && $0.by != person }
  }

  // MARK: - How calls stand

  func isOpen(_ call: String, to person: String) -> Bool { calls[call]?.open.contains(person) ?? false }

  /// How a call stands by now.
  /// - Parameter now: milliseconds.
  /// - Returns: what can't have come of what was done.
  mutating func note(_ standing: CallStanding, of id: String, now: Int64) -> [String] {
    guard var call = calls[id] else { return ["call \(id) was never begun"] }
    var faults: [String] = []
    if call.isOver, call.standing != standing { faults.append("call \(id) changes behind its end") }
    for person in standing.people {
      let name = person.id
      if !call.people.contains(name) { faults.append("\(name) is of call \(id), which no one has rung") }
      if person.isHidden, call.open.contains(name) {
        faults.append("call \(id) is hidden from \(name), who hasn't blocked who rang")
      }
      if !person.isHidden, !call.open.contains(name) {
        faults.append("call \(id) is shown to \(name), who has blocked who rang")
      }
      if let fault = Self.fault(of: name, from: call.stand(of: name), to: person.stand) {
        faults.append("\(fault) in call \(id)")
      }
      if person.stand.isActive { call.lastActive[name] = turn }
      if person.stand.reason == "removed" { call.removed[name] = call.removed[name] ?? turn }
    }
    call.standing = standing
    if let fault = Self.faultAlone(&call, now: now) { faults.append("\(fault) in call \(id)") }
    calls[id] = call
    return faults
  }

  /// Leaving twice keeps the first reason, and who was taken out doesn't come back.
  private static func fault(
    of person: String, from before: CallStanding.Stand?, to after: CallStanding.Stand
  ) -> String? {
    guard let reason = before?.reason else { return nil }
    if reason == "removed", after != before { return "\(person), who was removed, is back" }
    // Who has left may be invited while it is busy, or be taken out.
    guard let later = after.reason, later != reason, later != "busy", later != "removed" else { return nil }
    return "\(person) has left for \(reason), and then for \(later)"
  }

  /// Milliseconds that one is alone at most, with what there is between two looks.
  private static let mostAlone: Int64 = 60_000 + 6_000

  private static func faultAlone(_ call: inout Call, now: Int64) -> String? {
    let active = call.active
    let isRinging = call.standing?.people.contains { $0.stand == .rung } ?? false
    guard active.count == 1, !isRinging, !call.isOver else {
      call.alone = nil
      return nil
    }
    guard let alone = call.alone, alone.person == active[0] else {
      call.alone = (active[0], now)
      return nil
    }
    return now - alone.since > mostAlone ? "\(alone.person) is alone for too long" : nil
  }
}
