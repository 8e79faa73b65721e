/// Walks the elements of a header extension block, in its one-byte or two-byte form (RFC 8285 §4.2, §4.3).
///
/// An element whose length runs out of the block ends the walk; what came before it counts.
public struct HeaderExtensionReader {
  /// One element: its local id and where in the packet its data lies.
  public struct Element: Equatable, Sendable {
    /// 1–14 in the one-byte form, 1–255 in the two-byte form.
    public var id: UInt8
    public var offset: Int
    /// 1–16 in the one-byte form, 0–255 in the two-byte form.
    public var size: Int

    @inlinable public init(id: UInt8, offset: Int, size: Int) {
      self.id = id
      self.offset = offset
      self.size = size
    }
  }

  /// How the walk ended.
  public enum Ending: UInt8, Equatable, Sendable {
    /// Elements may follow.
    case unfinished
    /// The block was read to its last byte, or there is none.
    case complete
    /// Id 15 of the one-byte form: the rest is not for us (RFC 8285 §4.2).
    case stopped
    /// An element is longer than what is left of the block.
    case overrun
    /// Id 0, which is padding, with a length.
    case paddingWithLength
    /// The block is in neither of the two forms.
    case unknownForm
  }

  @usableFromInline let bytes: UnsafeRawPointer?
  @usableFromInline let end: Int
  @usableFromInline var offset: Int
  @usableFromInline let twoByte: Bool
  @usableFromInline var state: Ending

  /// What ended the walk, to be counted; `.unfinished` until `next()` has answered nil.
  @inlinable public var ending: Ending { state }

  /// - Parameters:
  ///   - packet: must outlive the reader.
  ///   - header: as read from this very packet.
  @inlinable public init(_ packet: UnsafeRawBufferPointer, _ header: RTPHeader) {
    bytes = packet.baseAddress
    offset = header.extensionOffset
    end = header.extensionOffset &+ header.extensionSize
    twoByte = header.extensionProfile & 0xFFF0 == 0x1000
    if header.extensionSize == 0 {
      state = .complete
    } else if !twoByte && header.extensionProfile != 0xBEDE {
      state = .unknownForm
    } else {
      state = offset >= 0 && offset <= end && end <= packet.count ? .unfinished : .overrun
    }
  }

  /// The next element, nil at the end.
  @inlinable public mutating func next() -> Element? {
    guard state == .unfinished, let bytes else { return nil }
    while offset < end {
      let first = bytes.byte(at: offset)
      if first == 0 {
        offset &+= 1
        continue
      }
      var id = first
      var start = offset &+ 1
      var size = 0
      if twoByte {
        guard start < end else { return stop(.overrun) }
        size = Int(bytes.byte(at: start))
        start &+= 1
      } else {
        id = first >> 4
        guard id != 0 else { return stop(.paddingWithLength) }
        guard id != 15 else { return stop(.stopped) }
        size = Int(first & 0x0F) &+ 1
      }
      guard size <= end &- start else { return stop(.overrun) }
      offset = start &+ size
      return Element(id: id, offset: start, size: size)
    }
    return stop(.complete)
  }

  @inlinable mutating func stop(_ reason: Ending) -> Element? {
    state = reason
    return nil
  }
}
