public import Model

extension ArrivalFeedback {
  /// The layout's version, the first byte.
  private static let version: UInt8 = 1

  /// Writes all that the feedback depends on; at most 13 KiB.
  public borrowing func encode(into writer: inout StateWriter) {
    writer.write(Self.version)
    writer.write(started)
    writer.write(seen.top)
    let bits = seen.bits
    for index in bits.indices { writer.write(bits[index]) }
    writer.write(reportedTop)
    writer.write(feedbackCount)
    writer.write(deadline)
    writer.write(duplicates)
    writer.write(overflows)
    writer.write(UInt32(pendingCount))
    for index in 0..<pendingCount {
      writer.write(pending[index].sequence)
      writer.write(pending[index].ticks)
    }
  }

  /// Goes on where `encode` left off.
  public init(from reader: inout StateReader) throws(StateError) {
    // Everything is read and checked before memory is taken.
    _ = try reader.version("arrival feedback", upTo: Self.version)
    let started = try reader.bool()
    let top = try Self.sequence(from: &reader)
    var bits = Seen(first: 0).bits
    for index in bits.indices { bits[index] = try reader.integer() }
    let reportedTop = try Self.sequence(from: &reader)
    let feedbackCount = try reader.integer(UInt8.self)
    let deadline = try reader.instant()
    let duplicates = try reader.integer(UInt64.self)
    let overflows = try reader.integer(UInt64.self)
    let count = try reader.count(limit: Self.capacity)
    guard count == 0 || started else {
      throw .invalid(field: "arrivals before the first", offset: reader.offset - 4)
    }
    var arrivals: [Arrival] = []
    for _ in 0..<count {
      let arrival = Arrival(sequence: try Self.sequence(from: &reader), ticks: try reader.integer())
      guard arrivals.last.map({ $0.sequence < arrival.sequence }) ?? true else {
        throw .invalid(field: "order of arrivals", offset: reader.offset - 12)
      }
      arrivals.append(arrival)
    }

    self.init()
    self.started = started
    seen = Seen(top: top, bits: bits)
    self.reportedTop = reportedTop
    self.feedbackCount = feedbackCount
    self.deadline = count == 0 ? .never : deadline
    self.duplicates = duplicates
    self.overflows = overflows
    for (index, arrival) in arrivals.enumerated() { (pending + index).initialize(to: arrival) }
    pendingCount = count
  }

  /// An extended number: so far from the ends of 64 bits that no sum with one overflows.
  private static func sequence(from reader: inout StateReader) throws(StateError) -> Int64 {
    let value = try reader.integer(Int64.self)
    guard abs(value >> 1) < 1 << 60 else {
      throw .invalid(field: "extended sequence", offset: reader.offset - 8)
    }
    return value
  }
}
