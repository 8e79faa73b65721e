internal import Model
internal import Wire

/// Checks of ours that may still be answered: the last eight, which is 16 s of consent checks at least.
struct OpenChecks: Sendable {
  private struct Check: Sendable {
    var transaction: STUNTransactionID
    var sentAt: Instant
  }

  private var checks: InlineArray<8, Check?> = InlineArray(repeating: nil)
  private var next = 0

  init() {}

  func sentAt(_ transaction: STUNTransactionID) -> Instant? {
    for index in 0..<8 where checks[index]?.transaction == transaction { return checks[index]?.sentAt }
    return nil
  }

  /// The oldest makes room.
  mutating func add(_ transaction: STUNTransactionID, at now: Instant) {
    checks[next] = Check(transaction: transaction, sentAt: now)
    next = (next + 1) % 8
  }

  /// - Returns: when the check was sent; nil if it isn't open, or was closed before.
  mutating func close(_ transaction: STUNTransactionID) -> Instant? {
    for index in 0..<8 where checks[index]?.transaction == transaction {
      defer { checks[index] = nil }
      return checks[index]?.sentAt
    }
    return nil
  }
}

extension OpenChecks {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(next))
    for index in 0..<8 {
      writer.write(checks[index] != nil)
      guard let check = checks[index] else { continue }
      writer.write(check.transaction)
      writer.write(check.sentAt)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    next = Int(try reader.integer(UInt8.self))
    guard next < 8 else { throw .invalid(field: "open check \(next)", offset: reader.offset - 1) }
    for index in 0..<8 where try reader.bool() {
      checks[index] = Check(transaction: try reader.transaction(), sentAt: try reader.instant())
    }
  }
}

extension StateWriter {
  mutating func write(_ transaction: STUNTransactionID) {
    write(transaction.high)
    write(transaction.low)
  }
}

extension StateReader {
  mutating func transaction() throws(StateError) -> STUNTransactionID {
    STUNTransactionID(high: try integer(), low: try integer())
  }
}
