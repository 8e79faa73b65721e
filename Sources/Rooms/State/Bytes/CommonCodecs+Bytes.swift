internal import Model

extension CommonCodecs {
  func encode(into writer: inout StateWriter) {
    writer.write(known.rawValue)
    writer.write(UInt32(formats.count))
    for (number, format) in formats.sorted(by: { $0.key < $1.key }) {
      writer.write(number)
      writer.write(optional: format.removed)
      writer.write(format.wait.wholeNanoseconds)
      writer.write(optional: format.since)
    }
  }

  /// - Parameter version: of the room. The second knew one time for all formats that were to be added.
  init(from reader: inout StateReader, version: UInt8) throws(StateError) {
    let known = CodecSet(rawValue: try reader.integer())
    var formats: [UInt8: Format] = [:]
    if version < 3 {
      let coming: UInt32 = try reader.integer()
      let since = try reader.optionalInstant()
      for number in 0..<UInt8(coming.bitWidth) where coming & ~known.rawValue & 1 << UInt32(number) != 0 {
        formats[number] = Format(since: since)
      }
    } else {
      for _ in 0..<(try reader.count(limit: known.rawValue.bitWidth)) {
        let number: UInt8 = try reader.integer()
        formats[number] = Format(
          removed: try reader.optionalInstant(), wait: .nanoseconds(try reader.integer(Int64.self)),
          since: try reader.optionalInstant())
      }
    }
    self.init(known: known, formats: formats)
  }
}
