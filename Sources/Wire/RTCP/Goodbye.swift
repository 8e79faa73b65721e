#if PLANTED_DEFECTS
  internal import Model
#endif

/// Sources that leave (RFC 3550 §6.6). Points into the compound and must not outlive it.
public struct Goodbye {
  /// 0–31.
  public let count: Int
  let bytes: UnsafeRawPointer

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    count = Int(packet.format)
    // An empty body is still one that can be pointed at: it follows a header.
    bytes = try packet.bytes(.goodbye, atLeast: 4 * count)
  }

  /// The source of that number; nil if there is none. The reason behind the sources is left alone.
  public subscript(index: Int) -> UInt32? {
    guard index >= 0, index < count else { return nil }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.goodbyeShort), index == count - 1 { return nil }
    #endif
    return bytes.loadBigEndian(at: 4 * index, as: UInt32.self)
  }
}
