internal import Model

/// What is asked of a slot to explain what its subscriber gets.
extension MediaSession {
  /// What its subscriber's reports say of the slot's stream, and what was sent in it.
  public func reports(ofSlot slot: Int) -> ForwarderReports { slots.pointer(slot).pointee.forwarder.reports }

  /// Nothing of its source leaves.
  public func isPaused(slot: Int) -> Bool { slots.pointer(slot).pointee.forwarder.encodings.isPaused }

  /// Up to which layers of its encoding it shows; 255: all that there are.
  public func shownLayers(ofSlot slot: Int) -> (spatial: UInt8, temporal: UInt8) {
    let filter = slots.pointer(slot).pointee.forwarder.leftOut.filter
    return (filter.spatial, filter.temporal)
  }
}
