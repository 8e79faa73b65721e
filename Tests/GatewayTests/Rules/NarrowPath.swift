import Model

/// A path that carries so much and no more: what comes waits, and is lost where it would wait for too long.
struct NarrowPath {
  private let rate: Double
  private let delay: Duration
  private let loses: Int?
  /// Packets of media that came.
  private var media = 0
  private var waiting: [(bytes: [UInt8], at: Instant)] = []
  private var freeAt = Instant(nanoseconds: 0)

  private static let longest = Duration.milliseconds(300)
  /// Of UDP and IP.
  private static let headers = 28

  /// - Parameters:
  ///   - rate: bits a second.
  ///   - delay: that all takes, however little comes.
  ///   - loses: of so many packets of media the last is lost; nil: none is.
  init(rate: Double, delay: Duration = .zero, loses: Int? = nil) {
    self.rate = rate
    self.delay = delay
    self.loses = loses
  }

  mutating func put(_ bytes: [UInt8], now: Instant) {
    if let loses, let first = bytes.first, (128...191).contains(first) {
      media += 1
      if media % loses == 0 { return }
    }
    let start = max(freeAt, now)
    guard start - now <= Self.longest else { return }
    freeAt = start.advanced(byNanoseconds: Int64(Double(bytes.count + Self.headers) * 8e9 / rate))
    waiting.append((bytes, freeAt + delay))
  }

  /// What has come through by now.
  mutating func take(now: Instant) -> [[UInt8]] {
    let count = waiting.firstIndex { $0.at > now } ?? waiting.count
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map(\.bytes)
  }
}
