internal import Model

/// What waits to leave in a slot, where not all of it can. Mutating for speed alone: what only reads is handed a copy of the whole session.
extension MediaSession {
  /// What of a packet is to be known while it waits.
  public mutating func waiting(_ info: PacketInfo, slot: Int) -> WaitingFrame {
    slots.pointer(slot).pointee.forwarder.waiting(info)
  }

  /// Whether a picture can be taken out of what waits as if its source hadn't sent it.
  /// - Parameter walk: the one that has come to it.
  public mutating func isFree(_ picture: CutPicture, slot: Int, in walk: StreamThinning) -> Bool {
    slots.pointer(slot).pointee.forwarder.isFree(picture, in: walk)
  }

  /// How a slot's stream goes on without a picture of which something can't leave.
  /// - Returns: the walk through what waits that takes it out; nil where the stream goes on with a key frame alone.
  public mutating func thinning(without picture: CutPicture, slot: Int) -> StreamThinning? {
    slots.pointer(slot).pointee.forwarder.thinning(without: picture)
  }

  /// A walk that takes out what no other refers to.
  public mutating func shedding(slot: Int) -> StreamThinning {
    StreamThinning(join: slots.pointer(slot).pointee.forwarder.leftOut.closed.join)
  }

  /// The slot's source is joined to its stream: where, has left or waits.
  public mutating func isJoined(slot: Int) -> Bool { slots.pointer(slot).pointee.forwarder.isJoined }

  /// A packet that waits is taken out: its place closes, and what waits behind it moves up.
  /// - Parameter sequence: the source's number.
  public mutating func takeOut(
    _ frame: WaitingFrame, _ selection: Selection, sequence: Int64, slot: Int, _ walk: inout StreamThinning
  ) {
    slots.pointer(slot).pointee.forwarder.takeOut(frame, selection, sequence: sequence, &walk)
  }

  /// Whether nothing that is yet to come of a picture, were it taken out, would be taken for something else.
  public mutating func canGo(_ picture: CutPicture, slot: Int) -> Bool {
    slots.pointer(slot).pointee.forwarder.canGo(picture)
  }

  /// The selection of a packet that stays behind what a walk has taken out.
  /// - Returns: nil for one that has to go as well, since it isn't known where it belongs.
  public mutating func movedUp(
    _ selection: Selection, sequence: Int64, slot: Int, _ walk: StreamThinning
  ) -> Selection? {
    slots.pointer(slot).pointee.forwarder.movedUp(selection, sequence: sequence, walk)
  }

  /// A walk has come to the end of what waits: what is missing there is missing in what comes.
  public mutating func finish(_ walk: StreamThinning, slot: Int) {
    slots.pointer(slot).pointee.forwarder.finish(walk)
  }
}
