@testable import Calls

/// What judges any run of a call: it is given every event with what came of it.
struct CallJudge {
  private var rings: [CallUUID: (person: PersonID, hasEnded: Bool)] = [:]
  private var open: [PersonID: CallUUID] = [:]
  /// Sessions whose media stands in truth.
  private(set) var media: Set<CallUUID> = []
  private(set) var faults: [String] = []

  mutating func require(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { faults.append(text()) }
  }

  mutating func began(_ call: CallState, _ effects: [CallEffect]) {
    open[call.caller] = call[call.caller]?.session?.id
    take(effects, call)
    look(at: call)
  }

  mutating func happened(
    _ event: CallEvent, _ before: CallState, _ after: CallState, _ effects: [CallEffect],
    _ refusal: CallRefusal?
  ) {
    if case .join(let person, _, let session, _, _) = event, refusal == nil {
      // The same device again has another session in place of its own.
      if after[person]?.session?.id == session,
        before[person]?.session?.device == after[person]?.session?.device
      {
        open[person] = session
      } else if after[person]?.session?.id == session {
        pending[person] = session
      }
    }
    switch event {
    case .mediaCame(_, let session): media.insert(session)
    case .mediaWent(_, let session, _): media.remove(session)
    case .restart: media = []
    case .leave(let person, let device?, _):
      if let session = before[person]?.session, session.device != device, session.deadline == nil {
        require(
          after[person]?.session == session || after.isEnded, "\(person.text) is taken out by another device")
      }
    default: break
    }
    take(effects, after)
    for (person, session) in pending { open[person] = session }
    pending = [:]
    look(at: after)
    require(!before.isEnded || (after == before && effects.isEmpty), "an ended call has changed by \(event)")
    require(
      before.looksLike(after) == !effects.contains { $0 == .updated || $0 == .ended },
      "\(event): changed without a word, or a word for nothing")
    for person in before.people {
      let now = after[person.id]
      require(now != nil, "\(person.id.text) is forgotten")
      if let reason = person.leaveReason, let later = now?.leaveReason, !before.isEnded {
        // Whom an admin takes out is so whatever was before.
        require(
          reason == later || later == .removed || later == .busy,
          "\(person.id.text) left by \(reason), then by \(later)")
      }
      require(person.leaveReason != .removed || now?.leaveReason == .removed, "\(person.id.text) is back")
    }
    require(after.people.starts(with: before.people) { $0.id == $1.id }, "people are in another order")
  }

  private var pending: [PersonID: CallUUID] = [:]

  private mutating func take(_ effects: [CallEffect], _ call: CallState) {
    for effect in effects {
      switch effect {
      case .ring(let person, let ring):
        require(rings[ring.id] == nil, "a ring has the id of another")
        // What isn't heard needs no end.
        if !ring.isSilent { rings[ring.id] = (person, false) }
      case .ringEnded(let person, let id, _, _):
        require(rings[id].map { $0.person == person && !$0.hasEnded } ?? false, "a ring ends that isn't one")
        rings[id]?.hasEnded = true
      case .close(let person, let session, _):
        require(open[person] == session, "a session of \(person.text) is closed that isn't open")
        open[person] = nil
      case .revoke, .updated, .ended: break
      }
    }
    require(
      effects.count { $0 == .ended } == (call.isEnded && !effects.isEmpty ? 1 : 0), "an end isn't said once")
    require(
      !effects.dropLast().contains { $0 == .updated || $0 == .ended }, "how it stands isn't what is last")
  }

  private mutating func look(at call: CallState) {
    for person in call.people {
      let ringing = rings.filter { $0.value.person == person.id && !$0.value.hasEnded }.map(\.key)
      let heard = person.ring.flatMap { $0.isSilent ? nil : $0.id }
      require(
        ringing == (heard.map { [$0] } ?? []), "\(person.id.text) is rung by \(ringing.count) rings")
      if case .standing(let session)? = person.session?.media {
        require(media.contains(session), "the media of \(person.id.text) stands by a session that has gone")
      }
      require(!person.isHidden || !person.hasJoined, "\(person.id.text) is in a call that it doesn't see")
      require(open[person.id] == person.session?.id, "\(person.id.text) has another session than is open")
    }
    let parts = [call.invited, call.active, call.people.filter { $0.leaveReason != nil }.map(\.id)]
    require(
      Set(parts.joined()) == Set(call.people.map(\.id)) && parts.joined().count == call.people.count,
      "the lists aren't a partition")
    if call.isEnded {
      require(
        call.invited.isEmpty && call.active.isEmpty && call.deadline == nil,
        "it has ended with somebody in it")
      require((call.end?.outcome == .answered) == (call.connectedAt != nil), "answered is what was connected")
      require((call.end?.duration == nil) == (call.connectedAt == nil), "only what was connected lasts")
      require(call.people.allSatisfy { call.outcome(for: $0.id) != nil }, "somebody has no outcome")
    } else {
      let standing = call.people.count { $0.session?.isStanding ?? false }
      require(!call.active.isEmpty, "it goes on without anyone")
      require(call.deadline != nil || standing >= 2, "it never ends: \(call)")
    }
  }
}

/// A call by what matters for what may happen next: without ids, with times as spans from now.
struct CallShape: Hashable {
  private var people: [[Int64]]
  private var rest: [Int64]

  init(_ call: CallState, now: CallTime) {
    people = call.people.map { person in
      let head: [Int64]
      var said: Int64 = 0
      switch person.status {
      case .invited(let ring): head = [0, ring.until - now.steady, ring.isSilent ? 1 : 0]
      case .active(let session):
        let device = Int64(session.device.text.utf8.last ?? 0)
        switch session.media {
        case .awaited(let until): head = [1, device, 0, until - now.steady]
        case .gone(let until): head = [1, device, 1, until - now.steady]
        case .standing(let by): head = [1, device, 2, by == session.id ? 0 : 1]
        }
        said = session.saysConnected ? 1 : 0
      case .left(let reason, _): head = [2, Int64(LeaveReason.allCases.firstIndex(of: reason)!)]
      }
      return head + [person.hasJoined ? 1 : 0, person.wasConnected ? 1 : 0, person.isHidden ? 1 : 0, said]
    }
    rest = [
      call.connectedAt == nil ? 0 : 1,
      call.end.map { Int64(CallOutcome.allCases.firstIndex(of: $0.outcome)!) } ?? -1,
      (call.aloneUntil ?? now.steady - 1) - now.steady,
    ]
  }
}
