internal import Gateway
internal import HTTPServer
internal import Model
internal import SyntheticPeers

/// What is asked, and what is answered to it.
extension CallConference {
  typealias Ask = (errand: CallErrand, bearer: CallBearer)

  /// Asks all of it at once, and judges what comes of it.
  func perform(_ asks: [Ask]) {
    step += 1
    let before = asks.map { due(to: $0.bearer, for: $0.errand) }
    let removed = asks.map { isRemoved($0) }
    let known = asks.map { isKnown($0) }
    let replies = server.ask(asks.map { $0.errand.request($0.bearer.token) })
    var done: [(ask: Ask, reply: CallReply, place: Int)] = []
    for (place, ask) in asks.enumerated() {
      guard let response = replies[place] else {
        violation("\(name(of: ask)) is never answered")
        continue
      }
      done.append((ask, CallReply(response: response), place))
    }
    judgeCharges(
      done.map {
        Paid(
          ask: $0.ask, reply: $0.reply, isCharged: before[$0.place].isCharged,
          isTurnedAway: before[$0.place].isTurnedAway, isKnown: known[$0.place])
      })
    for (ask, reply, place) in done where !known[place] { note(ask, reply) }
    let named = Set(asks.compactMap { $0.errand.call }).sorted()
    for call in named where ledger.calls[call] != nil { refresh(call) }
    for (ask, reply, place) in done {
      let isDue = [before[place], due(to: ask.bearer, for: ask.errand)]
      judge(ask, reply, isDue, wasRemoved: removed[place], isKnown: known[place])
    }
    guard asks.count == 1, let (ask, reply, _) = done.first else { return }
    compare(ask, reply)
  }

  func name(of ask: Ask) -> String {
    let (errand, bearer) = ask
    let what = "\(errand.method.rawValue) \(errand.call ?? "")\(errand.path)"
    return "\(what) by \(bearer.identity) as \(bearer.kind)"
  }

  private func isRemoved(_ ask: Ask) -> Bool {
    ask.errand.call.map { ledger.calls[$0]?.removed[ask.bearer.identity] != nil } ?? false
  }

  /// It was done before under the same key, which is remembered unless its person was forgotten.
  private func isKnown(_ ask: Ask) -> Bool {
    ask.errand.key != nil && isOwn(ask.bearer) && hasAnswer(ask)
  }

  /// It was done before, and its person wasn't forgotten since.
  private func hasAnswer(_ ask: Ask) -> Bool {
    guard let first = ask.errand.first else { return false }
    return member(ask.bearer.identity)?.forgotten.map { $0 < first.step } ?? true
  }

  private func isOwn(_ bearer: CallBearer) -> Bool {
    switch bearer.kind {
    case .person, .call: true
    case .room, .otherAdmin, .admin: false
    }
  }

  // MARK: - What comes of it

  private func note(_ ask: Ask, _ reply: CallReply) {
    guard reply.isDone else { return }
    trace("\(name(of: ask)): \(reply.status)")
    journal.count(ask.errand.mechanism)
    if ask.errand.first != nil { journal.count(.callRepeated) }
    // A token of who runs rooms does it for no one.
    if isOwn(ask.bearer) || ask.errand.access == .rooms { ask.errand.effect?(reply) }
    if ask.errand.first == nil, isOwn(ask.bearer) { ask.errand.first = (reply, step) }
  }

  // MARK: - What is answered

  private func reader(of ask: Ask) -> CallLedger.Reader {
    switch ask.bearer.kind {
    case .admin: .administrator
    case .otherAdmin: .person(ask.bearer.identity)
    case .person, .room, .call: .person(ask.bearer.identity, device: ask.bearer.device ?? ask.errand.device)
    }
  }

  /// - Parameters:
  ///   - isDue: as it was before and behind what was done at once.
  ///   - wasRemoved: from the call, before it was asked.
  private func judge(
    _ ask: Ask, _ reply: CallReply, _ isDue: [Due], wasRemoved: Bool, isKnown: Bool
  ) {
    keep(reply.body, as: reply.status)
    if reply.status == 400 || reply.status >= 500 {
      violation("\(name(of: ask)) is answered by \(reply.status): \(text(reply))")
    }
    // What it was answered before it may be answered once more.
    let isSame = isKnown && ask.errand.repeats == .same
    if !isSame, let fault = ledger.fault(in: reply.body, given: reader(of: ask)) {
      violation("\(name(of: ask)): \(fault)")
    }
    judgeRepeat(ask, reply, isKnown: isKnown)
    // Too much was asked lately, which says nothing.
    guard reply.status != 429 else { return }
    let fits = isDue.contains { due in
      due.status == nil || due.status == reply.status && (due.code.isEmpty || due.code == code(reply))
    }
    if !fits { violation("\(name(of: ask)) is \(reply.status), not \(isDue): \(text(reply))") }
    if isDue.allSatisfy({ $0.status == 403 || $0.status == 410 }) { journal.count(.callTokenVoid) }
    if reply.isDone, !isSame { judgeViews(ask, reply) }
    guard isDue.allSatisfy({ $0.status == nil }), let call = ask.errand.call, !isSame else { return }
    let isOpen = ledger.isOpen(call, to: ask.bearer.identity)
    if isOpen ? reply.status == 404 && !ask.errand.mayMiss : reply.status != 404 {
      violation("\(name(of: ask)) is \(reply.status): \(text(reply))")
    }
    let isAgain = ask.errand.first.map { $0.step < step } ?? false
    if wasRemoved, ask.errand.isInner, reply.isDone, !(isAgain && ask.errand.repeats == .same) {
      violation("\(name(of: ask)) is done for one who was removed")
    }
  }

  /// What is sent again is answered as it was.
  private func judgeRepeat(_ ask: Ask, _ reply: CallReply, isKnown: Bool) {
    guard let first = ask.errand.first?.reply, isOwn(ask.bearer), hasAnswer(ask) else { return }
    if isKnown, ask.errand.repeats == .same, ask.bearer.kind == .person, !reply.isDone,
      reply.status != 401, reply.status != 429
    {
      violation("\(name(of: ask)) was done, and is \(reply.status) now: \(text(reply))")
    }
    guard reply.isDone, ask.errand.repeats == .same else { return }
    if reply.body != first.body || reply.status != first.status {
      violation("\(name(of: ask)) is answered by \(text(reply)), and was by \(text(first))")
    }
  }

  private func judgeViews(_ ask: Ask, _ reply: CallReply) {
    let views: [CallView]?
    switch ask.errand.shows {
    case .nothing: return
    case .call: views = CallView.read(reply.body).map { [$0] }
    case .entry: views = CallEntryView.read(reply.body).map { [$0.call] }
    case .left: views = CallLeftView.read(reply.body).map { [$0.call] }
    case .list: views = CallListView.read(reply.body)?.items
    }
    guard let views else { return violation("\(name(of: ask)) is no such answer: \(text(reply))") }
    for view in views { judge(view, given: ask.bearer.identity) }
  }

  /// A call, as it is shown to one person.
  func judge(_ view: CallView, given person: String) {
    if let fault = view.fault { violation("\(person) is shown that \(fault)") }
    guard let call = ledger.calls[view.id] else { return }
    if let fault = view.fault(hiding: call.people.subtracting(call.open)) {
      violation("\(person) is shown that \(fault)")
    }
  }

  /// Of a call that never was a stranger is answered the very same, for the same price.
  private func compare(_ ask: Ask, _ reply: CallReply) {
    guard let call = ask.errand.call, due(to: ask.bearer, for: ask.errand) == Due(), reply.status == 404,
      !ledger.isOpen(call, to: ask.bearer.identity)
    else { return }
    let request = ask.errand.request(ask.bearer.token, instead: uuid())
    guard let never = server.ask([request]).first ?? nil else {
      return violation("\(name(of: ask)), of a call that never was, is never answered")
    }
    let other = CallReply(response: never)
    judgeCharges([Paid(ask: ask, reply: other, isCharged: true, isTurnedAway: false, isKnown: false)])
    guard other.status != 429 else { return }
    journal.count(.strangerCompared)
    if other.status != reply.status || other.body != reply.body || never.headers != reply.response.headers {
      violation("\(name(of: ask)) is \(text(reply)), and of a call that never was \(text(other))")
    }
  }

  // MARK: - What is paid

  /// Something that was answered, and is to be paid.
  private struct Paid {
    let ask: Ask
    let reply: CallReply
    /// Its token was found good.
    let isCharged: Bool
    /// It is refused by what its token is for, and costs the request alone.
    let isTurnedAway: Bool
    /// It is answered as it was before.
    let isKnown: Bool
  }

  /// Each request costs its price, whatever comes of it, and no one has more done than it can pay for.
  private func judgeCharges(_ done: [Paid]) {
    var prices: [String: ClosedRange<Int>] = [:]
    var finished: Set<String> = []
    for paid in done where paid.isCharged {
      let (errand, reply) = (paid.ask.errand, paid.reply)
      // Of two at once under one key one is done.
      let isSecond = errand.key.map { reply.isDone && !finished.insert($0).inserted } ?? false
      let price = errand.price.bounds(
        body: errand.body.utf8.count, answer: reply.isDone ? reply.body.count : nil,
        isRepeated: paid.isTurnedAway || (paid.isKnown || isSecond) && errand.repeats == .same)
      let other = prices[paid.ask.bearer.identity] ?? 0...0
      prices[paid.ask.bearer.identity] =
        other.lowerBound + price.lowerBound...other.upperBound + price.upperBound
    }
    var paid: [String: Int] = [:]
    var short: Set<String> = []
    judgeReadings(of: done)
    for charge in server.takeCharges() where charge.room.isEmpty {
      if charge.isPaid {
        paid[charge.identity, default: 0] += charge.bytes
      } else {
        short.insert(charge.identity)
        journal.count(.callPriceRefused)
      }
      var budget = budgets[charge.identity] ?? CallBudget(now: now.nanoseconds)
      let fault = budget.note(
        charge.bytes, isPaid: charge.isPaid, isOwed: charge.isOwed, now: now.nanoseconds)
      if let fault { violation("of \(charge.identity) \(fault)") }
      budgets[charge.identity] = budget
    }
    for identity in Set(prices.keys).union(paid.keys).sorted() {
      let price = prices[identity] ?? 0...0
      let sum = paid[identity] ?? 0
      journal.count(.callPriceJudged)
      // Who couldn't pay has paid a part of it.
      guard sum > price.upperBound || sum < price.lowerBound && !short.contains(identity) else { continue }
      let asked = done.map { name(of: $0.ask) }.joined(separator: "; ")
      violation("\(identity) is charged \(sum) and not \(price) for \(asked)")
    }
  }

  /// What is read page by page is paid by the device that reads; what is refused, by no one.
  private func judgeReadings(of done: [Paid]) {
    var prices: [CallReadings.Reader: Int] = [:]
    for (errand, bearer, reply) in done.map({ ($0.ask.errand, $0.ask.bearer, $0.reply) })
    where errand.price.readItems > 0 && reply.isDone {
      let reader = CallReadings.Reader(person: bearer.identity, device: errand.device ?? bearer.device)
      prices[reader, default: 0] += errand.price.reading(answer: reply.body.count)
    }
    let (paid, faults) = readings.note(server.takeReadings(), now: now.nanoseconds)
    for fault in faults { violation(fault) }
    for reader in Set(prices.keys).union(paid.keys).sorted(by: { $0.name < $1.name }) {
      let (price, sum) = (prices[reader] ?? 0, paid[reader] ?? 0)
      if sum != price { violation("\(reader.name) is charged \(sum) and not \(price) for what it has read") }
    }
  }

  // MARK: - Texts

  func text(_ reply: CallReply) -> String { String(decoding: reply.body.prefix(400), as: UTF8.self) }

  private func code(_ reply: CallReply) -> String { CallProblemView.read(reply.body)?.code ?? "" }
}
