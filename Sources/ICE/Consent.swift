internal import Model
internal import Wire

/// Whether the far end still agrees to receive (RFC 7675), for one pair.
///
/// Checks are sent once each and a later one doesn't cancel an earlier: any of those still open may be
/// answered. While the last is unanswered they come twice as often, so that a path that loses a third of its
/// datagrams keeps its consent.
///
///     fresh ──interval──▶ check sent ──answer──▶ fresh
///       └──────── nothing for 30 s ────────▶ expired
struct Consent: Sendable {
  private(set) var granted: Instant
  private(set) var nextCheck: Instant
  private var lastCheck: Instant
  private var open: OpenChecks = OpenChecks()

  /// Starts with the proof that validated the pair.
  init(grantedAt now: Instant, nextCheck: Instant) {
    granted = now
    lastCheck = now
    self.nextCheck = nextCheck
  }

  var expiry: Instant { granted.advanced(byNanoseconds: ICETimers.consentTimeout) }
  var deadline: Instant { min(nextCheck, expiry) }

  func isExpired(at now: Instant) -> Bool { now >= expiry }
  func expects(_ transaction: STUNTransactionID) -> Bool { open.sentAt(transaction) != nil }

  /// An authenticated sign that the far end listens; once expired, consent doesn't come back.
  mutating func grant(at now: Instant) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.consentRevived) { granted = max(granted, now) }
    #endif
    if !isExpired(at: now) { granted = max(granted, now) }
  }

  /// A check of ours was answered.
  /// - Returns: how long the answer took, in nanoseconds.
  mutating func answered(_ transaction: STUNTransactionID, at now: Instant) -> Int64 {
    let sent = open.close(transaction) ?? now
    grant(at: now)
    return now.nanoseconds &- sent.nanoseconds
  }

  /// A check was sent.
  /// - Parameter interval: nanoseconds between two checks, of which the next one's jitter is drawn.
  mutating func sent(
    _ transaction: STUNTransactionID, at now: Instant, interval: Int64, random: inout RandomSource
  ) {
    let isAnswered = granted >= lastCheck
    open.add(transaction, at: now)
    lastCheck = now
    nextCheck = now.advanced(byNanoseconds: random.jittered(isAnswered ? interval : interval / 2))
  }

  mutating func bringForward(to instant: Instant) { nextCheck = min(nextCheck, instant) }
}

extension Consent {
  func encode(into writer: inout StateWriter) {
    writer.write(granted)
    writer.write(nextCheck)
    writer.write(lastCheck)
    open.encode(into: &writer)
  }

  init(from reader: inout StateReader) throws(StateError) {
    granted = try reader.instant()
    nextCheck = try reader.instant()
    lastCheck = try reader.instant()
    open = try OpenChecks(from: &reader)
  }
}

extension RandomSource {
  /// `interval` varied evenly by ±20 % (RFC 7675 §5.1: against synchronisation).
  mutating func jittered(_ interval: Int64) -> Int64 {
    interval / 5 * 4 + Int64.random(in: 0...interval / 5 * 2, using: &self)
  }

  /// 96 random bits (RFC 8489 §6).
  mutating func transaction() -> STUNTransactionID {
    STUNTransactionID(high: UInt32(truncatingIfNeeded: next()), low: next())
  }
}
