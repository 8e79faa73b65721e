internal import Model
internal import Peer
internal import Polling

/// What subscribers lose of a track of audio, so that its publisher protects it (in-band FEC, RFC 6716 §2.1.7).
extension WorkerCore {
  /// A subscriber's losses were measured: the tracks that it hears are looked at, each once a second however many hear it.
  mutating func measureLosses(_ place: Int, now: Instant) {
    for slot in 0..<feeds.slotCount(at: place) where peers.pointer(place).pointee.kind(ofSlot: slot) == .audio
    {
      guard let feed = feeds.feed(ofSlot: slot, at: place) else { continue }
      measureLossInTime(feed, now: now)
    }
  }

  /// Once a second at most.
  mutating func measureLossInTime(_ feed: Int, now: Instant) {
    guard feeds.pointer(feed).pointee.pace.mayMeasureLoss(at: now) else { return }
    measureLoss(feed, now: now)
  }

  private mutating func measureLoss(_ feed: Int, now: Instant) {
    let entry = feeds.pointer(feed)
    var worst = 0.0
    for position in 0..<entry.pointee.consumers.count {
      guard case .slot(let place, let slot) = entry.pointee.consumers[position] else { continue }
      worst = max(worst, peers.pointer(place).pointee.loss(ofSlot: slot, now: now))
    }
    let fraction = UInt8(clamping: Int(worst * 256))
    let track = entry.pointee.key
    switch entry.pointee.source {
    case .peer(let place):
      let all = max(fraction, entry.pointee.relayedLoss.fraction(now: now))
      peers.pointer(place).pointee.raiseLoss(receiver: Int(track.index), all, now: now)
    case .relay(let worker):
      guard fraction > 0, worker < exchange.count else { return }
      let message = TrackMessage.lost(track, fraction)
      if !exchange.mailboxes[worker].post(.track(message), force: false) {
        routing.counters.messagesDropped &+= 1
      }
    }
  }
}
