internal import HTTPServer
internal import SyntheticPeers

/// What is done in a turn.
extension CallConference {
  func act() {
    if let place = late.firstIndex(where: { $0.turn <= turn }) {
      let (_, errand, bearer) = late.remove(at: place)
      journal.count(.callReordered)
      perform([(errand, bearer)])
    }
    let member = one(of: people)
    guard !order.isEmpty, member.isStranger || below(9) > 0 else {
      return run(start(member.isStranger ? people[0] : member), by: member.isStranger ? people[0] : member)
    }
    if below(4) == 0, let (call, inside) = underWay() {
      let member = one(of: inside)
      return run(within(member, call), by: member)
    }
    let call = one(of: Array(order.suffix(5)))
    if below(7) == 0 { return actAtOnce(in: call) }
    if let errand = errand(of: member, in: call) { run(errand, by: member) }
  }

  /// The newest call with active participants, and who they are. Most calls have none, and nothing can be shared in them.
  private func underWay() -> (call: String, inside: [CallMember])? {
    for call in order.reversed() {
      let inside = people.filter { ledger.calls[call]?.active.contains($0.name) == true }
      if !inside.isEmpty { return (call, inside) }
    }
    return nil
  }

  /// What can be done in a call that is under way alone.
  private func within(_ member: CallMember, _ call: String) -> CallErrand {
    switch below(10) {
    case 0, 1: changeKey(member, call) ?? share(member, call)
    case 2: simple(member, call)
    case 3: end(call) ?? share(member, call)
    case 4: invite(member, call)
    default: share(member, call)
    }
  }

  /// Asks it, and now and then asks it again: at the same time, at once, or a while later.
  private func run(_ errand: CallErrand, by member: CallMember) {
    let bearer = bearer(of: member, for: errand)
    if errand.key != nil, below(6) == 0 {
      journal.count(.callsAtOnce)
      perform([(errand, bearer), (errand, bearer)])
    } else {
      perform([(errand, bearer)])
    }
    if below(6) == 0 { perform([(errand, bearer)]) }
    if below(6) == 0 { late.append((turn + 1 + below(12), errand, bearer)) }
  }

  /// Several people at the same moment, in an order that the seed draws.
  private func actAtOnce(in call: String) {
    var asks: [Ask] = []
    for member in people.shuffled(using: &random).prefix(2 + below(2)) {
      guard let errand = common(member, call) else { continue }
      asks.append((errand, bearer(of: member, for: errand)))
    }
    // Of one that runs rooms there is one at a time.
    guard Set(asks.map { $0.bearer.identity }).count == asks.count, !asks.isEmpty else { return }
    journal.count(.callsAtOnce)
    perform(asks)
  }

  /// - Returns: nil: it is done, or there is nothing to do.
  private func errand(of member: CallMember, in call: String) -> CallErrand? {
    switch below(40) {
    case 0..<8: return common(member, call)
    case 8..<11: return invite(member, call)
    case 11..<13: return changeKey(member, call)
    case 13..<17: return share(member, call)
    case 17..<20: return simple(member, call)
    case 20..<28: return oneself(member)
    case 28..<30: return block(member)
    case 30..<34:
      sayMedia(in: call)
      return nil
    case 34..<36: return remove(from: call)
    case 36: return below(3) == 0 ? erase(member) : nil
    case 37:
      renew(member)
      return nil
    case 38:
      if below(3) == 0 { flood(member) }
      return nil
    default: return end(call)
    }
  }

  /// Requests that leave it as it is who may know of the call.
  private func common(_ member: CallMember, _ call: String) -> CallErrand? {
    switch below(8) {
    case 0..<3: join(member, call)
    case 3..<5: leave(member, call)
    case 5: signal(member, call)
    case 6: share(member, call)
    default: simple(member, call)
    }
  }

  // MARK: - Beginning

  /// Of those who may be called, some once more and sometimes the caller too.
  private func drawPeople() -> [String] {
    let known = people.filter { !$0.isStranger }.map(\.name)
    return (0...below(3)).map { _ in one(of: known) }
  }

  /// One who is rung by another alone calls that one at the same moment.
  private func mirror(of member: CallMember) -> (other: String, call: CallLedger.Call)? {
    for id in order.reversed() {
      guard let call = ledger.calls[id], call.people.count == 2, call.stand(of: member.name) == .rung,
        let other = call.active.first, call.open.contains(member.name)
      else { continue }
      return (other, call)
    }
    return nil
  }

  private func start(_ member: CallMember) -> CallErrand {
    let glare = below(3) > 0 ? mirror(of: member) : nil
    let others = glare.map { [$0.other] } ?? drawPeople()
    let isEncrypted = glare?.call.isEncrypted ?? (below(2) == 0)
    let isDirect = glare?.call.isDirect ?? (below(5) == 0)
    let (id, phone) = (uuid(), one(of: member.phones))
    let metadata = ledger.word(.call, in: id, by: member.name)
    let letters = isEncrypted ? wrap(for: others, by: member.name) : []
    let errand = CallErrand(.callStarted, .post, "/v1/calls")
    let way = isDirect ? "direct" : "relay"
    errand.body =
      #"{"id":"\#(id)","recipients":\#(list(others)),"media":"audio","path":"\#(way)","#
      + #""e2ee":\#(isEncrypted),"metadata":"\#(metadata)","deviceId":"\#(phone.id)","#
      + #""keys":\#(json(letters))}"#
    errand.price.items = others.count
    (errand.shows, errand.repeats, errand.device) = (.entry, .begun, phone.id)
    errand.effect = { [self, unowned errand] reply in
      guard let entry = CallEntryView.read(reply.body) else { return }
      if entry.call.id == id {
        ledger.begin(
          call: id, by: member.name, ringing: others, isEncrypted: isEncrypted, isDirect: isDirect)
        if !order.contains(id) { order.append(id) }
        bring(letters, in: id)
        if ledger.calls[id]?.open != ledger.calls[id]?.people { journal.count(.blockedRing) }
      } else if errand.first == nil {
        journal.count(.callMerged)
        rings.noteOwn(RingLedger.Ear(person: member.name, device: entry.device), entry.call.id)
      }
      note(entry, to: member)
      refresh(entry.call.id)
    }
    return errand
  }

  /// A person has joined a call.
  private func note(_ entry: CallEntryView, to member: CallMember) {
    if let fault = ledger.claim(entry.session, for: member.name) { violation(fault) }
    if let token = entry.token { note(token: token, of: entry.call.id, device: entry.device, to: member) }
  }

  private func invite(_ member: CallMember, _ call: String) -> CallErrand {
    let (others, known) = (drawPeople(), ledger.calls[call])
    let letters = known?.isEncrypted == true ? wrap(for: others, by: member.name) : []
    let errand = CallErrand(.callInvited, .post, "/invite", of: call)
    errand.body =
      #"{"recipients":\#(list(others)),"keys":\#(json(letters)),"keyIndex":\#(known?.keyIndex ?? 0)}"#
    errand.price.items = others.count
    (errand.shows, errand.repeats, errand.isInner) = (.call, .same, true)
    errand.key = "invite \(uuid())"
    errand.effect = { [self] _ in
      ledger.ring(others, in: call, by: member.name)
      bring(letters, in: call)
    }
    return errand
  }

  // MARK: - In and out

  private func join(_ member: CallMember, _ call: String) -> CallErrand {
    let phone = one(of: member.phones)
    let errand = CallErrand(.callJoined, .post, "/join", of: call)
    errand.body = #"{"deviceId":"\#(phone.id)","takeover":\#(below(2) == 0)}"#
    (errand.access, errand.shows, errand.isInner, errand.device) = (.ofCall, .entry, true, phone.id)
    if below(3) == 0 { (errand.key, errand.repeats) = ("join \(uuid())", .begun) }
    errand.effect = { [self] reply in
      guard let entry = CallEntryView.read(reply.body) else { return }
      if case .active(let device, _) = ledger.calls[call]?.stand(of: member.name), device != entry.device {
        journal.count(.callTakenOver)
      }
      rings.noteOwn(RingLedger.Ear(person: member.name, device: entry.device), call)
      note(entry, to: member)
    }
    return errand
  }

  private func leave(_ member: CallMember, _ call: String) -> CallErrand {
    let reason = one(of: ["userLeft", "rejected", "networkError", "timedOut"])
    let device = below(3) > 0 ? one(of: member.phones).id : nil
    let isRung = ledger.calls[call]?.stand(of: member.name) == .rung
    let errand = CallErrand(isRung ? .callRejected : .callLeft, .post, "/leave", of: call)
    let more = device.map { #","deviceId":"\#($0)""# } ?? ""
    errand.body = #"{"reason":"\#(reason)"\#(more)}"#
    (errand.access, errand.shows, errand.device) = (.ofCall, .left, device)
    if below(2) == 0 { (errand.key, errand.repeats) = ("leave \(uuid())", .same) }
    errand.effect = { [self] _ in
      // Whichever device has refused hears no word of it; which one a call's token names isn't known here.
      guard ledger.calls[call]?.stand(of: member.name) == .rung else { return }
      for phone in member.phones {
        rings.noteOwn(RingLedger.Ear(person: member.name, device: phone.id), call)
      }
    }
    return errand
  }

  // MARK: - Parts of requests

  func list(_ people: [String]) -> String {
    "[" + people.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  /// The key of a call as it is wrapped for a device.
  struct Letter {
    let person: String
    let device: String
    let key: String
    let word: String
  }

  /// One for each device that has a key, in a word.
  func wrap(for others: [String], by person: String) -> [Letter] {
    var letters: [Letter] = []
    for other in Set(others).subtracting([person]).sorted() {
      for phone in member(other)?.phones ?? [] {
        guard let key = phone.key else { continue }
        let word = ledger.word(.letter, by: person)
        letters.append(Letter(person: other, device: phone.id, key: key, word: word))
      }
    }
    return letters
  }

  func json(_ letters: [Letter]) -> String {
    let items = letters.map {
      #"{"person":"\#($0.person)","device":"\#($0.device)","keyId":"\#($0.key)","ciphertext":"\#($0.word)"}"#
    }
    return "[" + items.joined(separator: ",") + "]"
  }

  /// Keys that were taken lie ready for the devices of those who are of the call, unless they were removed from it.
  func bring(_ letters: [Letter], in call: String) {
    guard let known = ledger.calls[call] else { return }
    for letter in letters {
      guard known.people.contains(letter.person), known.removed[letter.person] == nil else { continue }
      ledger.bring(letter.word, to: .person(letter.person, device: letter.device))
    }
  }
}
