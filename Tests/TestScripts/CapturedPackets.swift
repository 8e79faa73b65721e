/// The packets of a capture file with one interface of IP and one of text in each section, as far as tests look at them.
public struct CapturedPackets {
  /// One of them.
  public struct Packet {
    /// Whether it came; nil on the interface of text.
    public var isInbound: Bool?
    /// What is kept of what UDP carries; nil on the interface of text.
    public var payload: [UInt8]?
    /// Bytes that UDP carried.
    public var size = 0
    /// On the interface of text.
    public var decision: String?
  }

  /// In the order of the file.
  public private(set) var packets: [Packet] = []

  /// - Returns: nil where the blocks don't fit each other.
  public init?(_ file: [UInt8]) {
    func word(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(file[at + $1]) << (8 * $1) } }
    var place = 0
    while place < file.count {
      guard place + 12 <= file.count else { return nil }
      let size = word(place + 4)
      guard size >= 12, place + size <= file.count, word(place + size - 4) == size else { return nil }
      defer { place += size }
      guard word(place) == 6 else { continue }
      let kept = word(place + 20)
      let bytes = Array(file[(place + 28)..<(place + 28 + kept)])
      var packet = Packet()
      var option = place + 28 + (kept + 3) & ~3
      while option < place + size - 4 {
        let (code, length) = (word(option) & 0xFFFF, word(option) >> 16)
        let value = file[(option + 4)..<(option + 4 + length)]
        if code == 1, word(place + 8) == 1 { packet.decision = String(decoding: value, as: UTF8.self) }
        if code == 2 { packet.isInbound = value.first.map { $0 & 3 == 1 } }
        option += 4 + (length + 3) & ~3
      }
      if word(place + 8) == 0 {
        let headers = bytes[0] >> 4 == 4 ? 28 : 48
        packet.payload = Array(bytes.dropFirst(headers))
        packet.size = word(place + 24) - headers
      }
      packets.append(packet)
    }
  }
}
