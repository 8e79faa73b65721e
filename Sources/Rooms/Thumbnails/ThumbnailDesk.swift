internal import Model
internal import Synchronization

/// Thumbnails that are being taken, of all rooms together: each has a ring of 1 MiB until its key frame has come.
final class ThumbnailDesk: Sendable {
  /// That are taken at the same time.
  static let atOnce = 16
  /// Of one room: a room whose tracks bring no key frame has each wait, and takes no other room's.
  static let atOnceOfRoom = 4
  /// Of one who asks: one who runs many rooms of which no key frame comes takes no one else's.
  static let atOnceOfTaker = 4

  /// What one who asks may take of what all do.
  private struct Taken: Refilling {
    var requests = RateLimit(rate: 4, burst: 16)

    var fullAt: Instant { requests.full }
  }

  private struct State {
    /// By the number of their room, without those that have none.
    var underWay: [UInt64: Int] = [:]
    /// By who asks, without those that have none.
    var ofTaker: [Int: Int] = [:]
    var requests = RateLimit(rate: 32, burst: 64)
    var byTaker = AllowanceTable<Int, Taken>(capacity: 1_024)
  }

  private let state = Mutex(State())

  /// Asked first of all: one who asks too often spends what is its own, and nothing of what a room or the server gives to all.
  /// - Parameter taker: stands for who asks.
  func mayAsk(_ taker: Int, now: Instant) -> Bool {
    state.withLock { state in state.byTaker.use(taker, now: now) { $0.requests.take(now: now) } }
  }

  /// - Parameter taker: stands for who asks, and may.
  /// - Returns: false where too much is under way, or was asked for; else `end` follows.
  func begin(of room: UInt64, for taker: Int, now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      let most = PlantedDefect.isOn(.thumbnailsOfOne) ? Self.atOnce : Self.atOnceOfRoom
    #else
      let most = Self.atOnceOfRoom
    #endif
    return state.withLock { state in
      let (own, all) = (state.underWay[room] ?? 0, state.underWay.values.reduce(0, +))
      let ofTaker = state.ofTaker[taker] ?? 0
      guard own < most, all < Self.atOnce, ofTaker < Self.atOnceOfTaker, state.requests.take(now: now) else {
        return false
      }
      state.underWay[room] = own + 1
      state.ofTaker[taker] = ofTaker + 1
      return true
    }
  }

  func end(of room: UInt64, for taker: Int) {
    state.withLock { state in
      let (own, ofTaker) = (state.underWay[room] ?? 1, state.ofTaker[taker] ?? 1)
      state.underWay[room] = own > 1 ? own - 1 : nil
      state.ofTaker[taker] = ofTaker > 1 ? ofTaker - 1 : nil
    }
  }
}
