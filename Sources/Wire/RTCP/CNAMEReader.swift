#if PLANTED_DEFECTS
  internal import Model
#endif

/// Finds the canonical names in a source description (RFC 3550 §6.5, §6.5.1); other items are skipped.
public struct CNAMEReader {
  /// A source's canonical name. Points into the compound and must not outlive it.
  public struct Name {
    public let ssrc: UInt32
    /// 0–255 bytes, not checked to be UTF-8.
    public let bytes: UnsafeRawBufferPointer

    /// The name as text; nil where it is no UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }
  }

  let body: UnsafeRawBufferPointer
  var chunks: Int
  var offset = 0

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    _ = try packet.bytes(.sourceDescription, atLeast: 0)
    body = packet.body
    chunks = Int(packet.format)
  }

  /// The name in the next chunk that has one; nil at the end, and always after an error.
  public mutating func next() throws(RTCPError) -> Name? {
    while chunks > 0 {
      chunks -= 1
      if let name = try chunk() { return name }
    }
    return nil
  }

  private mutating func chunk() throws(RTCPError) -> Name? {
    guard let bytes = body.baseAddress, body.count - offset >= 4 else { throw end(at: offset) }
    let ssrc = bytes.loadBigEndian(at: offset, as: UInt32.self)
    var name: Name?
    offset += 4
    while true {
      guard offset < body.count else { throw end(at: offset) }
      let type = bytes.byte(at: offset)
      if type == 0 {
        // One to four zero bytes lead to the next word.
        #if PLANTED_DEFECTS
          offset = PlantedDefect.isOn(.namePadding) ? (offset + 3) & ~3 : (offset & ~3) + 4
        #else
          offset = (offset & ~3) + 4
        #endif
        guard offset <= body.count else { throw end(at: offset - 4) }
        return name
      }
      guard body.count - offset >= 2 else { throw end(at: offset) }
      let size = Int(bytes.byte(at: offset + 1))
      guard body.count - offset - 2 >= size else { throw end(at: offset) }
      if type == 1 && name == nil {
        name = Name(ssrc: ssrc, bytes: UnsafeRawBufferPointer(start: bytes + offset + 2, count: size))
      }
      offset += 2 + size
    }
  }

  private mutating func end(at place: Int) -> RTCPError {
    chunks = 0
    return .itemOverruns(offset: place)
  }
}
