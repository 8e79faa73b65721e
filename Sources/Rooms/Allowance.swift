internal import Model

/// What one identity may spend in a room, however often it comes and goes.
struct Allowance: Refilling {
  /// What others pay for: coming and going, offers, subscriptions, mutes, updates.
  var requests = RateLimit(rate: 20, burst: Self.requestBurst)
  static let requestBurst = 100.0
  /// Bytes of offers, which are read and matched before anything is known of them.
  var offers = RateLimit(rate: 65_536, burst: 524_288)
  var messages = RateLimit(rate: 100, burst: 200)
  /// Bytes of messages.
  var volume = RateLimit(rate: 262_144, burst: 1_048_576)
  /// That it comes to wait to be let in, of which hosts hear each time: a few reloads, and then one in ten seconds.
  var waits = RateLimit(rate: 0.1, burst: 5)

  var fullAt: Instant { max(requests.full, offers.full, messages.full, volume.full, waits.full) }
}
