internal import Calls
internal import Crypto
internal import Synchronization

/// How long devices take a ring's push to come to them, as far as it was seen lately. What is kept from a person who has blocked the other
/// looks as if it had taken as long: by its time what was never pushed is no different.
///
/// Bounded: rings of which no outcome comes are forgotten together, and of what was seen the last stay.
final class PushDelays: Sendable {
  private struct State {
    /// When rings began, in milliseconds since 1970.
    var begun: [CallUUID: Int64] = [:]
    var seen: [Int64] = []
    /// Where the next one is put, once there are as many as are remembered.
    var place = 0
  }

  private static let mostBegun = 4_096
  private static let mostSeen = 64
  /// As long as a ring may be.
  private static let longest: Int64 = 30_000
  /// Before any was seen.
  private static let usual: ClosedRange<Int64> = 80...900

  private let state = Mutex(State())

  func begin(_ ring: CallUUID, at moment: Int64) {
    state.withLock { state in
      if state.begun.count >= Self.mostBegun { state.begun = [:] }
      state.begun[ring] = moment
    }
  }

  /// That a device has taken a ring is known from now on.
  func note(_ ring: CallUUID, at moment: Int64) {
    state.withLock { state in
      guard let begun = state.begun[ring] else { return }
      let delay = min(max(moment - begun, 0), Self.longest)
      if state.seen.count < Self.mostSeen {
        state.seen.append(delay)
      } else {
        state.seen[state.place] = delay
        state.place = (state.place + 1) % Self.mostSeen
      }
    }
  }

  /// One that others have taken, in milliseconds: the same ring of the same device takes the same one of them.
  func draw(_ ring: CallUUID, _ device: DeviceID) -> Int64 {
    let digest = SHA256.digest(Array("\(ring.text) \(device.text)".utf8))
    var number: UInt64 = 0
    for byte in digest.prefix(8) { number = number << 8 | UInt64(byte) }
    let seen = state.withLock { $0.seen }
    guard !seen.isEmpty else {
      let span = UInt64(Self.usual.upperBound - Self.usual.lowerBound + 1)
      return Self.usual.lowerBound + Int64(number % span)
    }
    return seen[Int(number % UInt64(seen.count))]
  }
}
