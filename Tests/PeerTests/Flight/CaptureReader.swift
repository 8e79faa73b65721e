/// Reads a capture file as draft-ietf-opsawg-pcapng describes it, independently of what writes it.
struct CaptureReader {
  struct Packet {
    var interface: Int
    /// Since 1970.
    var nanoseconds: UInt64
    var bytes: [UInt8]
    /// On the wire.
    var size: Int
    var options: [UInt16: [UInt8]]

    var comment: String? { options[1].map { String(decoding: $0, as: UTF8.self) } }
    var isInbound: Bool? { options[2].map { $0[0] & 3 == 1 } }
  }

  private(set) var sections = 0
  /// Link types of the present section's interfaces.
  private(set) var interfaces: [UInt16] = []
  private(set) var packets: [Packet] = []

  /// - Returns: nil where anything is not as it is to be.
  init?(_ file: [UInt8]) {
    var place = 0
    func word(_ at: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(file[at + $1]) << UInt32(8 * $1) } }
    func half(_ at: Int) -> UInt16 { UInt16(file[at]) | UInt16(file[at + 1]) << 8 }
    func options(_ from: Int, _ end: Int) -> [UInt16: [UInt8]]? {
      var found: [UInt16: [UInt8]] = [:]
      var at = from
      while at + 4 <= end {
        let (code, size) = (half(at), Int(half(at + 2)))
        if code == 0 { return size == 0 && at + 4 == end ? found : nil }
        guard at + 4 + size <= end else { return nil }
        found[code] = Array(file[(at + 4)..<(at + 4 + size)])
        at += 4 + (size + 3) & ~3
      }
      return at == end ? found : nil
    }
    while place < file.count {
      guard place + 12 <= file.count else { return nil }
      let (type, size) = (word(place), Int(word(place + 4)))
      guard size % 4 == 0, size >= 12, place + size <= file.count, Int(word(place + size - 4)) == size else {
        return nil
      }
      let (body, end) = (place + 8, place + size - 4)
      switch type {
      case 0x0A0D_0D0A:
        guard word(body) == 0x1A2B_3C4D, half(body + 4) == 1, options(body + 16, end) != nil else {
          return nil
        }
        sections += 1
        interfaces = []
      case 1:
        guard sections > 0, let said = options(body + 8, end), said[9] == [9] else { return nil }
        interfaces.append(half(body))
      case 6:
        let (interface, kept) = (Int(word(body)), Int(word(body + 12)))
        guard interface < interfaces.count, body + 20 + kept <= end,
          let said = options(body + 20 + (kept + 3) & ~3, end)
        else { return nil }
        packets.append(
          Packet(
            interface: interface, nanoseconds: UInt64(word(body + 4)) << 32 | UInt64(word(body + 8)),
            bytes: Array(file[(body + 20)..<(body + 20 + kept)]), size: Int(word(body + 16)), options: said))
        guard packets.last!.size >= kept else { return nil }
      default: return nil
      }
      place += size
    }
  }
}
