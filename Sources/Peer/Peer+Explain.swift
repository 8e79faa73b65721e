public import Media

/// What is asked of a slot to explain what its subscriber gets.
extension Peer {
  /// What its subscriber's reports say of the slot's stream, and what was sent in it.
  public func reports(ofSlot slot: Int) -> ForwarderReports { session.reports(ofSlot: slot) }
  /// Nothing of its source leaves.
  public func isPaused(slot: Int) -> Bool { session.isPaused(slot: slot) }
  /// Up to which layers of its encoding it shows; 255: all that there are.
  public func shownLayers(ofSlot slot: Int) -> (spatial: UInt8, temporal: UInt8) {
    session.shownLayers(ofSlot: slot)
  }
}
