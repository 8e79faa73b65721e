internal import Model

/// Makes frames of the packets of one encoding of video. A frame comes out whole or not at all.
public struct FrameAssembler: Sendable {
  /// Bytes of a frame at most; a larger one is counted as lost.
  public static let largestFrame = 8 * 1_024 * 1_024

  private enum Position: Equatable {
    /// The next packet is a frame's first.
    case between
    case inside(timestamp: UInt32)
    /// Packets were lost: the next that says that it begins a frame does, or one behind a frame's end.
    case lost
  }

  private var assembly = PictureAssembly()
  private var position = Position.lost
  private var hasLost = false
  private var format = CodecFormat.vp8
  /// Of the frame's last packet so far.
  private var last: FramePacket?
  /// Frames of which something didn't come, as far as that can be seen.
  public private(set) var incomplete: UInt64 = 0

  public init() {}

  /// Packets before the next one didn't come.
  public mutating func lose() {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.halfFrames) { return }
    #endif
    if case .inside = position { incomplete &+= 1 }
    assembly.clear()
    hasLost = true
    position = .lost
  }

  /// Takes the next packet.
  /// - Parameter frames: gets what it completes: none, one, or two where a frame ended without a mark.
  public mutating func add(_ packet: FramePacket, into frames: inout [EncodedFrame]) {
    if packet.format != format {
      if position != .lost { lose() }
      format = packet.format
    }
    if case .inside(let timestamp) = position, timestamp != packet.timestamp { finish(into: &frames) }
    switch position {
    case .inside: break
    case .between: begin(packet)
    case .lost:
      guard PictureAssembly.begins(with: packet.payload, format.codec) else {
        hasLost = true
        if packet.marker { position = .between }
        return
      }
      begin(packet)
    }
    let isWhole = packet.payload.withUnsafeBytes { assembly.add($0, format.codec, marker: packet.marker) }
    guard isWhole, assembly.bytes.count <= Self.largestFrame else {
      lose()
      if packet.marker { position = .between }
      return
    }
    last = packet
    if packet.marker { finish(into: &frames) }
  }

  private mutating func begin(_ packet: FramePacket) {
    assembly.clear()
    position = .inside(timestamp: packet.timestamp)
  }

  private mutating func finish(into frames: inout [EncodedFrame]) {
    position = .between
    guard let last, let picture = assembly.finish(format.codec) else {
      incomplete &+= 1
      hasLost = true
      return assembly.clear()
    }
    frames.append(
      EncodedFrame(
        format: last.primaryFormat, timestamp: last.timestamp, bytes: picture.bytes,
        isKeyFrame: picture.isKeyFrame, size: picture.size, followsLoss: hasLost, layer: picture.layer,
        restart: last.restart, ssrc: last.ssrc, arrival: last.arrival))
    hasLost = false
    assembly.clear()
  }
}
