/// The first packet of Opus in Ogg, and what Matroska keeps beside the track (RFC 7845 §5.1).
public struct OpusHead: Equatable, Sendable {
  /// Samples at 48 kHz that a decoder's output begins with and that are not played: as many as encoders look ahead, 6.5 ms.
  public static let lookahead: UInt16 = 312

  /// 1 or 2.
  public var channels: UInt8
  public var preSkip: UInt16
  /// Of what was encoded, for information; decoders play at 48 kHz.
  public var inputRate: UInt32
  /// In 256ths of a decibel.
  public var gain: Int16

  public init(
    channels: UInt8, preSkip: UInt16 = OpusHead.lookahead, inputRate: UInt32 = 48_000, gain: Int16 = 0
  ) {
    self.channels = channels
    self.preSkip = preSkip
    self.inputRate = inputRate
    self.gain = gain
  }

  public var bytes: [UInt8] {
    var bytes = Array("OpusHead".utf8)
    bytes += [1, channels]
    bytes.append(littleEndian: preSkip)
    bytes.append(littleEndian: inputRate)
    bytes.append(littleEndian: gain)
    // One stream of one or two channels.
    bytes.append(0)
    return bytes
  }

  /// - Parameter offset: of the packet in its file, for errors.
  public init(_ packet: [UInt8], offset: Int) throws(ContainerError) {
    guard packet.starts(with: "OpusHead".utf8), packet.count >= 19 else {
      throw .notThis(format: "head of Opus", offset: offset)
    }
    // The upper half of the version changes what follows, the lower doesn't.
    guard packet[8] < 16 else { throw .invalid(field: "the version of Opus in Ogg", offset: offset) }
    guard packet[18] == 0, packet[9] == 1 || packet[9] == 2 else {
      throw .invalid(field: "the number of channels (one or two are read)", offset: offset)
    }
    self.init(
      channels: packet[9], preSkip: ByteQueue.littleEndian(packet[10..<12]),
      inputRate: ByteQueue.littleEndian(packet[12..<16]),
      gain: Int16(bitPattern: ByteQueue.littleEndian(packet[16..<18])))
  }
}
