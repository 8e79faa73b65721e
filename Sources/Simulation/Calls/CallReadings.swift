internal import Gateway

/// What people's devices have paid for what they read of events, as docs/bounds.md has it: each device for itself, and an eighth of it
/// all of a person's together.
struct CallReadings {
  struct Reader: Hashable {
    let person: String
    /// nil: one that doesn't say which it is.
    let device: String?

    var name: String { "\(person) by \(device ?? "no device")" }
  }

  /// One of so many parts of all is charged to the person.
  static let parts = 8
  /// The name of the person's own budget, with which those of devices begin. No room is named by it.
  private static let ofPerson = "\n"

  /// By the person and the name that the server has for them.
  private var budgets: [String: CallBudget] = [:]

  /// Whether a charge is of what was read.
  static func hasCharge(_ charge: Intakes.Charge) -> Bool { charge.room.hasPrefix(ofPerson) }

  /// - Parameters:
  ///   - charges: the device's and the person's for each read, one behind the other.
  ///   - now: nanoseconds.
  /// - Returns: what was paid by each device, and what is wrong.
  mutating func note(_ charges: [Intakes.Charge], now: Int64) -> (paid: [Reader: Int], faults: [String]) {
    var paid: [Reader: Int] = [:]
    var faults: [String] = []
    for place in stride(from: 0, to: charges.count, by: 2) {
      let own = charges[place]
      let name = String(own.room.dropFirst())
      let reader = Reader(person: own.identity, device: name == Self.ofPerson ? nil : name)
      guard place + 1 < charges.count, Self.isPair(own, charges[place + 1]) else {
        faults.append("of \(reader.name) not the device and the person are charged the same for what is read")
        continue
      }
      if own.isPaid { paid[reader, default: 0] += own.bytes }
      if let fault = judge(own, charges[place + 1], now: now) { faults.append("of \(reader.name) \(fault)") }
    }
    return (paid, faults)
  }

  private static func isPair(_ own: Intakes.Charge, _ all: Intakes.Charge) -> Bool {
    own.room != ofPerson && all.room == ofPerson && own.identity == all.identity && own.bytes == all.bytes
      && own.isPaid == all.isPaid && own.isOwed == all.isOwed && own.parts == 1 && all.parts == parts
  }

  private mutating func judge(_ own: Intakes.Charge, _ all: Intakes.Charge, now: Int64) -> String? {
    var (isShort, hasEnough) = (false, true)
    for charge in [own, all] {
      let key = charge.identity + charge.room
      var budget = budgets[key] ?? CallBudget(now: now)
      if charge.isOwed {
        budget.owe(charge.bytes, parts: charge.parts, now: now)
      } else if charge.isPaid {
        if !budget.pay(charge.bytes, parts: charge.parts, now: now) { isShort = true }
      } else if !budget.hasEnough(for: charge.bytes, parts: charge.parts, now: now) {
        hasEnough = false
      }
      budgets[key] = budget
    }
    if isShort { return "\(own.bytes) bytes are read for one who has none left" }
    return !own.isPaid && hasEnough ? "\(own.bytes) bytes are refused, though there is enough" : nil
  }
}

/// What one stream has given out, and what was charged for it.
struct CallStreamReading {
  /// What is beside the data in a stream, at most: of each event, and of each piece.
  private static let beside = 256

  var charged = 0
  private var events = 0
  private var bytes = 0

  /// - Parameter bytes: of the stream's text.
  mutating func note(_ count: Int, bytes size: Int) {
    events += count
    bytes += max(0, size - Self.beside * (count + 1))
  }

  /// Each event costs its data, and so much at least.
  var fault: String? {
    let least = max(bytes, events * CallPrice.item)
    return charged < least ? "is charged \(charged) for what costs \(least) at least" : nil
  }
}
