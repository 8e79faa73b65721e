/// Writes a capture file (draft-ietf-opsawg-pcapng): a section with its interfaces, and packets with times in nanoseconds.
///
/// Everything is little-endian, blocks and options are padded to four bytes with zeros.
public struct PcapngWriter {
  /// What an interface's packets begin with.
  public enum LinkType: UInt16, Sendable {
    /// An IPv4 or IPv6 header.
    case raw = 101
    /// A list of tags that says how Wireshark shows what follows (LINKTYPE_WIRESHARK_UPPER_PDU): a line of text.
    case text = 252
  }

  /// Which way a packet went (§4.3.1, epb_flags).
  public enum Direction: UInt32, Sendable {
    case inbound = 1
    case outbound = 2
  }

  private enum Block {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let packet: UInt32 = 6
  }

  private enum Option {
    static let comment: UInt16 = 1
    /// Of a section, an interface and a packet in turn.
    static let application: UInt16 = 4
    static let name: UInt16 = 2
    static let resolution: UInt16 = 9
    static let flags: UInt16 = 2
  }

  public private(set) var bytes: [UInt8] = []

  /// Begins a section.
  /// - Parameters:
  ///   - application: what wrote the file.
  ///   - comment: about all of it.
  ///   - capacity: bytes for which room is made at once.
  public init(application: String, comment: String, capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
    let start = begin(Block.section)
    put(UInt32(0x1A2B_3C4D))
    put(UInt16(1))
    put(UInt16(0))
    // The section's length isn't said.
    put(UInt64.max)
    option(Option.comment, comment.utf8)
    option(Option.application, application.utf8)
    put(UInt32(0))
    end(start)
  }

  /// Adds an interface: the first is 0, the next 1.
  public mutating func addInterface(_ type: LinkType, name: String) {
    let start = begin(Block.interface)
    put(type.rawValue)
    put(UInt16(0))
    // No limit on what is kept of a packet: each has its own.
    put(UInt32(0))
    option(Option.name, name.utf8)
    // 10^-9 seconds.
    option(Option.resolution, CollectionOfOne(9))
    put(UInt32(0))
    end(start)
  }

  /// Adds a packet.
  /// - Parameters:
  ///   - nanoseconds: since 1970.
  ///   - packet: what is kept of it.
  ///   - size: what it had on the wire.
  public mutating func add(
    interface: UInt32, nanoseconds: UInt64, _ packet: [UInt8], size: Int, direction: Direction? = nil,
    comment: String? = nil
  ) {
    let start = begin(Block.packet)
    put(interface)
    put(UInt32(truncatingIfNeeded: nanoseconds >> 32))
    put(UInt32(truncatingIfNeeded: nanoseconds))
    put(UInt32(packet.count))
    put(UInt32(clamping: max(size, packet.count)))
    bytes += packet
    pad()
    if let comment { option(Option.comment, comment.utf8) }
    if let direction {
      put(Option.flags)
      put(UInt16(4))
      put(direction.rawValue)
    }
    if comment != nil || direction != nil { put(UInt32(0)) }
    end(start)
  }

  /// Adds a line of text as a packet of `LinkType.text`: the tag with the dissector's name (12), the last tag, and the text.
  public static func appendText(_ text: String, to packet: inout [UInt8]) {
    let dissector = Array("syslog".utf8)
    packet += [0, 12, 0, UInt8(dissector.count + (4 - dissector.count % 4) % 4)] + dissector
    while packet.count % 4 != 0 { packet.append(0) }
    packet += [0, 0, 0, 0]
    packet += text.utf8
  }

  // MARK: - Blocks

  /// - Returns: where the block begins.
  private mutating func begin(_ type: UInt32) -> Int {
    defer {
      put(type)
      put(UInt32(0))
    }
    return bytes.count
  }

  private mutating func end(_ start: Int) {
    let size = UInt32(bytes.count - start + 4)
    put(size)
    for index in 0..<4 { bytes[start + 4 + index] = UInt8(truncatingIfNeeded: size >> UInt32(8 * index)) }
  }

  /// An option is at most 65,535 bytes long; of an empty one nothing is written.
  private mutating func option(_ code: UInt16, _ value: some Collection<UInt8>) {
    guard !value.isEmpty else { return }
    let value = value.prefix(Int(UInt16.max))
    put(code)
    put(UInt16(value.count))
    bytes += value
    pad()
  }

  private mutating func pad() { while bytes.count % 4 != 0 { bytes.append(0) } }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
  }
}
