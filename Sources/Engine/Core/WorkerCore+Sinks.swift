internal import Model

/// Sinks: consumers outside the workers, which say by message what slots say by RTCP.
extension WorkerCore {
  mutating func add(_ sink: TrackSink, kind: MediaKind, now: Instant) {
    guard feeds.sinks.find(sink) == nil else { return }
    if case .kept(let asks) = sink.begins { return add(sink, beginningKept: asks, now: now) }
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

  /// One that begins with what is kept: the worker that has the publisher serves it.
  /// - Parameter asks: where no key frame is kept, the source is asked for one.
  private mutating func add(_ sink: TrackSink, beginningKept asks: Bool, now: Instant) {
    guard let feed = feeds.findPublished(feeds.groups.first(of: sink.track)) else {
      // Its home alone knows where the publisher is.
      guard routing.owner(of: sink.track.peer) != nil else { return sink.end() }
      return passOn(.track(.sinkAdded(sink, kind: .video)), of: sink.track.peer)
    }
    guard feeds.pointer(feed).pointee.kind == .video else { return sink.end() }
    guard let number = feeds.sinks.insert(sink, feed: feed) else { return sink.refuse() }
    let kept = feeds.pointer(feed).pointee.keptKeyFrame()
    feeds.subscribe(.here(.sink(number)), to: feed)
    if let kept {
      for sequence in kept {
        replay(feeds.reference(sequence, of: feed), to: .sink(number), now: now)
      }
    } else if asks {
      requestKeyFrame(of: feed, now: now)
    }
  }

  mutating func remove(_ sink: TrackSink) {
    guard let number = feeds.sinks.find(sink), let feed = feeds.sinks.feed(of: number) else {
      // It went the same way as it came.
      if sink.begins != .next { passOn(.track(.sinkRemoved(sink)), of: sink.track.peer) }
      return
    }
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
