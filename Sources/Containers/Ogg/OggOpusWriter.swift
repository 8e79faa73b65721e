#if PLANTED_DEFECTS
  internal import Model
#endif

/// Writes Opus into Ogg: two pages of headers, then pages of up to a second (RFC 7845). Each page can be read by itself, so a crash
/// costs what was in the last one.
public struct OggOpusWriter: Sendable {
  /// Samples that a page has at most, unless a single packet is longer; that bounds what a crash costs.
  static let pageSamples = 48_000
  /// What a page's segments hold at most before the next is begun: no packet need be divided for its sake.
  static let pageSegments = 255

  private var page: OggPage
  private var pageStart: Int64 = 0
  /// Where the next packet begins, in samples at 48 kHz with the pre-skip.
  public private(set) var position: Int64 = 0

  /// - Parameters:
  ///   - serial: the stream's number, which another stream in the same file must not have.
  ///   - encoder: what the file says that it was made by.
  ///   - change: gets the two headers.
  public init(_ head: OpusHead, serial: UInt32, encoder: String, into change: inout FileChange) {
    page = OggPage(serial: serial)
    page.flags = .first
    add(head.bytes, into: &change)
    change.appended += flush()
    var tags = Array("OpusTags".utf8)
    tags.append(littleEndian: UInt32(encoder.utf8.count))
    tags += encoder.utf8
    tags.append(littleEndian: UInt32(0))
    add(tags, into: &change)
    change.appended += flush()
  }

  /// Adds a packet behind the one before it.
  /// - Parameter samples: how long it is, at 48 kHz.
  public mutating func add(_ packet: [UInt8], samples: Int, into change: inout FileChange) {
    let isFull =
      page.segments.count + packet.count / 255 + 1 > Self.pageSegments
      || position + Int64(samples) - pageStart > Int64(Self.pageSamples)
    if isFull { change.appended += flush() }
    position += Int64(samples)
    add(packet, into: &change)
  }

  /// Ends the stream: the last page says so.
  public mutating func finish(into change: inout FileChange) {
    page.flags.insert(.last)
    change.appended += flush(isLast: true)
  }

  // MARK: - Pages

  /// Lays a packet into segments (RFC 3533 §5): full ones, and a shorter one that ends it, which is empty where nothing is left. Of a
  /// packet that is longer than a page the pages before its last have no granule position.
  private mutating func add(_ packet: [UInt8], into change: inout FileChange) {
    var rest = packet[...]
    while true {
      if page.segments.count == 255 {
        let ended = page.granule
        if !page.segments.contains(where: { $0 < 255 }) { page.granule = -1 }
        change.appended += flush()
        page.flags.insert(.continued)
        page.granule = ended
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.segmentsUnended), rest.isEmpty { break }
      #endif
      let segment = rest.prefix(255)
      page.segments.append(UInt8(segment.count))
      page.content += segment
      rest = rest.dropFirst(255)
      if segment.count < 255 { break }
    }
    page.granule = position
  }

  /// - Returns: the page; nothing where it is empty.
  private mutating func flush(isLast: Bool = false) -> [UInt8] {
    guard isLast || !page.segments.isEmpty else { return [] }
    let bytes = page.bytes
    var next = OggPage(serial: page.serial)
    next.number = page.number &+ 1
    next.granule = page.granule
    page = next
    pageStart = position
    return bytes
  }
}
