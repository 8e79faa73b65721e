/// What a request about calls is to cost who asks, as docs/bounds.md has it; in bytes.
struct CallPrice {
  /// Of each request, beside its body.
  static let request = 4_096
  /// For each person that is named to be rung, and for each call that a list may have.
  static let item = 1_024
  /// For each device, block, person or delivery, and each call that is looked at for a page of those with another person.
  static let shortItem = 128
  static let mostLookedAt = 1_000
  /// For each entry of the log of keys that an answer may have.
  static let keyEntry = 512
  /// What is known only with an answer is charged up to that.
  static let mostBehindAnswer = 1_048_576

  var items = 0
  var shortItems = 0
  var keyEntries = 0
  /// Of an answer whose size isn't known, that much is paid before.
  var deposit = 0
  /// What the answer has beyond its items is paid for byte for byte.
  var isPaidBehind = false
  /// It copies what has a size of its own, which is paid for as well.
  var copies = false
  /// Where it is refused it may be before its items are paid for: by its token.
  var mayEndAtDoor = false
  /// It is another door's.
  var isFree = false
  /// Events that a page may have, which are paid apart from the request.
  var readItems = 0

  /// What is charged.
  /// - Parameters:
  ///   - body: bytes of the request's.
  ///   - answer: bytes of the answer's body; nil: it was refused.
  ///   - isRepeated: it is answered as it was before, or its token isn't for it, and nothing else is done.
  func bounds(body: Int, answer: Int?, isRepeated: Bool = false) -> ClosedRange<Int> {
    guard !isFree else { return 0...0 }
    let base = Self.request + body
    guard !isRepeated else { return base...base }
    let listed = items * Self.item + deposit
    var due = base + listed + shortItems * Self.shortItem + keyEntries * Self.keyEntry
    if isPaidBehind, let answer { due += min(max(0, answer - listed), Self.mostBehindAnswer) }
    let least = mayEndAtDoor && answer == nil ? base : due
    return least...(copies ? due + Self.mostBehindAnswer : due)
  }
}

extension CallPrice {
  /// What a page has beyond the events that were paid before is charged up to that.
  private static let mostBehindPage = 524_288

  /// What is charged for reading.
  /// - Parameter answer: bytes of the page.
  func reading(answer: Int) -> Int {
    let before = readItems * Self.item
    return before + min(max(0, answer - before), Self.mostBehindPage)
  }
}

/// What one person may spend: so much a second, and so much at once.
struct CallBudget {
  static let rate = 524_288.0
  static let burst = 2_097_152.0
  /// Of each charge, beside what is charged.
  static let charge = 512.0
  /// Charges are rounded, each by less than a byte.
  private static let slack = 64.0

  private var left = Self.burst
  private var at: Int64

  /// - Parameter now: nanoseconds.
  init(now: Int64) { at = now }

  /// Records a charge, and whether the server accepted it.
  /// - Parameter isOwed: it is of what was done already, and may be more than is left.
  /// - Returns: what is wrong.
  mutating func note(_ bytes: Int, isPaid: Bool, isOwed: Bool = false, now: Int64) -> String? {
    guard isPaid else {
      guard hasEnough(for: bytes, now: now) else { return nil }
      return "\(bytes) bytes are refused, though \(Int(left)) are left"
    }
    let isShort = !pay(bytes, now: now)
    return isShort && !isOwed ? "\(bytes) bytes are done for one who has none left" : nil
  }

  private mutating func pass(to now: Int64) {
    left = min(Self.burst, left + Double(now - at) / 1e9 * Self.rate)
    at = now
  }

  private static func amount(_ bytes: Int, _ parts: Int) -> Double {
    min(charge + Double(bytes), burst) / Double(parts)
  }

  /// Whether a charge is certainly not to be refused.
  /// - Parameter parts: it has one of so many parts of it.
  mutating func hasEnough(for bytes: Int, parts: Int = 1, now: Int64) -> Bool {
    pass(to: now)
    return left > Self.amount(bytes, parts) + Self.slack
  }

  /// - Returns: whether there was enough.
  mutating func pay(_ bytes: Int, parts: Int = 1, now: Int64) -> Bool {
    pass(to: now)
    left -= Self.amount(bytes, parts)
    return left >= -Self.slack
  }

  /// Charges for what was read in any case, of which no more is owed than comes in a second.
  mutating func owe(_ bytes: Int, parts: Int, now: Int64) {
    pass(to: now)
    left = max(left - (Self.charge + Double(bytes)) / Double(parts), min(left, -Self.rate))
  }
}
