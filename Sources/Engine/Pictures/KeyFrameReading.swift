internal import Media
internal import Model

/// The first key frame in what a sink gets: packets in order, and whole frames of them.
struct KeyFrameReading {
  /// How long a packet that is missing is waited for: its publisher is asked for it again.
  private static let patience = Duration.seconds(1)

  private var order = PacketOrder(patience: Self.patience)
  private var pictures = FrameAssembler()
  private var restart: UInt8?
  private var newest = Instant(nanoseconds: .min / 2)

  init() {}

  /// Takes what has come.
  /// - Returns: nil: no key frame is whole yet.
  mutating func take(from sink: TrackSink) -> KeyFrame? {
    sink.take { bytes, info in
      guard let packet = FramePacket(bytes, info) else { return }
      newest = max(newest, packet.arrival)
      order.add(packet)
    }
    var frames: [EncodedFrame] = []
    while let step = order.next(now: newest) {
      switch step {
      case .lost: pictures.lose()
      case .packet(let packet):
        // Between two lives of a source nothing is joined.
        if let restart, restart != packet.restart { pictures.lose() }
        restart = packet.restart
        // One without a payload is a probe.
        if !packet.payload.isEmpty { pictures.add(packet, into: &frames) }
      }
    }
    return frames.first { $0.isKeyFrame }.map {
      KeyFrame(format: $0.format, bytes: $0.bytes, size: $0.size, arrival: $0.arrival)
    }
  }
}
