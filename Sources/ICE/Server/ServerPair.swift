internal import Model
internal import Wire

/// One path on which a valid check came in, under one generation of credentials.
///
///     valid check ─▶ verifying ──our check answered──▶ validated
///                    ▲      └─ seven checks, no answer ─▶ dormant ◀─ no consent for 30 s ─┘
///                    └────────── valid check ───────────────┘ └─ nothing for 30 s ─▶ gone
///
/// A dormant pair is worth nothing but for its nomination: a peer need not repeat that once it was answered.
struct ServerPair: Sendable {
  /// Bytes that may go to an unproven address for each byte that came from it.
  static let amplification: UInt64 = 3
  /// The wait for the answer to our first check; it doubles from there.
  static let verificationTimeout: Int64 = 200_000_000
  static let dormancy: Int64 = 30_000_000_000

  let path: NetworkPath
  let generation: UInt32
  let created: Instant
  private(set) var isValidated = false
  /// Accepted on the far end's check alone; over with the first answer to one of ours.
  private(set) var isTrusted = false
  /// When a dormant pair goes; nil while it isn't dormant.
  private(set) var dormantUntil: Instant?
  /// Larger for a later nomination, 0 for none.
  var nominationSerial: UInt64 = 0
  /// The value of the NOMINATION attribute that the nomination came with, or 0.
  var nominationValue: UInt32 = 0
  /// Media once came from here while the peer was at the selected path: it isn't followed for that again.
  var isDoubted = false
  var lastHeard: Instant
  /// Of the last answer whose request is certain, in nanoseconds; 0 before.
  private(set) var roundTrip: Int64 = 0
  private var bytesReceived: UInt64 = 0
  private var bytesSent: UInt64 = 0
  /// Limits answers, whether the address is proven or not.
  var replies: RateLimit
  /// Our check, while the pair is verified.
  var check: RetransmittedCheck
  /// Meaningful once validated.
  var consent: Consent

  init(_ path: NetworkPath, generation: UInt32, check transaction: STUNTransactionID, now: Instant) {
    self.path = path
    self.generation = generation
    created = now
    lastHeard = now
    replies = RateLimit(rate: 50, burst: 25)
    check = RetransmittedCheck(transaction, timeout: Self.verificationTimeout, first: now)
    consent = Consent(grantedAt: now, nextCheck: .never)
  }

  mutating func heard(_ bytes: Int, at now: Instant) {
    lastHeard = max(lastHeard, now)
    bytesReceived &+= UInt64(bytes)
  }

  /// Takes bytes from what may be sent; no bound applies to a proven address.
  /// - Returns: false, with nothing taken, if that many may not be sent.
  mutating func spend(_ bytes: Int) -> Bool {
    guard isValidated || bytesSent &+ UInt64(bytes) <= bytesReceived &* Self.amplification else {
      return false
    }
    bytesSent &+= UInt64(bytes)
    return true
  }

  /// Whether an answer with this transaction would be one to us.
  func expects(_ transaction: STUNTransactionID) -> Bool {
    guard !isValidated else { return consent.expects(transaction) }
    return dormantUntil == nil && check.transaction == transaction && check.transmissions > 0
  }

  /// A valid check came and ours isn't answered yet.
  var isVerifying: Bool { !isValidated && dormantUntil == nil }

  /// Nothing proves the path any longer.
  mutating func lapse(at now: Instant) {
    isValidated = false
    isTrusted = false
    bytesReceived = 0
    bytesSent = 0
    dormantUntil = now.advanced(byNanoseconds: Self.dormancy)
  }

  /// Our check was repeated often enough; what was sent still counts.
  mutating func giveUp(at now: Instant) {
    dormantUntil = now.advanced(byNanoseconds: Self.dormancy)
  }

  /// A valid check came on a dormant pair.
  mutating func revive(_ transaction: STUNTransactionID, at now: Instant) {
    dormantUntil = nil
    check = RetransmittedCheck(transaction, timeout: Self.verificationTimeout, first: now)
  }

  /// Our check was answered, or the far end's is enough.
  mutating func validate(trusting: Bool, nextCheck: Instant, now: Instant) {
    if !trusting, let span = check.roundTrip(at: now) { roundTrip = span }
    isValidated = true
    isTrusted = trusting
    consent = Consent(grantedAt: now, nextCheck: nextCheck)
  }

  /// A consent check was answered.
  /// - Returns: how long the answer took, in nanoseconds.
  mutating func answered(_ transaction: STUNTransactionID, at now: Instant) -> Int64 {
    roundTrip = consent.answered(transaction, at: now)
    isTrusted = false
    return roundTrip
  }
}

extension ServerPair {
  func encode(into writer: inout StateWriter) {
    writer.write(path)
    writer.write(generation)
    writer.write(created)
    writer.write(isValidated)
    writer.write(isTrusted)
    writer.write(dormantUntil ?? .never)
    writer.write(nominationSerial)
    writer.write(nominationValue)
    writer.write(isDoubted)
    writer.write(lastHeard)
    writer.write(roundTrip)
    writer.write(bytesReceived)
    writer.write(bytesSent)
    replies.encode(into: &writer)
    check.encode(into: &writer)
    consent.encode(into: &writer)
  }

  init(from reader: inout StateReader) throws(StateError) {
    path = try reader.path()
    generation = try reader.integer()
    created = try reader.instant()
    isValidated = try reader.bool()
    isTrusted = try reader.bool()
    let end = try reader.instant()
    dormantUntil = end == .never ? nil : end
    nominationSerial = try reader.integer()
    nominationValue = try reader.integer()
    isDoubted = try reader.bool()
    lastHeard = try reader.instant()
    roundTrip = try reader.integer()
    bytesReceived = try reader.integer()
    bytesSent = try reader.integer()
    replies = try RateLimit(from: &reader)
    check = try RetransmittedCheck(from: &reader)
    consent = try Consent(from: &reader)
  }
}
