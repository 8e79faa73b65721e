public import Model

/// Takes single key frames of tracks out of the media plane: those that workers keep for who comes later, else the next that comes.
public final class KeyFrameDesk: Sendable {
  private let bridge: Bridge

  public init(_ bridge: Bridge) { self.bridge = bridge }

  /// - Parameters:
  ///   - track: of a simulcast the encoding is taken that costs least of those that come.
  ///   - asks: where no key frame is kept, the publisher is asked for one; else the next that comes by itself is waited for.
  /// - Returns: nil: none came in time, there is no such track, or its worker serves as many sinks as it may.
  public func keyFrame(of track: TrackKey, asks: Bool, within patience: Duration) async -> KeyFrame? {
    let (news, noted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let sink = TrackSink(track.track, begins: .kept(asks: asks)) { noted.yield() }
    let worker = min(track.peer.home, bridge.workerCount - 1)
    bridge.add(sink, kind: .video, at: worker)
    let alarm = Task {
      try await Task.sleep(for: patience)
      noted.finish()
    }
    defer {
      alarm.cancel()
      bridge.remove(sink, at: worker)
    }
    var reading = KeyFrameReading()
    for await _ in news {
      if let found = reading.take(from: sink) { return found }
      if sink.isEnded { return nil }
    }
    return nil
  }
}
