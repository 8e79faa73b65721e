public import Model

/// Opens what one peer sends to us, in place (RFC 3711, RFC 7714).
///
/// libsrtp decrypts and authenticates; what was received before is remembered here, per SSRC, so that it can be
/// taken out with the peer's state. A packet goes through three gates: window (cheap, drops replays), libsrtp,
/// and only then its index is marked and its SSRC gets a place. Belongs to one thread at a time.
///
/// An SSRC that was pushed out is forgotten with its windows. That takes more than 32 authenticated SSRCs which
/// no track is mapped to, so only the peer itself can bring it about, to its own harm.
public struct SRTPOpener: ~Copyable {
  /// The most SSRCs that `mappedLimit` can ask for.
  public static let mappedCapacity = 512

  private let keys: SRTPKeys
  private let library: LibSRTP
  private var table: StreamTable

  /// - Parameter mappedLimit: the most SSRCs that can be mapped to tracks; beside them 32 unmapped have a place.
  /// - Throws: `library` when libsrtp can't start.
  public init(keys: SRTPKeys, mappedLimit: Int) throws(SRTPError) {
    precondition((0...Self.mappedCapacity).contains(mappedLimit))
    self.keys = keys
    library = try LibSRTP(keys: keys)
    table = StreamTable(mappedLimit: mappedLimit)
  }

  /// SSRCs that have a place now.
  public var streamCount: Int { table.count }

  /// The highest authenticated packet index of `ssrc`: rollover counter and sequence number.
  public mutating func highestIndex(ssrc: UInt32) -> UInt64? {
    table.find(ssrc).flatMap { table.stream($0).pointee.rtp.highest }
  }

  /// Opens an SRTP packet.
  /// - Parameter packet: the whole datagram; of no use to anybody after an error.
  /// - Returns: bytes of the plain RTP packet, from the same start.
  public mutating func openRTP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
    guard packet.count >= 12 &+ keys.profile.rtpOverhead else { throw .tooShort(bytes: packet.count) }
    guard packet[0] >> 6 == 2 else { throw .malformed }
    let sequence = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    let ssrc = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 8, as: UInt32.self))

    let known = table.find(ssrc)
    var index = UInt64(sequence)
    if let known, let highest = table.stream(known).pointee.rtp.highest {
      index = RTPIndex.estimate(sequence: sequence, highest: highest)
      switch table.stream(known).pointee.rtp.check(index) {
      case .fresh: break
      case .duplicate: throw .replayed(index: index)
      case .tooOld: throw .tooOld(index: index)
      }
      guard index < RTPIndex.limit else { throw .indexExhausted }
      if table.stream(known).pointee.needsRollover {
        library.setRollover(UInt32(truncatingIfNeeded: index >> 16), ssrc: ssrc)
      }
    }

    let size = try library.openRTP(packet, index: index)
    let place = known ?? insert(ssrc)
    table.touch(place)
    let stream = table.stream(place)
    if stream.pointee.needsRollover, index > stream.pointee.rtp.highest ?? 0 {
      // From here on libsrtp's highest index is ours, so that its estimates are too.
      stream.pointee.needsRollover = false
      library.setRollover(0, ssrc: ssrc)
    }
    stream.pointee.rtp.insert(index)
    return size
  }

  /// Opens an SRTCP packet.
  /// - Parameter packet: the whole datagram; of no use to anybody after an error.
  /// - Returns: bytes of the plain compound packet, from the same start.
  public mutating func openRTCP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
    guard packet.count >= 8 &+ keys.profile.rtcpOverhead else { throw .tooShort(bytes: packet.count) }
    guard packet[0] >> 6 == 2 else { throw .malformed }
    let ssrc = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    // The word with E flag and index comes last with GCM (RFC 7714 §9.1), else before the tag.
    let tail = keys.profile.isAEAD ? 4 : 4 &+ keys.profile.tagSize
    let word = UInt32(
      bigEndian: packet.loadUnaligned(fromByteOffset: packet.count &- tail, as: UInt32.self))
    guard word & 0x8000_0000 != 0 else { throw .notEncrypted }
    let index = UInt64(word & 0x7FFF_FFFF)

    let known = table.find(ssrc)
    if let known {
      switch table.stream(known).pointee.rtcp.check(index) {
      case .fresh: break
      case .duplicate: throw .replayed(index: index)
      case .tooOld: throw .tooOld(index: index)
      }
    }

    let size = try library.openRTCP(packet, index: index)
    let place = known ?? insert(ssrc)
    table.touch(place)
    table.stream(place).pointee.rtcp.insert(index)
    return size
  }

  /// Gives `ssrc` a place that newcomers can't take; it need not have been seen yet.
  /// - Returns: false when `mappedLimit` SSRCs are mapped already.
  public mutating func markMapped(ssrc: UInt32) -> Bool { table.map(ssrc) }

  /// Gives the mapped place of `ssrc` back. Its windows stay as those of an unmapped SSRC, so that replays are
  /// still refused, until newcomers push it out.
  public mutating func remove(ssrc: UInt32) {
    if let evicted = table.unmap(ssrc) { library.remove(ssrc: evicted) }
  }

  private mutating func insert(_ ssrc: UInt32) -> Int {
    let (place, evicted) = table.insertUnmapped(ssrc)
    if let evicted { library.remove(ssrc: evicted) }
    return place
  }
}

extension SRTPOpener {
  private static let version: UInt8 = 1

  /// Writes keys and windows: all that an opener is, libsrtp's part following from it.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.version)
    keys.encode(into: &writer)
    writer.write(UInt16(table.mappedLimit))
    writer.write(UInt32(table.count))
    for place in 0..<table.count {
      writer.write(table.stream(place).pointee.ssrc)
      writer.write(table.stream(place).pointee.mapped)
      writer.write(table.stream(place).pointee.lastUsed)
      table.stream(place).pointee.rtp.encode(into: &writer)
      table.stream(place).pointee.rtcp.encode(into: &writer)
    }
  }

  /// Rebuilds an opener that refuses whatever the encoded one had opened.
  public init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("SRTP opener", upTo: Self.version)
    let keys = try SRTPKeys(from: &reader)
    let mappedLimit = Int(try reader.integer(UInt16.self))
    guard mappedLimit <= Self.mappedCapacity else {
      throw .invalid(field: "mapped limit \(mappedLimit)", offset: reader.offset - 2)
    }
    let count = try reader.count(limit: mappedLimit + StreamTable.unmappedLimit)
    var table = StreamTable(mappedLimit: mappedLimit)
    for _ in 0..<count {
      var stream = StreamTable.Stream(ssrc: try reader.integer(), mapped: try reader.bool())
      stream.lastUsed = try reader.integer()
      stream.rtp = try IndexWindow(from: &reader)
      stream.rtcp = try IndexWindow(from: &reader)
      stream.needsRollover = stream.rtp.highest != nil
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.staleRollover) { stream.needsRollover = false }
      #endif
      guard table.restore(stream) else { throw .invalid(field: "SRTP stream", offset: reader.offset) }
    }
    try self.init(keys: keys, table: table, offset: reader.offset)
  }

  private init(keys: SRTPKeys, table: consuming StreamTable, offset: Int) throws(StateError) {
    do throws(SRTPError) {
      let library = try LibSRTP(keys: keys)
      // A stream without RTP yet starts from the template, like a newcomer.
      for place in 0..<table.count where table.stream(place).pointee.needsRollover {
        try library.add(ssrc: table.stream(place).pointee.ssrc)
      }
      self.keys = keys
      self.library = library
      self.table = table
    } catch {
      throw .invalid(field: "SRTP session: \(error)", offset: offset)
    }
  }
}
