internal import Calls
internal import HTTPServer
internal import Model
internal import SyntheticPeers

/// What devices hear: by streams that come and go, or page by page, each on from where it was.
extension CallConference {
  func hear() {
    for member in people {
      for phone in member.phones {
        if phone.stream == nil {
          if below(5) == 0 {
            listen(phone, of: member)
          } else if below(4) == 0 {
            read(phone, of: member)
          }
        } else if below(24) == 0 {
          phone.stream = nil
          journal.count(.callStreamClosed)
        }
        pump(phone, of: member)
      }
    }
  }

  private func listen(_ phone: CallPhone, of member: CallMember) {
    let bearer = personBearer(of: member)
    let errand = CallErrand(.callStreamOpened, .get, "/v1/calls/events")
    errand.query = "after=\(phone.heard)&device=\(phone.id)"
    (errand.isStream, errand.device) = (true, phone.id)
    errand.effect = { [self] reply in
      guard let stream = reply.response.stream else { return violation("\(phone.id) is given no stream") }
      phone.stream = stream
      (phone.text, phone.reading) = (CallStreamText(), CallStreamReading())
      phone.streamUntil = bearer.validUntil
    }
    perform([(errand, bearer)])
  }

  /// Takes what a stream has, to its end.
  private func pump(_ phone: CallPhone, of member: CallMember) {
    guard let stream = phone.stream else { return }
    defer { judgeReading(phone, of: member) }
    var quiet = 0
    for _ in 0..<64 where quiet < 2 {
      var bytes: [UInt8] = []
      let step = stream.produce(into: &bytes, enough: 65_536, now: now, ending: nil)
      take(bytes, phone, of: member)
      if step == .end || phone.text.end != nil { return end(phone) }
      if !server.turns.settle() { violation("the server does not become quiet") }
      quiet = bytes.isEmpty ? quiet + 1 : 0
    }
    judgeRings(phone, of: member)
  }

  private func take(_ bytes: [UInt8], _ phone: CallPhone, of member: CallMember) {
    guard !bytes.isEmpty else { return }
    keep(bytes, as: 200)
    if let fault = ledger.fault(in: bytes, given: .person(member.name, device: phone.id)) {
      violation("the stream of \(phone.id): \(fault)")
    }
    guard let events = phone.text.take(bytes) else {
      return violation("the stream of \(phone.id) has \(String(decoding: bytes.prefix(400), as: UTF8.self))")
    }
    phone.reading.note(events.count, bytes: bytes.count)
    if !events.isEmpty, time.seconds >= phone.streamUntil {
      violation("\(phone.id) hears more by a token that holds no longer")
    }
    for event in events { note(event, on: phone, of: member) }
  }

  /// What a stream has given out is paid by then, by its device and no other.
  private func judgeReading(_ phone: CallPhone, of member: CallMember) {
    let (paid, faults) = readings.note(server.takeReadings(), now: now.nanoseconds)
    for fault in faults { violation(fault) }
    for (reader, sum) in paid.sorted(by: { $0.key.name < $1.key.name }) {
      if reader == CallReadings.Reader(person: member.name, device: phone.id) {
        phone.reading.charged += sum
      } else {
        violation("\(reader.name) is charged \(sum) for what \(phone.id) reads")
      }
    }
    if let fault = phone.reading.fault { violation("the stream of \(phone.id) \(fault)") }
  }

  private func end(_ phone: CallPhone) {
    phone.stream = nil
    journal.count(.callStreamExpired)
    if time.seconds < phone.streamUntil {
      violation("the stream of \(phone.id) ends before its time: \(phone.text.end ?? "without a word")")
    }
  }

  /// A page of what a device hasn't heard yet.
  func read(_ phone: CallPhone, of member: CallMember, toTheEnd: Bool = false) {
    for _ in 0..<(toTheEnd ? 100 : 1) {
      let (before, limit) = (phone.heard, toTheEnd ? 100 : 20)
      let errand = CallErrand(.callPageRead, .get, "/v1/calls/events")
      errand.query = "after=\(before)&limit=\(limit)&device=\(phone.id)"
      // What is read is paid apart from what is asked.
      (errand.device, errand.price.readItems) = (phone.id, limit)
      var isDone = false
      errand.effect = { [self] reply in
        guard let page = HeardCallEvents.read(reply.body) else {
          return violation("\(phone.id) is given no page: \(text(reply))")
        }
        for event in page.items { note(event, on: phone, of: member) }
        phone.heard = max(phone.heard, page.last)
        isDone = true
      }
      perform([(errand, personBearer(of: member))])
      guard toTheEnd else { return }
      if isDone, phone.heard == before { return judgeRings(phone, of: member) }
      // It has asked for too much lately.
      if !isDone { pass(5_000) }
    }
    if toTheEnd { violation("\(phone.id) comes to no end of its events") }
  }

  // MARK: - What is heard

  private func note(_ event: HeardCallEvent, on phone: CallPhone, of member: CallMember) {
    journal.count(.callEventHeard)
    if event.id <= phone.heard, event.kind != "state" {
      violation("\(phone.id) hears event \(event.id) behind \(phone.heard)")
    }
    phone.heard = event.id
    for view in event.calls { judge(view, given: member.name) }
    if let view = event.view { judge(view, given: member.name) }
    guard let call = event.call else { return }
    let (ear, now) = (RingLedger.Ear(person: member.name, device: phone.id), time.call.wall)
    var faults: [String?] = []
    switch event.kind {
    case "call.ringing":
      guard let ring = event.ring else { return }
      faults.append(ledger.claim(ring, for: member.name))
      faults.append(rings.ringing(ring, of: call, on: ear, until: now + event.remaining))
    case "ring.ended":
      guard let ring = event.ring else { return }
      faults.append(
        rings.ended(ring, of: call, reason: event.reason ?? "", on: ear, now: now))
    case "call.updated": faults.append(rings.updated(call, on: ear))
    case "call.ended": faults.append(rings.over(call, on: ear))
    default: break
    }
    for fault in faults.compactMap({ $0 }) { violation(fault) }
  }

  private func judgeRings(_ phone: CallPhone, of member: CallMember) {
    let ear = RingLedger.Ear(person: member.name, device: phone.id)
    if let fault = rings.overdue(on: ear, now: time.call.wall) { violation(fault) }
  }

  // MARK: - The end

  /// Nothing goes on, each device has heard the end of each call, and no room is left.
  func judgeEnd() {
    for call in order {
      guard let known = ledger.calls[call] else { continue }
      if !known.isOver { violation("call \(call) never ends") }
      for member in people where known.open.contains(member.name) {
        for phone in member.phones
        where !rings.hasHeardEnd(of: call, on: RingLedger.Ear(person: member.name, device: phone.id)) {
          violation("\(phone.id) hears nothing of the end of call \(call)")
        }
      }
    }
    guard let rooms = server.roomNames() else { return violation("the rooms do not answer") }
    for room in rooms { violation("room \(room) stands, and its call is over") }
    for member in people {
      let errand = CallErrand(.callListed, .get, "/v1/calls")
      (errand.query, errand.price.items, errand.price.isPaidBehind) = ("status=active", 50, true)
      errand.effect = { [self] reply in
        guard let list = CallListView.read(reply.body), list.items.isEmpty else {
          return violation("\(member.name) is shown calls that go on: \(text(reply))")
        }
      }
      perform([(errand, personBearer(of: member))])
    }
  }
}
