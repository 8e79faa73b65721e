internal import Model

/// Sinks: consumers outside the workers, which say by message what slots say by RTCP.
extension WorkerCore {
  mutating func add(_ sink: TrackSink, kind: MediaKind, now: Instant) {
    guard feeds.sinks.find(sink) == nil else { return }
    guard let feed = feed(for: sink.track, kind: kind) else { return sink.end() }
    guard let number = feeds.sinks.insert(sink, feed: feed) else {
      sink.refuse()
      if feeds.pointer(feed).pointee.publisher == nil, feeds.pointer(feed).pointee.consumers.isEmptyHere {
        drop(feed)
      }
      return
    }
    feeds.subscribe(.here(.sink(number)), to: feed)
    if let clock = feeds.pointer(feed).pointee.clock { sink.setClock(clock) }
    keyFrameNeeded(by: .here(.sink(number)), of: feed, now: now)
  }

  mutating func remove(_ sink: TrackSink) {
    guard let number = feeds.sinks.find(sink), let feed = feeds.sinks.feed(of: number) else { return }
    _ = feeds.sinks.remove(number)
    if let unused = feeds.unsubscribe(.here(.sink(number)), from: feed) { drop(unused) }
  }

  /// What a sink asks of its track's source: as a slot's subscriber does.
  mutating func take(_ request: TrackRequest, by sink: TrackSink, now: Instant) {
    guard let number = feeds.sinks.find(sink), let feed = feeds.sinks.feed(of: number) else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sinkUnheard), case .keyFrame = request { return }
    #endif
    switch request {
    case .keyFrame: keyFrameNeeded(by: .here(.sink(number)), of: feed, now: now)
    case .packet(let sequence): packetMissed(sequence, by: .sink(number), of: feed, now: now)
    }
  }
}
