internal import Engine
internal import Media
internal import Model

/// The packets of a track in the media plane of this process: a sink for each of its encodings, which it shares with other recordings.
final class SinkSupply: TrackSupply {
  private let sinks: SharedSinks
  private var encodings: [(sink: SharedSink, reader: Int)] = []
  private var rest: [SharedSink.Packet] = []

  init(_ key: TrackKey, _ track: RecordedTrack, in room: String, sinks: SharedSinks) {
    self.sinks = sinks
    let count = max(1, min(track.encodings, ReceiveSection.mostEncodings))
    encodings = (0..<count).map {
      sinks.join(TrackKey(peer: key.peer, index: key.index, encoding: UInt8($0)), track.kind, of: room)
    }
  }

  deinit { stop() }

  var isRefused: Bool { encodings.contains { $0.sink.isRefused } }

  func listen(now: Instant) { for encoding in encodings { sinks.listen(encoding.sink, now: now) } }

  func take(_ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void) {
    for packet in rest { packet.bytes.withUnsafeBytes { body($0, packet.info, packet.clock) } }
    rest = []
    for encoding in encodings { encoding.sink.take(encoding.reader, body) }
  }

  func requestKeyFrame(encoding: Int) {
    if encodings.indices.contains(encoding) { encodings[encoding].sink.requestKeyFrame() }
  }

  func stop() {
    for encoding in encodings { rest += sinks.leave(encoding.sink, encoding.reader) }
    encodings = []
  }
}
