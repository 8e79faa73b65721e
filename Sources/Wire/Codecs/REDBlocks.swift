/// Where the blocks of RED lie in its payload, and how old they are (RFC 2198 §3).
public struct REDBlocks: Equatable, Sendable {
  public struct Block: Equatable, Sendable {
    /// How much earlier than the packet's its timestamp is, below 2^14.
    public var age: UInt32
    public var range: Range<Int>
  }

  /// In the order in which they stand, empty ones left out.
  public private(set) var older: [Block] = []
  public private(set) var newest: Range<Int>

  /// - Parameter payload: of the RTP packet, without padding.
  public init(_ payload: [UInt8]) throws(REDError) {
    let read = try payload.withUnsafeBytes { bytes in
      Result { () throws(REDError) in try REDPayload(bytes) }
    }.get()
    newest = read.primaryOffset..<payload.count
    var start = 4 * read.olderBlocks + 1
    for index in 0..<read.olderBlocks {
      let head = payload[4 * index + 1..<4 * index + 4].reduce(0) { $0 << 8 | UInt32($1) }
      let size = Int(head & 0x3FF)
      if size > 0 { older.append(Block(age: head >> 10, range: start..<start + size)) }
      start += size
    }
  }
}
