internal import Model
internal import Wire

/// Decides which request counts as a new nomination.
///
/// Plain USE-CANDIDATE: the latest wins. With the NOMINATION attribute the highest value wins, in whatever
/// order the requests come. A transaction counts once, so that a late duplicate doesn't turn the choice back.
struct Nominations: Sendable {
  private var serial: UInt64 = 0
  /// The highest value under the peer's newest credentials and under those before.
  private var highest: UInt32 = 0
  private var highestBefore: UInt32 = 0
  private var seen: InlineArray<16, STUNTransactionID?> = InlineArray(repeating: nil)
  private var next = 0

  init() {}

  /// - Parameter isUsedNewest: the pair in use is under the peer's newest credentials, until now.
  mutating func restart(isUsedNewest: Bool = true) {
    if isUsedNewest { highestBefore = highest }
    highest = 0
  }

  /// - Parameters:
  ///   - isNewest: whether the request came under the peer's newest credentials.
  ///   - isHeld: whether another pair holds a nomination with the value given.
  /// - Returns: the serial number of a new nomination; nil if the request is none.
  mutating func accept(
    _ message: borrowing STUNMessage, isNewest: Bool, isHeld: (UInt32?) -> Bool
  ) -> (serial: UInt64, value: UInt32)? {
    let value = message.nomination ?? 0
    guard message.useCandidate || value > 0, remember(message.transaction) else { return nil }
    let top = isNewest ? highest : highestBefore
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.nominationAgain), value > 0, value == top {
        serial &+= 1
        return (serial, value)
      }
    #endif
    if value > 0 {
      guard value > top || (value == top && !isHeld(value)) else { return nil }
      if isNewest { highest = value } else { highestBefore = value }
    } else if top > 0 && isHeld(nil) {
      return nil
    }
    serial &+= 1
    return (serial, value)
  }

  /// - Returns: false if the transaction is one of the last 16.
  private mutating func remember(_ transaction: STUNTransactionID) -> Bool {
    for index in 0..<16 where seen[index] == transaction { return false }
    seen[next] = transaction
    next = (next + 1) % 16
    return true
  }
}

extension Nominations {
  func encode(into writer: inout StateWriter) {
    writer.write(serial)
    writer.write(highest)
    writer.write(highestBefore)
    writer.write(UInt8(next))
    for index in 0..<16 {
      writer.write(seen[index] != nil)
      if let transaction = seen[index] { writer.write(transaction) }
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    serial = try reader.integer()
    highest = try reader.integer()
    highestBefore = try reader.integer()
    next = Int(try reader.integer(UInt8.self))
    guard next < 16 else { throw .invalid(field: "nomination \(next)", offset: reader.offset - 1) }
    for index in 0..<16 where try reader.bool() { seen[index] = try reader.transaction() }
  }
}
