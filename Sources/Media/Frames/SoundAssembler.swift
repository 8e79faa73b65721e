internal import Model
internal import Wire

/// Makes frames of the packets of a track of sound: each is one. Of RED, the older blocks stand in for packets that were lost.
public struct SoundAssembler: Sendable {
  private var hasLost = false
  /// The timestamp behind the last frame.
  private var end: UInt32?
  private var restart: UInt8 = 0

  public init() {}

  /// Packets before the next one didn't come.
  public mutating func lose() { hasLost = true }

  /// Takes the next packet.
  /// - Parameter frames: gets what it completes: what was lost and comes again, then its own.
  public mutating func add(_ packet: FramePacket, into frames: inout [EncodedFrame]) {
    if packet.restart != restart {
      restart = packet.restart
      end = nil
    }
    guard packet.format.codec == .red else { return add(packet.payload, packet.timestamp, packet, &frames) }
    guard let blocks = try? REDBlocks(packet.payload) else { return }
    for block in blocks.older {
      let timestamp = packet.timestamp &- block.age
      // Nothing was lost, or the block came in its time: then it isn't new.
      guard hasLost, let end, Int32(bitPattern: timestamp &- end) >= 0 else { continue }
      add(Array(packet.payload[block.range]), timestamp, packet, &frames)
    }
    add(Array(packet.payload[blocks.newest]), packet.timestamp, packet, &frames)
    hasLost = false
  }

  private mutating func add(
    _ bytes: [UInt8], _ timestamp: UInt32, _ packet: FramePacket, _ frames: inout [EncodedFrame]
  ) {
    let codec = packet.primaryFormat.codec
    guard let samples = Self.samples(bytes, codec) else { return }
    frames.append(
      EncodedFrame(
        format: packet.primaryFormat, timestamp: timestamp, bytes: bytes, samples: samples,
        followsLoss: hasLost, restart: packet.restart, ssrc: packet.ssrc, arrival: packet.arrival))
    end = timestamp &+ UInt32(samples)
    if packet.format.codec != .red { hasLost = false }
  }

  /// In units of the codec's clock.
  /// - Returns: nil of what is no packet of it.
  private static func samples(_ bytes: [UInt8], _ codec: Codec) -> Int? {
    switch codec {
    case .opus: (try? OpusPacket(bytes))?.samples
    // A byte is a sample of G.711, and two of G.722, whose clock counts every second one.
    case .pcmu, .pcma, .g722: bytes.isEmpty ? nil : bytes.count
    default: nil
    }
  }
}
