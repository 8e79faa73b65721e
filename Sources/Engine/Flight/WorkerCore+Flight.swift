internal import Congestion
internal import Model
internal import Peer
internal import Polling

/// What flight recorders have, and what goes into them of what the worker decides.
extension WorkerCore {
  /// Gives what a peer's recorder has, from the worker that has the peer. What is copied is 512 KiB at most.
  func give(
    recordingOf key: PeerKey, to answer: @escaping @Sendable (FlightRecording?) -> Void, now: Instant
  ) {
    if let place = peers.find(key) { return answer(peers.pointer(place).pointee.recording(now: now)) }
    guard let owner = routing.owner(of: key), owner != index,
      exchange.mailboxes[owner].post(.recording(key, answer: answer), force: true)
    else { return answer(nil) }
  }

  /// What the recorder of a peer has that is about to end by itself; nil: no one keeps it.
  func recordingOfFailed(_ place: Int, _ reason: PeerCloseReason, now: Instant) -> FlightRecording? {
    guard reason.isFailure, peers.pointer(place).pointee.hasFlown, flights.take() else { return nil }
    return peers.pointer(place).pointee.recording(now: now)
  }

  /// Notes which layer a slot is to show, where that is another than before.
  mutating func record(
    _ allotted: Allocation.Slot, before: (shown: LayerOption?, isStarved: Bool), _ place: Int, now: Instant
  ) {
    let slot = allotted.slot
    if allotted.memory.isStarved != before.isStarved {
      note(before.isStarved ? .resumed(slot: slot) : .paused(slot: slot), place, now: now)
    }
    guard let option = allotted.option else { return }
    if let shown = before.shown,
      (shown.encoding, shown.spatial, shown.temporal) == (option.encoding, option.spatial, option.temporal)
    {
      return
    }
    note(
      .layer(
        slot: slot, encoding: option.encoding, spatial: option.spatial, temporal: option.temporal,
        rate: option.rate), place, now: now)
  }

  mutating func note(_ decision: FlightDecision, _ place: Int, now: Instant) {
    peers.pointer(place).pointee.note(decision, now: now, context: &context)
  }
}
