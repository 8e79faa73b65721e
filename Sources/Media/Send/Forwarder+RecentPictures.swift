internal import Model

extension Forwarder {
  /// Has the stream begin with what its source showed until now, which is to be selected next.
  /// - Returns: false where it waits for no key frame of that encoding, or one was asked for because packets were dropped.
  public mutating func beginWith(_ past: RecentPictures) -> Bool {
    guard needsKeyFrame, !pending.isCut, past.encoding == encodings.shown else { return false }
    joined.past = past
    return true
  }

  /// Joins a source to the stream with pictures of the time before: the newest of them stands where it would without the others,
  /// and these stand as close before it as there is room behind what was sent.
  func draw(_ past: RecentPictures, _ new: inout Anchor, rate: UInt32, epoch: Epoch) {
    let span = past.timestamp &- past.keyTimestamp
    let units = UInt32(
      truncatingIfNeeded: ClockMapping.units(RecentPictures.distance.wholeNanoseconds, rate: rate))
    var end = nextTimestamp(past.timestamp, past.arrival, rate: rate, epoch: epoch)
    var wanted = UInt32(truncatingIfNeeded: max(past.frames &- 1, 1)) &* units
    if position.hasSent { wanted = min(wanted, end &- position.timestamp &- 1) }
    new.drawnBy = max(1, min(span / max(wanted, 1), RecentPictures.mostDrawn))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pastUndrawn) { new.drawnBy = 1 }
    #endif
    new.drawnEnd = past.timestamp
    if position.hasSent {
      // Where there is still no room the source begins that much later.
      let earliest = position.timestamp &+ span / new.drawnBy &+ 1
      if Int32(bitPattern: earliest &- end) > 0 { end = earliest }
    }
    new.timestamp = end &- past.timestamp
  }
}
