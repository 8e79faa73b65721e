internal import Model

/// What one identity may spend in a room, however often it comes and goes.
struct Allowance: Refilling {
  /// What others pay for: coming and going, offers, subscriptions, mutes, updates.
  var requests = Budget(rate: 20, burst: 100)
  /// Bytes of offers, which are read and matched before anything is known of them.
  var offers = Budget(rate: 65_536, burst: 524_288)
  var messages = Budget(rate: 100, burst: 200)
  /// Bytes of messages.
  var volume = Budget(rate: 262_144, burst: 1_048_576)

  var fullAt: Instant { max(requests.fullAt, offers.fullAt, messages.fullAt, volume.fullAt) }
}
