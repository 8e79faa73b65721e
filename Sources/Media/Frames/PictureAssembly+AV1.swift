internal import Model
internal import Wire

/// AV1 (its RTP specification, v1.0.0): elements are units or fragments of them, without sizes of their own.
extension PictureAssembly {
  static func beginsAV1(_ payload: UnsafeRawBufferPointer) -> Bool {
    (try? AV1Payload(payload))?.startsFrame ?? false
  }

  mutating func addAV1(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let header = payload.first, payload.count > 1 else { return false }
    let (continues, goesOn) = (header & 0x80 != 0, header & 0x40 != 0)
    guard continues == !fragment.isEmpty else { return false }
    guard let elements = Self.elements(payload, count: Int(header >> 4 & 3)), !elements.isEmpty else {
      return false
    }
    for (index, element) in elements.enumerated() {
      guard fragment.count + element.count <= FrameAssembler.largestFrame else { return false }
      fragment += payload[element]
      if goesOn, index == elements.count - 1 { return true }
      guard addAV1Unit() else { return false }
    }
    return true
  }

  /// Where the elements lie.
  /// - Parameter count: of them, of which the last has no length; 0: all have one.
  /// - Returns: nil where they don't fit into the payload.
  private static func elements(_ payload: UnsafeRawBufferPointer, count: Int) -> [Range<Int>]? {
    var elements: [Range<Int>] = []
    var offset = 1
    while offset < payload.count {
      if count > 0, elements.count == count - 1 {
        elements.append(offset..<payload.count)
        return elements
      }
      guard let (size, start) = AV1Unit.length(payload, at: offset), size <= payload.count - start else {
        return nil
      }
      if size > 0 { elements.append(start..<start + size) }
      offset = start + size
    }
    return count == 0 || elements.count == count ? elements : nil
  }

  /// A unit is whole: it goes into the picture with its size. What decoders have no use for doesn't.
  private mutating func addAV1Unit() -> Bool {
    let isGood = fragment.withUnsafeBytes { unit in
      guard let read = AV1Unit(unit) else { return false }
      switch read.kind {
      case .temporalDelimiter, .tileList, .padding, .none: return true
      case .sequenceHeader:
        isKeyFrame = true
        size = AV1SequenceHeader.pictureSize(of: UnsafeRawBufferPointer(rebasing: unit[read.content])) ?? size
      case .frame, .frameHeader: noteAV1(UnsafeRawBufferPointer(rebasing: unit[read.content]))
      case .tileGroup, .metadata, .redundantFrameHeader: break
      }
      read.append(unit, to: &bytes)
      return true
    }
    fragment = []
    return isGood
  }

  /// A sequence header may be repeated before any picture; those that refer to others say so (AV1 specification §5.9.2).
  private mutating func noteAV1(_ content: UnsafeRawBufferPointer) {
    // Those of higher layers of size refer to the one below in any case.
    guard !hasFrame, let first = content.first else { return }
    hasFrame = true
    let isRepeated = first & 0x80 != 0
    if isRepeated || first & 0x60 != 0 { isKeyFrame = false }
  }
}
