internal import Wire

extension Packetizer {
  /// Units as they are, small ones that follow each other in one packet, large ones in fragments (RFC 6184 §5.6–5.8, mode 1).
  func h264(_ frame: [UInt8]) -> [[UInt8]] {
    guard let units = NALUnits.behindSizes(frame, width: 4) else { return [] }
    var payloads: [[UInt8]] = []
    var together: [Range<Int>] = []
    var size = 1
    for unit in units {
      if !together.isEmpty, size + 2 + unit.count > maximum {
        payloads.append(Self.aggregate(frame, together))
        (together, size) = ([], 1)
      }
      if unit.count > maximum {
        payloads += fragments(frame, unit)
      } else {
        together.append(unit)
        size += 2 + unit.count
      }
    }
    if !together.isEmpty { payloads.append(Self.aggregate(frame, together)) }
    return payloads
  }

  /// STAP-A, whose header has the most important mark of its units; of one unit the unit itself.
  private static func aggregate(_ frame: [UInt8], _ units: [Range<Int>]) -> [UInt8] {
    guard units.count > 1 else { return Array(frame[units[0]]) }
    let importance = units.map { frame[$0.lowerBound] & 0x60 }.max() ?? 0
    return units.reduce(into: [importance | 24]) { payload, unit in
      payload += [UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + frame[unit]
    }
  }

  /// FU-A.
  private func fragments(_ frame: [UInt8], _ unit: Range<Int>) -> [[UInt8]] {
    let header = frame[unit.lowerBound]
    let content = frame[(unit.lowerBound + 1)..<unit.upperBound]
    let pieces = Self.divide(content.count, limit: maximum - 2)
    return pieces.enumerated().map { index, piece in
      let marks: UInt8 = (index == 0 ? 0x80 : 0) | (index == pieces.count - 1 ? 0x40 : 0)
      let bytes = content[(content.startIndex + piece.lowerBound)..<(content.startIndex + piece.upperBound)]
      return [header & 0xE0 | 28, marks | header & 0x1F] + bytes
    }
  }
}
