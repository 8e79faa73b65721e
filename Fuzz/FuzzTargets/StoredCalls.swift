import Calls
import FoundationEssentials

/// The moment at which what was stored is read.
private let now = CallTime(wall: 1_790_000_000_000, steady: 5_000_000)
/// How far the time of day was ahead of the clock of the process that wrote it.
private let offset: Int64 = 1_789_000_000_000

/// A call from a row of the database: refused, or one that is written and read as it was, goes on in another process for no longer
/// than it may, and can be ended.
@Sendable func fuzzCallState(_ input: UnsafeRawBufferPointer) {
  guard let call = try? JSONDecoder().decode(CallState.self, from: Data(input)) else { return }
  guard let written = try? JSONEncoder().encode(call),
    let again = try? JSONDecoder().decode(CallState.self, from: written)
  else { return check(false, "what is read is written, and read again") }
  check(again == call, "and is the same")
  var carried = call.carried(from: offset, to: now, terms: CallTerms())
  check(carried.deadline ?? 0 <= now.steady + 60_000, "nothing takes longer than it may")
  var restarted = carried
  _ = restarted.apply(.restart, at: now)
  check(restarted.isEnded || restarted.deadline ?? 0 <= now.steady + 60_000, "nor after a restart")
  for person in carried.people.prefix(4) {
    _ = carried.apply(.leave(person.id, nil, .userLeft), at: now)
    _ = carried.apply(.remove(person.id), at: now)
    check(carried.isEnded || carried.hasRemoved(person.id), "who is taken out is out")
  }
  _ = carried.apply(.end(by: nil), at: now)
  guard !call.isEnded else { return check(carried.isEnded, "what is over stays so") }
  check(carried.isEnded && carried.active.isEmpty && carried.invited.isEmpty, "an end ends it for all")
  check(carried.end?.duration ?? 0 >= 0, "no call lasts for less than nothing")
}

/// A shared session from a row of the database: refused, or one that is written and read as it was, numbers what comes, and ends.
@Sendable func fuzzSessionState(_ input: UnsafeRawBufferPointer) {
  guard let session = try? JSONDecoder().decode(SharedSession.self, from: Data(input)) else { return }
  guard let written = try? JSONEncoder().encode(session),
    let again = try? JSONDecoder().decode(SharedSession.self, from: written)
  else { return check(false, "what is read is written, and read again") }
  check(again == session, "and is the same")
  var carried = session.carried(from: offset, to: now, terms: SharedSessionTerms())
  check(carried.deadline ?? 0 <= now.steady + 60_000, "nothing takes longer than it may")
  let person = PersonID("ada")
  _ = try? carried.join(person, at: now)
  let last = carried.lastSeq
  if let number = try? carried.append(by: person, bytes: 16_384) {
    check(number == last + 1 && carried.lastSeq == number, "an event has the next number")
  }
  _ = try? carried.keepSnapshot(upTo: last, by: person)
  _ = try? carried.answerOffer(true, by: person, at: now)
  _ = carried.leave(person, at: now)
  _ = carried.advance(to: now)
  _ = carried.callEnded(at: now)
  check(carried.isEnded && (session.isEnded || carried.deadline == nil), "with its call it is over")
}
