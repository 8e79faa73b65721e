internal import CallDesk
internal import Calls
internal import Synchronization

/// What became of calls since the start.
struct CallCounts: Sendable {
  var started: UInt64 = 0
  var answered: UInt64 = 0
  var ended: [CallOutcome: UInt64] = [:]
  var rings: UInt64 = 0
  var ringsEnded: [RingEnd: UInt64] = [:]
  /// Those that aren't over.
  var open = 0

  mutating func note(_ aftermath: borrowing Aftermath) {
    for step in aftermath.steps {
      switch step.kind {
      case .started:
        started &+= 1
        open += 1
      case .answered: answered &+= 1
      case .ended:
        ended[step.call.end?.outcome ?? .failed, default: 0] &+= 1
        open -= 1
      case .sessionStarted, .sessionEnded: break
      }
    }
    rings &+= UInt64(aftermath.rings.count)
    for end in aftermath.ringsEnded { ringsEnded[end.reason, default: 0] &+= 1 }
  }
}
