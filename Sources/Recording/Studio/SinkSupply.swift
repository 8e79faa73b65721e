internal import Engine
internal import Media
internal import Model

/// The packets of a track in the media plane of this process: a sink for each of its encodings.
final class SinkSupply: TrackSupply {
  /// How long it is until a sink that ended, while its track goes on, is asked for again: a worker may have had no room for it, or not
  /// have heard of the track yet.
  private static let again = Duration.seconds(1)
  /// Of sound much less comes in the time in which rings are emptied.
  private static let ringSize: (video: Int, audio: Int) = (1 << 20, 1 << 17)

  private let key: TrackKey
  private let kind: MediaKind
  private let bridge: Bridge
  private var sinks: [TrackSink?]
  private var askedAt: Instant?

  init(_ key: TrackKey, _ track: RecordedTrack, bridge: Bridge) {
    self.key = key
    self.bridge = bridge
    kind = track.kind
    sinks = Array(repeating: nil, count: max(1, min(track.encodings, ReceiveSection.mostEncodings)))
  }

  func listen(now: Instant) {
    guard sinks.contains(where: { $0?.isEnded ?? true }) else { return }
    if let askedAt, now - askedAt < Self.again { return }
    askedAt = now
    for encoding in sinks.indices where sinks[encoding]?.isEnded ?? true {
      let key = TrackKey(peer: key.peer, index: key.index, encoding: UInt8(encoding))
      let size = kind == .video ? Self.ringSize.video : Self.ringSize.audio
      // It isn't woken: rings are emptied many times before they are full.
      let sink = TrackSink(key, ringSize: size, wake: {})
      sinks[encoding] = sink
      bridge.add(sink, kind: kind, at: worker)
    }
  }

  private var worker: Int { min(key.peer.home, bridge.workerCount - 1) }

  func take(_ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void) {
    for case let sink? in sinks {
      let clock = sink.clock
      sink.take { packet, info in body(packet, info, clock) }
    }
  }

  func requestKeyFrame(encoding: Int) {
    guard sinks.indices.contains(encoding), let sink = sinks[encoding] else { return }
    bridge.ask(.keyFrame, for: sink, at: worker)
  }

  func stop() { for case let sink? in sinks { bridge.remove(sink, at: worker) } }
}
