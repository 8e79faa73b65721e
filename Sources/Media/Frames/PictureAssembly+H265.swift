internal import Model
internal import Wire

/// H.265 (RFC 7798): single units, aggregates and fragments, in a single stream without decoding order numbers.
extension PictureAssembly {
  /// As of H.264: not a key frame without the parameter sets before it.
  static func beginsH265(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let units = try? H265Payload(payload), units.startsFrame else { return false }
    let type = payload[0] >> 1 & 0x3F
    return !(16...23).contains(type == 49 && payload.count > 2 ? payload[2] & 0x3F : type)
  }

  mutating func addH265(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard (try? H265Payload(payload)) != nil else { return false }
    return addH265(payload, type: payload[0] >> 1 & 0x3F, header: [payload[0], payload[1]], from: 2)
  }

  /// - Parameter start: behind the payload's header, and behind the fields that PACI packets have besides (§4.4.4).
  private mutating func addH265(
    _ payload: UnsafeRawBufferPointer, type: UInt8, header: [UInt8], from start: Int
  ) -> Bool {
    switch type {
    case 48:
      guard openUnit == nil else { return false }
      guard let units = Self.units(in: payload, from: start) else { return false }
      for unit in units { addH265Unit([], UnsafeRawBufferPointer(rebasing: payload[unit])) }
      return true
    case 49: return addH265Fragment(payload, header, from: start)
    case 50:
      guard payload.count >= 4, header.count == 2 else { return false }
      let fields = UInt16(payload[2]) << 8 | UInt16(payload[3])
      let inner = UInt8(fields >> 9 & 0x3F)
      guard inner != 50 else { return false }
      return addH265(
        payload, type: inner, header: [payload[0] & 0x81 | inner << 1, payload[1]],
        from: 4 + Int(fields >> 4 & 0x1F))
    default:
      guard openUnit == nil, start < payload.count else { return false }
      addH265Unit(header, UnsafeRawBufferPointer(rebasing: payload[start...]))
      return true
    }
  }

  private mutating func addH265Fragment(
    _ payload: UnsafeRawBufferPointer, _ header: [UInt8], from start: Int
  ) -> Bool {
    guard start + 1 < payload.count else { return false }
    let head = payload[start]
    let isFirst = head & 0x80 != 0
    guard isFirst == (openUnit == nil) else { return false }
    if isFirst {
      noteH265(head & 0x3F)
      beginUnit([header[0] & 0x81 | (head & 0x3F) << 1, header[1]])
    }
    bytes += payload[(start + 1)...]
    if head & 0x40 != 0 { endUnit() }
    return true
  }

  /// - Parameter header: in front of the content; empty where that has its own.
  private mutating func addH265Unit(_ header: [UInt8], _ content: UnsafeRawBufferPointer) {
    guard !content.isEmpty || !header.isEmpty else { return }
    let type = (header.first ?? content[0]) >> 1 & 0x3F
    noteH265(type)
    let skipped = header.isEmpty ? 2 : 0
    if type == 33, content.count > skipped {
      size = H265ParameterSet(UnsafeRawBufferPointer(rebasing: content[skipped...]))?.picture ?? size
    }
    beginUnit(header)
    bytes += content
    endUnit()
  }

  /// A slice of a picture with which a decoder can begin (H.265 table 7-1, IRAP).
  private mutating func noteH265(_ type: UInt8) { if (16...21).contains(type) { isKeyFrame = true } }
}
