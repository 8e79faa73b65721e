public import Model

extension SlotMemory {
  /// The target would have room by now, but what was too much a moment ago isn't tried again yet.
  public func isHeld(_ target: Double, now: Instant) -> Bool {
    !mayRise(target, now: now) || isWithheld(target, now: now)
  }
}
