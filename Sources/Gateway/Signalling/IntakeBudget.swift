internal import Model
internal import Rooms

/// What one participant's messages may cost, whatever is in them: each is charged before it is read, and a socket's first,
/// of which there is one, once it is known who speaks. An answer that is sent again is charged like a message.
///
/// A client that says more than its share is read more slowly, so that nothing of what it says is lost; what it goes on
/// sending waits in its own connection, within bounds.
struct IntakeBudget: Refilling {
  /// Units a second, and at once. A unit is what a byte costs that is only looked at.
  static let rate = 524_288.0
  static let burst = 2_097_152.0
  /// Of the shortest message: a turn of the session, and an answer.
  static let message = 512.0

  private var limit = RateLimit(rate: Self.rate, burst: Self.burst)

  var fullAt: Instant { limit.full }

  /// Charges a message of so many bytes.
  /// - Returns: how long its reader waits before it reads; zero where there is enough.
  mutating func charge(_ bytes: Int, now: Instant) -> Duration {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.shortForNothing) { return limit.charge(Double(bytes), now: now) }
    #endif
    return limit.charge(Self.message + Double(bytes), now: now)
  }

  /// As `charge`, of what is read in any case, and of which this budget has a part; beyond `most` nothing is owed.
  mutating func charge(_ bytes: Int, parts: Int, owingAtMost most: Duration, now: Instant) -> Duration {
    let owed = limit.wait(for: 0, now: now)
    guard owed < most else { return owed }
    let wait = limit.charge((Self.message + Double(bytes)) / Double(parts), now: now)
    guard wait > most else { return wait }
    limit.full = limit.full + (most - wait)
    return most
  }

  /// Charges a message of so many bytes, if there is enough for it.
  /// - Returns: zero, or how long it takes until there is.
  mutating func take(_ bytes: Int, now: Instant) -> Duration {
    let amount = min(Self.message + Double(bytes), Self.burst)
    return limit.take(amount, now: now) ? .zero : limit.wait(for: amount, now: now)
  }

  /// How long it takes until there is enough for a part of a message of so many bytes; zero: there is.
  func wait(for bytes: Int, parts: Int, now: Instant) -> Duration {
    limit.wait(for: Self.amount(bytes, parts), now: now)
  }

  /// Charges a part of a message of so many bytes, if there is enough for it.
  mutating func take(_ bytes: Int, parts: Int, now: Instant) {
    _ = limit.take(Self.amount(bytes, parts), now: now)
  }

  private static func amount(_ bytes: Int, _ parts: Int) -> Double {
    min(message + Double(bytes), burst) / Double(parts)
  }

  /// Charges for so many bytes of what is done already: what isn't there is owed.
  mutating func owe(_ bytes: Int, now: Instant) {
    limit.charge(upTo: Self.message + Double(bytes), now: now)
  }
}
