import Model

/// A path that carries so much and no more: what comes waits, and is lost where it would wait for too long.
struct NarrowPath {
  private let rate: Double
  private var waiting: [(bytes: [UInt8], at: Instant)] = []
  private var freeAt = Instant(nanoseconds: 0)

  private static let longest = Duration.milliseconds(300)
  /// Of UDP and IP.
  private static let headers = 28

  /// - Parameter rate: bits a second.
  init(rate: Double) { self.rate = rate }

  mutating func put(_ bytes: [UInt8], now: Instant) {
    let start = max(freeAt, now)
    guard start - now <= Self.longest else { return }
    freeAt = start.advanced(byNanoseconds: Int64(Double(bytes.count + Self.headers) * 8e9 / rate))
    waiting.append((bytes, freeAt))
  }

  /// What has come through by now.
  mutating func take(now: Instant) -> [[UInt8]] {
    let count = waiting.firstIndex { $0.at > now } ?? waiting.count
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map(\.bytes)
  }
}
