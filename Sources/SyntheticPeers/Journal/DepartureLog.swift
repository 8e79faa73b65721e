package import Model

/// One packet of a stream as it left the server, with its copies.
package struct Departure {
  package var sentAt = Instant.never
  package var fingerprint: UInt64 = 0
  package var timestamp: UInt32 = 0
  package var lost = 0
  package var copies = 0
}

/// One stream as it leaves the server for one subscriber, seen from outside: headers are readable, bytes are
/// compared. Under one key an index must never have two ciphertexts (RFC 3711 §9.1).
package final class DepartureLog {
  package enum Verdict { case first, repeated, conflict }

  package let number: Int
  package let subscriber: Int
  package let ssrc: UInt32
  package private(set) var entries: [Departure] = []
  /// The extended sequence number of `entries[0]`.
  package private(set) var base: Int64 = 0
  package private(set) var highest: Int64 = .min
  package private(set) var count = 0

  package init(number: Int, subscriber: Int, ssrc: UInt32) {
    self.number = number
    self.subscriber = subscriber
    self.ssrc = ssrc
  }

  /// - Returns: the entry's number, and whether the index was used before.
  package func note(sequence: UInt16, timestamp: UInt32, fingerprint: UInt64, now: Instant) -> (Int, Verdict)
  {
    var extended = Int64(sequence) + 0x1_0000
    if highest == .min {
      base = extended
      highest = extended
    } else {
      extended = highest + Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
      highest = max(highest, extended)
      if extended < base {
        entries.insert(contentsOf: Array(repeating: Departure(), count: Int(base - extended)), at: 0)
        base = extended
      }
    }
    count += 1
    let index = Int(extended - base)
    while entries.count <= index { entries.append(Departure()) }
    entries[index].copies += 1
    guard entries[index].copies == 1 else {
      return (index, entries[index].fingerprint == fingerprint ? .repeated : .conflict)
    }
    entries[index].sentAt = now
    entries[index].timestamp = timestamp
    entries[index].fingerprint = fingerprint
    return (index, .first)
  }

  package func noteLost(_ index: Int) { if index < entries.count { entries[index].lost += 1 } }

  /// Whether a number from `extended` on left before some moment.
  package func wasPassed(_ extended: Int64, before moment: Instant) -> Bool {
    let index = Int(extended - base)
    return index < entries.count && entries[max(index, 0)...].contains { $0.copies > 0 && $0.sentAt < moment }
  }

  /// nil for what was never sent.
  package subscript(extended: Int64) -> Departure? {
    let index = Int(extended - base)
    guard index >= 0, index < entries.count, entries[index].copies > 0 else { return nil }
    return entries[index]
  }
}
