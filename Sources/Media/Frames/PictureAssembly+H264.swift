internal import Model
internal import Wire

/// H.264 (RFC 6184): single units, aggregates without decoding order numbers, fragments.
extension PictureAssembly {
  /// A key frame's parameter sets come before it: of one that begins without them they may be what is missing.
  static func beginsH264(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let units = try? H264Payload(payload), units.startsFrame else { return false }
    let type = payload[0] & 0x1F
    return (type == 28 ? payload[1] & 0x1F : type) != 5
  }

  mutating func addH264(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard (try? H264Payload(payload)) != nil else { return false }
    switch payload[0] & 0x1F {
    case 24:
      guard openUnit == nil else { return false }
      guard let units = Self.units(in: payload, from: 1) else { return false }
      for unit in units { addH264Unit(UnsafeRawBufferPointer(rebasing: payload[unit])) }
      return true
    case 28: return addH264Fragment(payload)
    default:
      guard openUnit == nil else { return false }
      addH264Unit(payload)
      return true
    }
  }

  private mutating func addH264Fragment(_ payload: UnsafeRawBufferPointer) -> Bool {
    let (indicator, head) = (payload[0], payload[1])
    let isFirst = head & 0x80 != 0
    guard isFirst == (openUnit == nil) else { return false }
    if isFirst {
      noteH264(head & 0x1F)
      beginUnit([indicator & 0xE0 | head & 0x1F])
    }
    bytes += payload[2...]
    if head & 0x40 != 0 { endUnit() }
    return true
  }

  private mutating func addH264Unit(_ unit: UnsafeRawBufferPointer) {
    noteH264(unit[0] & 0x1F)
    if unit[0] & 0x1F == 7 { size = H264ParameterSet.pictureSize(unit) ?? size }
    beginUnit([])
    bytes += unit
    endUnit()
  }

  /// A slice of a picture with which a decoder can begin (H.264 §7.4.1.2.4).
  private mutating func noteH264(_ type: UInt8) { if type == 5 { isKeyFrame = true } }

  // MARK: - Units with sizes

  /// Where the units of an aggregate lie, each behind its size in two bytes.
  /// - Returns: nil where they don't fit into it.
  static func units(in payload: UnsafeRawBufferPointer, from start: Int) -> [Range<Int>]? {
    var units: [Range<Int>] = []
    var offset = start
    while offset + 2 < payload.count {
      let size = Int(payload[offset]) << 8 | Int(payload[offset + 1])
      guard size > 0, offset + 2 + size <= payload.count else { return nil }
      units.append(offset + 2..<offset + 2 + size)
      offset += 2 + size
    }
    return units
  }

  mutating func beginUnit(_ header: [UInt8]) {
    openUnit = bytes.count
    bytes += [0, 0, 0, 0] + header
  }

  mutating func endUnit() {
    guard let start = openUnit else { return }
    let size = bytes.count - start - 4
    for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: size >> (24 - 8 * place)) }
    openUnit = nil
  }
}
