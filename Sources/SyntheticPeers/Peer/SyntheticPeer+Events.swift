package import Model

/// What can happen to a far end's media.
extension SyntheticPeer {
  /// The encoders start over: other numbers and timestamps, under the same SSRCs or others.
  package func restartSource(changingSSRC: Bool, now: Instant) {
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

  /// Another of the codecs that were agreed on, in mid-stream. One with a slow sound card keeps the clock rate: such
  /// a card's pace can't be measured again in the time that a conference has.
  package func changeCodec(now: Instant) {
    guard !sources.isEmpty else { return }
    let index = Int(random.next() % UInt64(sources.count))
    let current = sources[index].codec.codec.clockRate
    let isSlow = sources[index].kind == .audio && clock.soundDrift != 0
    let codecs = sources[index].section.codecs.filter { !isSlow || $0.codec.clockRate == current }
    guard !codecs.isEmpty else { return }
    let codec = codecs[Int(random.next() % UInt64(codecs.count))]
    let rate = sources[index].codec.codec.clockRate
    guard sources[index].change(to: codec, now: now) else { return }
    journal.count(rate == codec.codec.clockRate ? .codecChange : .clockChange)
    journal.trace(now, "\(sources[index].log.name) goes on in \(codec.format)")
  }

  /// Numbers are used up by packets that never left.
  package func skipNumbers(_ count: Int, now: Instant) {
    guard !sources.isEmpty else { return }
    let index = Int(random.next() % UInt64(sources.count))
    sources[index].skip(count)
    journal.trace(now, "\(sources[index].log.name) skips \(count) numbers")
  }

  /// The picture is broken everywhere.
  package func requestPictures() {
    for stream in streams where stream.section.kind == .video && stream.highest != .min {
      stream.wantsKeyFrame = true
    }
  }
}
