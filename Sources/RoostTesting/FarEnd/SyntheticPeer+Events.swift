internal import Model

/// What can happen to a far end's media.
extension SyntheticPeer {
  /// The encoders start over: other numbers and timestamps, under the same SSRCs or others.
  func restartSource(changingSSRC: Bool, now: Instant) {
    for index in sources.indices where random.next() % 2 == 0 {
      if changingSSRC {
        let ssrc = UInt32(truncatingIfNeeded: random.next()) | 1
        let rtxSSRC = UInt32(truncatingIfNeeded: random.next()) | 1
        sources[index].restart(ssrc: ssrc, rtxSSRC: rtxSSRC, now: now)
        journal.count(.sourceChangedSSRC)
        journal.trace(now, "\(sources[index].log.name) starts over under another SSRC")
      } else {
        sources[index].restart(now: now)
        journal.count(.sourceRestart)
        journal.trace(now, "\(sources[index].log.name) starts over")
      }
    }
  }

  /// Numbers are used up by packets that never left.
  func skipNumbers(_ count: Int, now: Instant) {
    guard !sources.isEmpty else { return }
    let index = Int(random.next() % UInt64(sources.count))
    sources[index].skip(count)
    journal.trace(now, "\(sources[index].log.name) skips \(count) numbers")
  }

  /// The picture is broken everywhere.
  func requestPictures() {
    for stream in streams where stream.section.kind == .video && stream.highest != .min {
      stream.wantsKeyFrame = true
    }
  }
}
