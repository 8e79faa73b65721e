/// What each device hears of rings and of the ends of calls: a ring begins once and ends once, by a word or by what the device has done
/// itself; a call ends once, and nothing of it comes behind that.
struct RingLedger {
  /// A device of a person.
  struct Ear: Hashable {
    var person: String
    var device: String
  }

  fileprivate enum Phase {
    case running
    case ended
    /// It is heard of no more: its person was forgotten.
    case forgotten
  }

  fileprivate struct Ring {
    let call: String
    /// Milliseconds.
    let until: Int64
    var phase = Phase.running
  }

  fileprivate struct Heard {
    var rings: [String: Ring] = [:]
    /// Joins and refusals by this device, of each call: each may have ended a ring, of which it hears no word.
    var own: [String: Int] = [:]
    var ended: Set<String> = []
  }

  private var ears: [Ear: Heard] = [:]
  /// People who were forgotten, and with them what they would have heard.
  private var forgotten: Set<String> = []
  private(set) var judged = 0

  /// - Parameter until: when it is over, in milliseconds.
  /// - Returns: what is wrong.
  mutating func ringing(_ ring: String, of call: String, on ear: Ear, until: Int64) -> String? {
    let heard = ears[ear, default: Heard()]
    ears[ear, default: Heard()].rings[ring] = Ring(call: call, until: until)
    if heard.rings[ring] != nil { return "ring \(ring) begins twice on \(ear)" }
    if heard.ended.contains(call) { return "ring \(ring) begins on \(ear) behind the end of its call" }
    let open = heard.running(of: call)
    return open > heard.own[call] ?? 0 ? "\(ear) is rung by call \(call), which rings there already" : nil
  }

  /// - Parameter now: milliseconds.
  mutating func ended(
    _ ring: String, of call: String, reason: String, on ear: Ear, now: Int64
  ) -> String? {
    judged += 1
    guard let known = ears[ear]?.rings[ring] else {
      return forgotten.contains(ear.person) ? nil : "ring \(ring) ends on \(ear), which never heard of it"
    }
    ears[ear]?.rings[ring]?.phase = .ended
    if known.phase == .ended { return "ring \(ring) ends twice on \(ear)" }
    if known.call != call { return "ring \(ring) of call \(known.call) ends in call \(call)" }
    return reason == "timedOut" && now < known.until ? "ring \(ring) is over before its time on \(ear)" : nil
  }

  /// The device has come into the call or refused it by itself.
  mutating func noteOwn(_ ear: Ear, _ call: String) { ears[ear, default: Heard()].own[call, default: 0] += 1 }

  mutating func updated(_ call: String, on ear: Ear) -> String? {
    ears[ear]?.ended.contains(call) == true ? "\(ear) hears of call \(call) behind its end" : nil
  }

  mutating func over(_ call: String, on ear: Ear) -> String? {
    ears[ear, default: Heard()].ended.insert(call).inserted ? nil : "call \(call) ends twice on \(ear)"
  }

  /// A person is forgotten with all that it has heard: what ends later may have begun unheard.
  mutating func forget(_ person: String) {
    forgotten.insert(person)
    for ear in ears.keys where ear.person == person {
      let rings = ears[ear]?.rings.mapValues { $0.forgotten() } ?? [:]
      ears[ear]?.rings = rings
    }
  }

  /// What is wrong with what a device has heard that has heard everything by now.
  /// - Parameter now: milliseconds.
  func overdue(on ear: Ear, now: Int64) -> String? {
    guard let heard = ears[ear] else { return nil }
    for call in Set(heard.rings.values.map(\.call)).sorted() {
      let late = heard.rings.values.count {
        $0.call == call && $0.phase == .running && $0.until + 1_000 < now
      }
      if late > heard.own[call] ?? 0 { return "\(ear) rings on for call \(call)" }
    }
    return nil
  }

  /// Whether a device has heard that a call is over.
  func hasHeardEnd(of call: String, on ear: Ear) -> Bool {
    forgotten.contains(ear.person) || ears[ear]?.ended.contains(call) ?? false
  }
}

extension RingLedger.Ring {
  fileprivate func forgotten() -> Self {
    var ring = self
    ring.phase = .forgotten
    return ring
  }
}

extension RingLedger.Heard {
  /// Rings of a call of which no end was heard.
  fileprivate func running(of call: String) -> Int {
    rings.values.count { $0.call == call && $0.phase == .running }
  }
}
