internal import Wire

/// Reads Opus in Ogg as its bytes come (RFC 3533, RFC 7845): the first stream of Opus in the file, and those that follow one behind
/// the other. Streams of other kinds beside it are passed over.
public struct OggOpusReader: Sendable {
  public struct Packet: Equatable, Sendable {
    public var bytes: [UInt8]
    /// When it is played, in samples at 48 kHz from the first one's beginning; the pre-skip isn't taken off.
    public var position: Int64
    /// How long it is.
    public var samples: Int
  }

  /// Bytes of a packet that are read; the longest that Opus has are 1,275 bytes for each frame of 2.5 ms in 120 ms.
  public static let largestPacket = 61_440
  /// Bytes of the comments, which may have a picture and are passed over.
  static let largestComments = 16 * 1_024 * 1_024

  /// Of the stream that is being read, once it has come.
  public private(set) var head: OpusHead?
  private var queue = ByteQueue()
  private var serial: UInt32?
  private var hasComments = false
  /// What of a packet has come, and how much of it that is where it isn't kept.
  private var partial: [UInt8] = []
  private var partialSize = 0
  private var position: Int64 = 0
  /// Where the present stream begins, as packets are counted here, and as its granule positions are, once one has come.
  private var base: Int64 = 0
  private var origin: Int64?
  private var ready: [Packet] = []
  private var taken = 0

  public init() {}

  public mutating func append(_ bytes: some Collection<UInt8>) { queue.append(bytes) }

  /// - Returns: nil until more has come.
  public mutating func next() throws(ContainerError) -> Packet? {
    while taken == ready.count {
      ready.removeAll(keepingCapacity: true)
      taken = 0
      let offset = queue.offset
      guard let page = try OggPage(&queue) else { return nil }
      try read(page, offset: offset)
    }
    defer { taken += 1 }
    return ready[taken]
  }

  private mutating func read(_ page: OggPage, offset: Int) throws(ContainerError) {
    if page.flags.contains(.first), serial == nil, page.content.starts(with: "OpusHead".utf8) {
      serial = page.serial
      (head, hasComments) = (nil, false)
      (base, origin) = (position, nil)
      drop()
    }
    guard page.serial == serial else { return }
    // What was begun before is lost where this page doesn't go on with it.
    if !page.flags.contains(.continued) { drop() }
    var isOrphan = page.flags.contains(.continued) && partialSize == 0
    var start = 0
    for segment in page.segments {
      let bytes = page.content[start..<start + Int(segment)]
      start += Int(segment)
      if !isOrphan { try keep(bytes, offset: offset) }
      guard segment < 255 else { continue }
      if !isOrphan { try end(offset: offset) }
      isOrphan = false
    }
    if page.flags.contains(.last) { serial = nil }
    trim(page)
  }

  private mutating func drop() {
    partial = []
    partialSize = 0
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>, offset: Int) throws(ContainerError) {
    partialSize += bytes.count
    let isComments = head != nil && !hasComments
    let limit = isComments ? Self.largestComments : Self.largestPacket
    guard partialSize <= limit else {
      throw .tooLarge(what: "a packet", bytes: UInt64(partialSize), limit: limit, offset: offset)
    }
    if !isComments || partial.count < 8 { partial += bytes }
  }

  /// A packet is whole: the head, the comments, or sound.
  private mutating func end(offset: Int) throws(ContainerError) {
    let packet = partial
    drop()
    if head == nil {
      head = try OpusHead(packet, offset: offset)
    } else if !hasComments {
      guard packet.starts(with: "OpusTags".utf8) else {
        throw .notThis(format: "comments of Opus", offset: offset)
      }
      hasComments = true
    } else if let opus = try? OpusPacket(packet) {
      // What is no packet of Opus has no length, and is passed over (RFC 7845 §3).
      ready.append(Packet(bytes: packet, position: position, samples: opus.samples))
      position &+= Int64(opus.samples)
    }
  }

  /// The last page may end before its last packet does (RFC 7845 §4.4): packets wholly behind the end aren't played.
  private mutating func trim(_ page: OggPage) {
    guard page.granule >= 0, !ready.isEmpty else { return }
    let isLast = page.flags.contains(.last)
    // A stream may have been cut out of a longer one, and begins later then (§4.3).
    let start = origin ?? (isLast ? 0 : page.granule &- (position &- base))
    origin = start
    guard isLast else { return }
    let end = base &+ page.granule &- start
    while let last = ready.last, last.position >= end { ready.removeLast() }
  }
}
