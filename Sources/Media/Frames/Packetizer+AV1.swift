internal import Wire

extension Packetizer {
  /// Units without sizes and delimiters, as many in a packet as fit, divided where they don't (AV1 RTP specification §4).
  func av1(_ frame: [UInt8]) -> [[UInt8]] {
    guard let (elements, isSequence) = Self.elements(frame), !elements.isEmpty else { return [] }
    var payloads: [[UInt8]] = []
    var pieces: [ArraySlice<UInt8>] = []
    var size = 1
    var continues = false
    func send(goesOn: Bool) {
      let first: UInt8 = payloads.isEmpty && isSequence ? 0x08 : 0
      payloads.append(Self.payload(pieces, first | (continues ? 0x80 : 0) | (goesOn ? 0x40 : 0)))
      (pieces, size, continues) = ([], 1, goesOn)
    }
    for (index, element) in elements.enumerated() {
      var rest = element[...]
      while !rest.isEmpty {
        // Up to two bytes of length before each; a piece should be worth it.
        let room = maximum - size - 3
        if room < min(rest.count, 32) {
          send(goesOn: rest.count < element.count)
          continue
        }
        pieces.append(rest.prefix(room))
        size += 3 + min(room, rest.count)
        rest = rest.dropFirst(room)
        if !rest.isEmpty { send(goesOn: true) }
      }
      if index == elements.count - 1 { send(goesOn: false) }
    }
    return payloads
  }

  /// - Returns: units as RTP has them, and whether a coded video sequence begins; nil where sizes don't fit.
  private static func elements(_ frame: [UInt8]) -> (elements: [[UInt8]], isSequence: Bool)? {
    frame.withUnsafeBytes { bytes in
      var elements: [[UInt8]] = []
      var (isSequence, hasFrame) = (false, false)
      var offset = 0
      while offset < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        guard let unit = AV1Unit(rest) else { return nil }
        offset += unit.content.upperBound
        switch unit.kind {
        case .temporalDelimiter, .tileList, .padding, .none: continue
        case .sequenceHeader: isSequence = true
        // Behind a header that is repeated no sequence begins: the first frame isn't a key frame that is shown first here.
        case .frame, .frameHeader:
          if !hasFrame, unit.content.isEmpty || rest[unit.content.lowerBound] & 0xE0 != 0 {
            isSequence = false
          }
          hasFrame = true
        default: break
        }
        var element: [UInt8] = []
        unit.appendBare(rest, to: &element)
        elements.append(element)
      }
      return (elements, isSequence)
    }
  }

  /// Of up to three elements the last has no length.
  private static func payload(_ pieces: [ArraySlice<UInt8>], _ flags: UInt8) -> [UInt8] {
    let count = pieces.count <= 3 ? pieces.count : 0
    var payload = [flags | UInt8(count) << 4]
    for (index, piece) in pieces.enumerated() {
      if index != count - 1 { AV1Unit.append(length: piece.count, to: &payload) }
      payload += piece
    }
    return payload
  }
}
