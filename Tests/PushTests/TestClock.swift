import Foundation
import Logging
import Model
import Push
import Synchronization
import Testing

/// Clocks that go as they do, and may be put forward.
final class TestClock: Sendable {
  private let start = ContinuousClock.now
  private let ahead = Mutex(Duration.zero)

  /// - Parameter span: on both clocks.
  func advance(by span: Duration) { ahead.withLock { $0 += span } }

  /// Milliseconds since 1970.
  var wall: Int64 {
    let ahead = ahead.withLock { $0 }
    return Int64(Date().timeIntervalSince1970 * 1_000) + ahead.wholeNanoseconds / 1_000_000
  }

  var clocks: PushClocks {
    PushClocks(
      wall: { WallTime(milliseconds: self.wall) },
      instant: {
        Instant(nanoseconds: 1_000_000_000) + (ContinuousClock.now - self.start)
          + self.ahead.withLock { $0 }
      })
  }
}

/// What became of pushes, in the order in which it was said.
final class Outcomes: Sendable {
  struct Late: Error, CustomStringConvertible { let description: String }

  private let said = Mutex<[PushOutcome]>([])

  var all: [PushOutcome] { said.withLock { $0 } }
  var take: @Sendable (PushOutcome) -> Void { { outcome in self.said.withLock { $0.append(outcome) } } }

  /// Returns once there are so many.
  func wait(for count: Int, seconds: Int = 20) async throws -> [PushOutcome] {
    for _ in 0..<seconds * 100 where all.count < count { try await Task.sleep(for: .milliseconds(10)) }
    let all = all
    guard all.count >= count else { throw Late(description: "\(all.count) outcomes in place of \(count)") }
    return all
  }

  /// Whether a device may have its ring, as far as was said.
  func mayHave(_ device: PushDevice) -> Bool {
    !all.contains { $0.isRing && $0.device == device && !$0.mayHaveArrived }
  }

  func of(_ device: Int) -> PushOutcome? { all.first { $0.device.id == "device-\(device)" } }
}

/// What the operator's log says.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  var log: Log { Log(level: .debug) { line in self.lines.withLock { $0.append(line) } } }
}
