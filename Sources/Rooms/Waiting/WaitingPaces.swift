internal import Model

/// How often sessions come to wait in one room. Each tells hosts twice and makes two events: at one a second these are some 7,400 within an
/// hour, which leaves room among the 10,000 of the log for what else happens.
struct WaitingPaces: Sendable {
  /// Of those that come by one invitation, or by none: half of what all may, so that those who have one link, however many identities it
  /// gives them, keep no others out. At once more may come than may wait, since some of those come again.
  struct Group: Refilling {
    var pace = RateLimit(rate: 0.5, burst: 75)

    var fullAt: Instant { pace.full }
  }

  /// Invitations of which it is remembered: as many as a room has at once, and again as many that were revoked or are over.
  static let groupLimit = 128

  /// Of all.
  var all = RateLimit(rate: 1, burst: 100)
  /// By the id of the invitation; empty: by none.
  var groups = AllowanceTable<String, Group>(capacity: WaitingPaces.groupLimit)

  /// How long it takes until one more may come by that invitation; zero where it may.
  mutating func wait(for invitation: InvitationID?, now: Instant) -> Duration {
    let own = groups.use(invitation?.text ?? "", now: now) { $0.pace.wait(now: now) }
    return max(all.wait(now: now), own)
  }

  /// One more has come, which may.
  mutating func take(_ invitation: InvitationID?, now: Instant) {
    groups.use(invitation?.text ?? "", now: now) { _ = $0.pace.take(now: now) }
    _ = all.take(now: now)
  }
}
