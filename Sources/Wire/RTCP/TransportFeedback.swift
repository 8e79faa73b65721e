/// When each packet of a transport arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1). Points
/// into the compound and must not outlive it.
///
/// All chunks and deltas are checked at the start, so that the walk over the entries can't fail.
public struct TransportFeedback {
  /// Bytes of the body before the chunks.
  static let headSize = 16
  /// Nanoseconds of the unit of deltas.
  public static let tick: Int64 = 250_000

  /// One packet of the transport.
  public struct Entry: Equatable, Sendable {
    /// The packet's transport sequence number.
    public var sequence: UInt16
    public var received: Bool
    /// Ticks since the packet received before it, in the first since the reference time; 0 if not received.
    public var delta: Int16
    /// Ticks since the origin of the reference time, modulo 2^32; meaningless if not received.
    public var arrival: UInt32

    public init(sequence: UInt16, received: Bool, delta: Int16, arrival: UInt32) {
      self.sequence = sequence
      self.received = received
      self.delta = delta
      self.arrival = arrival
    }
  }

  public let sources: FeedbackSources
  public let baseSequence: UInt16
  /// Packets with a status, 1–65535.
  public let statusCount: Int
  /// In units of 64 ms, 24 bits signed; wraps in 12 days.
  public let referenceTime: Int32
  /// Counts the messages, so that lost ones show.
  public let feedbackCount: UInt8
  let bytes: UnsafeRawPointer
  let deltasOffset: Int

  public init(_ packet: RTCPPacket) throws(RTCPError) {
    bytes = try packet.bytes(.transportFeedback, atLeast: Self.headSize)
    sources = FeedbackSources(bytes)
    baseSequence = bytes.loadBigEndian(at: 8, as: UInt16.self)
    statusCount = Int(bytes.loadBigEndian(at: 10, as: UInt16.self))
    let word = bytes.loadBigEndian(at: 12, as: UInt32.self)
    referenceTime = Int32(bitPattern: word) >> 8
    feedbackCount = UInt8(truncatingIfNeeded: word)
    guard statusCount > 0 else { throw .noStatuses }

    var offset = Self.headSize
    var found = 0
    var deltaBytes = 0
    while found < statusCount {
      guard packet.body.count - offset >= 2 else {
        throw .statusesMissing(announced: statusCount, found: found)
      }
      var chunk = Chunk(bytes.loadBigEndian(at: offset, as: UInt16.self))
      offset += 2
      // Symbols of the last chunk beyond the announced count mean nothing.
      let count = min(chunk.left, statusCount - found)
      if chunk.isRun {
        let symbol = chunk.next()
        guard symbol != 3 || count == 0 else { throw .reservedSymbol(index: found) }
        deltaBytes += count * Int(symbol)
      } else {
        for index in 0..<count {
          let symbol = chunk.next()
          guard symbol != 3 else { throw .reservedSymbol(index: found + index) }
          deltaBytes += Int(symbol)
        }
      }
      found += count
    }
    deltasOffset = offset
    guard packet.body.count - offset >= deltaBytes else {
      throw .bodyTooShort(type: packet.type, needs: offset + deltaBytes, size: packet.body.count)
    }
  }

  public var entries: Entries {
    Entries(
      bytes: bytes, chunkOffset: Self.headSize, deltaOffset: deltasOffset, left: statusCount,
      sequence: baseSequence, arrival: UInt32(bitPattern: referenceTime) << 8)
  }

  /// 16 bits that tell the status of several packets: a run of one symbol, 14 symbols of one bit, or 7 of two.
  /// A symbol is also the size of its delta: 0 not received, 1 one unsigned byte, 2 two signed bytes.
  struct Chunk {
    /// The next symbol stands in the upper bits.
    private var symbols: UInt16
    /// Bits of a symbol, and bits to go on to the next: none in a run.
    private let width: UInt16
    private let step: UInt16
    /// Symbols not yet taken.
    private(set) var left: Int

    init(_ word: UInt16) {
      switch word >> 14 {
      case 0, 1: (symbols, width, step, left) = (word << 1, 2, 0, Int(word & 0x1FFF))
      case 2: (symbols, width, step, left) = (word << 2, 1, 1, 14)
      default: (symbols, width, step, left) = (word << 2, 2, 2, 7)
      }
    }

    var isRun: Bool { step == 0 }

    mutating func next() -> UInt8 {
      let symbol = symbols >> (16 &- width)
      symbols <<= step
      left -= 1
      return UInt8(truncatingIfNeeded: symbol)
    }
  }

  /// Walks the statuses in the order of sequence numbers.
  public struct Entries {
    let bytes: UnsafeRawPointer
    var chunkOffset: Int
    var deltaOffset: Int
    var left: Int
    var sequence: UInt16
    var arrival: UInt32
    var chunk = Chunk(0)

    init(
      bytes: UnsafeRawPointer, chunkOffset: Int, deltaOffset: Int, left: Int, sequence: UInt16,
      arrival: UInt32
    ) {
      self.bytes = bytes
      self.chunkOffset = chunkOffset
      self.deltaOffset = deltaOffset
      self.left = left
      self.sequence = sequence
      self.arrival = arrival
    }

    public mutating func next() -> Entry? {
      guard left > 0 else { return nil }
      left -= 1
      while chunk.left == 0 {
        chunk = Chunk(bytes.loadBigEndian(at: chunkOffset, as: UInt16.self))
        chunkOffset += 2
      }
      var entry = Entry(sequence: sequence, received: false, delta: 0, arrival: arrival)
      sequence &+= 1
      switch chunk.next() {
      case 1:
        entry.delta = Int16(bytes.byte(at: deltaOffset))
        deltaOffset += 1
      case 2:
        entry.delta = bytes.loadBigEndian(at: deltaOffset, as: Int16.self)
        deltaOffset += 2
      default:
        return entry
      }
      entry.received = true
      arrival = arrival &+ UInt32(bitPattern: Int32(entry.delta))
      entry.arrival = arrival
      return entry
    }
  }
}
