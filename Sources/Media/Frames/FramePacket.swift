public import Model

/// A packet of an encoding on its way to becoming a frame: its payload, and what of its header counts for that.
public struct FramePacket: Equatable, Sendable {
  /// Never wraps; a source that starts over goes on far above its old numbers.
  public var sequence: Int64
  public var timestamp: UInt32
  public var marker: Bool
  public var format: CodecFormat
  /// Of the blocks in RED; otherwise as `format`.
  public var primaryFormat: CodecFormat
  /// Counts how often the source started over.
  public var restart: UInt8
  public var ssrc: UInt32
  public var arrival: Instant
  public var payload: [UInt8]

  public init(
    sequence: Int64, timestamp: UInt32, marker: Bool, format: CodecFormat, primaryFormat: CodecFormat? = nil,
    restart: UInt8 = 0, ssrc: UInt32 = 0, arrival: Instant, payload: [UInt8]
  ) {
    self.sequence = sequence
    self.timestamp = timestamp
    self.marker = marker
    self.format = format
    self.primaryFormat = primaryFormat ?? format
    self.restart = restart
    self.ssrc = ssrc
    self.arrival = arrival
    self.payload = payload
  }

  /// One without a payload is a probe, whose number isn't missing.
  /// - Parameter packet: plain RTP, about which `info` is.
  /// - Returns: nil where the two don't fit together.
  public init?(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) {
    let start = Int(info.payloadOffset)
    let end = start + Int(info.payloadSize)
    guard start >= 12, end <= packet.count else { return nil }
    self.init(
      sequence: info.extendedSequence, timestamp: info.timestamp, marker: info.flags.contains(.marker),
      format: info.format, primaryFormat: info.primaryFormat, restart: info.restart,
      ssrc: packet.loadUnaligned(fromByteOffset: 8, as: UInt32.self).bigEndian, arrival: info.arrival,
      payload: Array(packet[start..<end]))
  }
}
