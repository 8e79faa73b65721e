import Congestion
import Engine
import Model
import Synchronization

/// A media plane that forwards nothing and has an answer to everything that is asked of it.
final class CostMedia: Sendable {
  private let shown = Mutex<[PeerKey: [UInt16: TrackKey]]>([:])

  func note(_ command: Command) {
    switch command {
    case .assign(let peer, let slot, let track): shown.withLock { $0[peer, default: [:]][slot] = track }
    case .close(let peer): shown.withLock { $0[peer] = nil }
    default: break
    }
  }

  /// All that there could be to say, of every slot.
  func answer(_ question: MediaQuestion) -> WorkerExplanation {
    let now = Instant(nanoseconds: 1_000_000_000)
    var answer = WorkerExplanation()
    for key in question.peers {
      var peer = PeerExplanation(peer: key, roundTrip: .milliseconds(23))
      peer.takesMedia = true
      (peer.target, peer.acknowledged, peer.next, peer.loss) = (1_234_567, 987_654, 2_345_678, 0.0123)
      (peer.allotted, peer.wanted) = (1_111_111, 9_999_999)
      peer.probe = ProbeReport(rate: 2_222_222, startedAt: now, isOpen: false)
      for (slot, track) in shown.withLock({ $0[key] ?? [:] }) {
        var found = SlotExplanation(slot: slot, track: track)
        let option = LayerOption(
          encoding: 1, temporal: 1, width: 640, height: 360, frameRate: 30, rate: 321_000, peak: 400_000)
        (found.sent, found.best, found.reason) = (option, option, .bandwidth)
        (found.bitrate, found.loss, found.roundTrip) = (321_321, 0.0123, .milliseconds(23))
        peer.slots.append(found)
      }
      answer.peers.append(peer)
    }
    for track in question.tracks {
      let asker = KeyFrameRequest.Asker.subscriber(question.peers.first ?? track.peer)
      answer.feeds.append(
        FeedExplanation(track: track, keyFrame: now, request: KeyFrameRequest(at: now, asker: asker)))
    }
    return answer
  }
}
