internal import Model
internal import Wire

/// A check that is repeated, its wait doubling, until it is answered (RFC 8489 §6.2.1): seven times at most,
/// the last being waited for sixteen times the first wait.
struct RetransmittedCheck: Sendable {
  static let limit: UInt8 = 7

  let transaction: STUNTransactionID
  /// The first wait in nanoseconds.
  private let timeout: Int64
  private(set) var transmissions: UInt8 = 0
  private(set) var lastSent: Instant = .never
  private var wasSentOutOfTurn = false
  private(set) var next: Instant

  /// - Parameter timeout: nanoseconds until the second transmission.
  init(_ transaction: STUNTransactionID, timeout: Int64, first: Instant) {
    self.transaction = transaction
    self.timeout = timeout
    next = first
  }

  var isExhausted: Bool { transmissions >= Self.limit }

  /// Whether nothing was sent for so many nanoseconds.
  func isQuiet(for span: Int64, at now: Instant) -> Bool {
    lastSent == .never || now >= lastSent.advanced(byNanoseconds: span)
  }

  /// It was sent because `next` had come.
  mutating func sent(at now: Instant) {
    lastSent = now
    advance(from: now)
  }

  /// It was sent out of turn, which leaves the schedule as it is.
  mutating func sentOutOfTurn(at now: Instant) {
    lastSent = now
    wasSentOutOfTurn = true
  }

  /// It can't be sent at this moment: the schedule goes on as if it had been lost.
  mutating func skipped(at now: Instant) { advance(from: now) }

  private mutating func advance(from now: Instant) {
    transmissions = min(transmissions &+ 1, Self.limit)
    let wait = transmissions == Self.limit ? timeout &* 16 : timeout &<< Int64(transmissions &- 1)
    next = now.advanced(byNanoseconds: wait)
  }

  /// How long the answer took, in nanoseconds; nil if it may belong to an earlier transmission (Karn's rule).
  func roundTrip(at now: Instant) -> Int64? {
    transmissions == 1 && !wasSentOutOfTurn && lastSent != .never
      ? now.nanoseconds &- lastSent.nanoseconds : nil
  }
}

extension RetransmittedCheck {
  func encode(into writer: inout StateWriter) {
    writer.write(transaction)
    writer.write(timeout)
    writer.write(transmissions)
    writer.write(lastSent)
    writer.write(wasSentOutOfTurn)
    writer.write(next)
  }

  init(from reader: inout StateReader) throws(StateError) {
    transaction = try reader.transaction()
    timeout = try reader.integer()
    guard (0...60_000_000_000).contains(timeout) else {
      throw .invalid(field: "retransmission timeout \(timeout)", offset: reader.offset - 8)
    }
    transmissions = try reader.integer()
    lastSent = try reader.instant()
    wasSentOutOfTurn = try reader.bool()
    next = try reader.instant()
  }
}
