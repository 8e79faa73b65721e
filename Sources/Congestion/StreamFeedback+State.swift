public import Model

extension StreamFeedback {
  private static let stateVersion: UInt8 = 1

  /// Writes all that the feedback depends on; at most 26 KiB.
  public borrowing func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(UInt32(known.count))
    for stream in known {
      writer.write(stream.ssrc)
      writer.write(stream.seen.top)
      let bits = stream.seen.bits
      for index in bits.indices { writer.write(bits[index]) }
      writer.write(stream.reportedTop)
      writer.write(stream.used)
    }
    writer.write(count)
    writer.write(waitsSince)
    writer.write(overflows)
    writer.write(duplicates)
    writer.write(deadline)
    writer.write(UInt32(pendingCount))
    for index in 0..<pendingCount {
      writer.write(UInt8(truncatingIfNeeded: pending![index].stream))
      writer.write(pending![index].sequence)
      writer.write(pending![index].moment)
    }
  }

  /// Goes on where `encode` left off.
  public init(from reader: inout StateReader) throws(StateError) {
    // Everything is read and checked before memory is taken.
    _ = try reader.version("feedback by stream", upTo: Self.stateVersion)
    var streams: [Stream] = []
    for _ in 0..<(try reader.count(limit: Self.streams)) { streams.append(try Stream(from: &reader)) }
    let count = try reader.integer(UInt64.self)
    let waitsSince = try reader.integer(UInt64.self)
    let overflows = try reader.integer(UInt64.self)
    let duplicates = try reader.integer(UInt64.self)
    let deadline = try reader.instant()
    var arrivals: [Arrival] = []
    for _ in 0..<(try reader.count(limit: Self.capacity)) {
      let offset = reader.offset
      let place = Int32(try reader.integer(UInt8.self))
      let arrival = Arrival(
        sequence: try Stream.sequence(from: &reader), moment: try reader.instant(), stream: place)
      guard place < streams.count,
        arrivals.last.map({ ($0.stream, $0.sequence) < (arrival.stream, arrival.sequence) }) ?? true
      else { throw .invalid(field: "order of arrivals by stream", offset: offset) }
      arrivals.append(arrival)
    }

    self.init()
    known = streams
    self.count = count
    self.waitsSince = waitsSince
    self.overflows = overflows
    self.duplicates = duplicates
    self.deadline = arrivals.isEmpty ? .never : deadline
    guard !arrivals.isEmpty else { return }
    let room = UnsafeMutablePointer<Arrival>.allocate(capacity: Self.capacity)
    for (index, arrival) in arrivals.enumerated() { (room + index).initialize(to: arrival) }
    pending = room
    pendingCount = arrivals.count
  }
}

extension StreamFeedback.Stream {
  fileprivate init(from reader: inout StateReader) throws(StateError) {
    ssrc = try reader.integer()
    let top = try Self.sequence(from: &reader)
    var bits = BitWindow<8>(first: 0).bits
    for index in bits.indices { bits[index] = try reader.integer() }
    seen = BitWindow(top: top, bits: bits)
    reportedTop = try Self.sequence(from: &reader)
    used = try reader.integer()
  }

  /// An extended number: so far from the ends of 64 bits that no sum with one overflows.
  fileprivate static func sequence(from reader: inout StateReader) throws(StateError) -> Int64 {
    let value = try reader.integer(Int64.self)
    guard abs(value >> 1) < 1 << 60 else {
      throw .invalid(field: "extended sequence", offset: reader.offset - 8)
    }
    return value
  }
}
